import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  userNeeded,
} from '../../graph/user-error.ts';
import { loadOrder } from '../order/read/graph.ts';
import { getDemographics } from '../user/rest-demographics.ts';
import { createPortalUrl, type PortalUrl, type PortalUrlRequest } from './rest.ts';

export interface PortalUrlCreated extends PortalUrl {
  readonly kind: 'PortalUrl';
}

export interface PortalUrlRejected extends UserError {
  readonly kind: 'PortalUrlRejected';
  readonly code: 'DEMOGRAPHICS_MISSING' | 'PORTAL_URL_REJECTED';
  /** True when a read shows none, false when it shows some, null when it could not be read. */
  readonly demographicsMissing: boolean | null;
  readonly issues: readonly InputIssue[];
}

export type CreatePortalUrlResult =
  | PortalUrlCreated
  | PortalUrlRejected
  | FeatureNotEnabled
  | NotFound
  | InputRejected;

/**
 * Asks the service for a portal link.
 * @param wanted without a user where a server of the team names none
 * @throws GatewayError FORBIDDEN, PORTAL_URL_REFUSED, UPSTREAM_*
 */
export async function requestPortalUrl(
  context: GraphContext,
  { userId, ...wanted }: Omit<PortalUrlRequest, 'userId'> & { readonly userId: string | null },
): Promise<CreatePortalUrlResult> {
  const { service } = context;
  service.rights.require('launch:portal');
  if (userId === null) return userNeeded();
  const request = { userId, ...wanted };
  if (!(await mayLaunch(context, request))) return notFound('user or order');
  try {
    const portalUrl = await createPortalUrl(service, request, context.portalOrigins);
    return portalUrl === null ? notFound('user or order') : { kind: 'PortalUrl', ...portalUrl };
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal.kind === 'FeatureNotEnabled') return refusal;
    return describeRejection(refusal.issues, await findMissingDemographics(context, userId));
  }
}

/** A browser may launch only into its own user and that user's orders; the service decides for the team. */
export async function mayLaunch(
  context: GraphContext,
  { userId, orderId }: Pick<PortalUrlRequest, 'userId' | 'orderId'>,
): Promise<boolean> {
  const { service } = context;
  if (service.rights.userId === null) return true;
  if (!service.rights.owns({ userId, orderId }, 'write portal.create-url')) return false;
  return orderId === null || (await loadOrder(context, orderId))?.userId.toLowerCase() === userId;
}

/** The service does not say in a fixed shape why it refused, so the demographics are looked at. */
async function findMissingDemographics({ service }: GraphContext, userId: string): Promise<boolean | null> {
  try {
    return (await getDemographics(service, userId, 'launch:portal')) === null;
  } catch {
    return null;
  }
}

/** Says which of the two it is, as far as that is known. */
export function describeRejection(
  issues: readonly InputIssue[],
  demographicsMissing: boolean | null,
): PortalUrlRejected {
  return {
    kind: 'PortalUrlRejected',
    code: demographicsMissing ? 'DEMOGRAPHICS_MISSING' : 'PORTAL_URL_REJECTED',
    message: demographicsMissing
      ? 'The portal needs demographics for this user, and none are set.'
      : 'The service refused to create a portal link.',
    demographicsMissing,
    issues,
  };
}
