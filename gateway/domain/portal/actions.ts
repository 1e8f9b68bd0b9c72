import { GatewayError, isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  type NotFound,
  notFound,
  toInputIssues,
  toRefusal,
  type UserError,
  userNeeded,
  withReason,
} from '../../graph/user-error.ts';
import { toNewest } from '../order/read/actions.ts';
import { getOrder } from '../order/read/rest.ts';
import { getUser } from '../user/rest.ts';
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
 * @param wanted has no user if the request of a gateway key names none
 * @throws GatewayError FORBIDDEN, PORTAL_URL_REFUSED, UPSTREAM_*
 */
export async function requestPortalUrl(
  context: GraphContext,
  { userId, ...wanted }: Omit<PortalUrlRequest, 'userId'> & { readonly userId: string | null },
): Promise<CreatePortalUrlResult> {
  const { service } = context;
  // Such a link outlives every token and cannot be revoked.
  if (wanted.context === 'communications') service.rights.require('gateway-key');
  if (userId === null) return userNeeded();
  const request = { userId, ...wanted };
  if (!(await mayLaunch(context, request))) return notFound('user or order');
  try {
    const portalUrl = await createPortalUrl(service, request, context.portalOrigins);
    return portalUrl === null ? notFound('user or order') : { kind: 'PortalUrl', ...portalUrl };
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal.kind === 'FeatureNotEnabled') return refusal;
    return describeRejection(error, await findMissingDemographics(context, userId));
  }
}

/** A browser may launch only into its own user and that user's orders; the service decides for the team. */
async function mayLaunch(
  context: GraphContext,
  { userId, orderId }: Pick<PortalUrlRequest, 'userId' | 'orderId'>,
): Promise<boolean> {
  const { service } = context;
  if (service.rights.userId === null) return true;
  if (!service.rights.owns({ userId, orderId }, 'write portal.create-url')) return false;
  if (orderId === null) return true;
  const order = await getOrder(service, orderId, 'launch:portal');
  return order !== null && (await toNewest(context, order))?.userId.toLowerCase() === userId;
}

/** The service gives its reason in no fixed shape, so the demographics are read. */
async function findMissingDemographics({ service }: GraphContext, userId: string): Promise<boolean | null> {
  try {
    return (await getDemographics(service, userId, 'launch:portal')) === null;
  } catch {
    return null;
  }
}

/** @param error the service's refusal; null where the service was not asked */
function describeRejection(error: unknown, demographicsMissing: boolean | null): PortalUrlRejected {
  const message = demographicsMissing
    ? 'The portal needs demographics for this user, and none are set.'
    : 'The service refused to create a portal link.';
  return {
    kind: 'PortalUrlRejected',
    code: demographicsMissing ? 'DEMOGRAPHICS_MISSING' : 'PORTAL_URL_REJECTED',
    message: withReason(message, error),
    demographicsMissing,
    issues: isGatewayError(error) ? toInputIssues(error.issues) : [],
  };
}

export interface LaunchTicket {
  readonly kind: 'LaunchTicket';
  readonly ticket: string;
  readonly expiresAt: Date;
}

export type CreateLaunchTicketResult = LaunchTicket | PortalUrlRejected | NotFound | InputRejected;

export interface LaunchRequest {
  readonly userId: string | null;
  readonly orderId: string | null;
}

/**
 * Makes a ticket for one launch by the requesting page. A launch that is known to be refused is refused here, where the
 * page can still show the reason. The portal link is requested when the ticket is redeemed.
 * @throws GatewayError FORBIDDEN, also for a request without an origin; UPSTREAM_*
 */
export async function requestLaunchTicket(
  context: GraphContext,
  { userId, orderId }: LaunchRequest,
): Promise<CreateLaunchTicketResult> {
  const { caller, origin, launchTickets } = context;
  // Pages without an origin of their own send `null`: a ticket bound to it would be bound to nothing.
  if (origin === null || origin === 'null') {
    throw new GatewayError('FORBIDDEN', 'A launch ticket is for a page: the request must say its Origin.');
  }
  if (userId === null) return userNeeded();
  if (!(await mayLaunch(context, { userId, orderId }))) return notFound('user or order');
  const refusal = await findRefusal(context, userId);
  if (refusal !== null) return refusal;
  const issued = await launchTickets.issue({ caller, userId, orderId, origin });
  return { kind: 'LaunchTicket', ...issued };
}

/** The portal needs demographics. A launch without them is refused before a tab opens. */
async function findRefusal(
  { service }: GraphContext,
  userId: string,
): Promise<PortalUrlRejected | NotFound | null> {
  try {
    if ((await getDemographics(service, userId, 'launch:portal')) !== null) return null;
    // The service answers the same for an unknown user. A user with a token is known.
    const isKnown = service.rights.userId !== null || (await getUser(service, userId)) !== null;
    return isKnown ? describeRejection(null, true) : notFound('user or order');
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) return describeRejection(error, null);
    // Demographics that cannot be read are no reason to refuse the launch.
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN', 'UPSTREAM_UNREADABLE')) return null;
    throw error;
  }
}

/**
 * The portal link that a ticket was made for. It is requested and checked like any other, with the rights of the
 * ticket's caller. NotFound if a page of this origin has no such ticket, or no longer has it. Redeems the ticket.
 * @throws GatewayError FORBIDDEN, PORTAL_URL_REFUSED, UPSTREAM_*
 */
export async function redeemLaunchTicket(
  tickets: GraphContext['launchTickets'],
  { ticket, origin }: { readonly ticket: string; readonly origin: string },
  contextOf: (caller: GraphContext['caller']) => GraphContext,
): Promise<CreatePortalUrlResult> {
  const grant = await tickets.redeem(ticket);
  if (grant === null || grant.origin !== origin) return notFound('launch ticket');
  const { caller, userId, orderId } = grant;
  return await requestPortalUrl(contextOf(caller), { userId, orderId, context: 'launch' });
}
