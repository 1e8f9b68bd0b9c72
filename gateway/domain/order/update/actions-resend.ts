import { isGatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
import {
  type FeatureNotEnabled,
  featureNotEnabled,
  type InputIssue,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
  toInputIssues,
} from '../../../graph/user-error.ts';
import { type EventsToResend, resendEvents } from '../place/rest.ts';

export interface OrderEventsResent {
  readonly kind: 'OrderEventsResent';
  readonly orderIds: readonly string[];
}

/** The longest window the service replays (public service). */
const longestWindowMs = 60 * 24 * 60 * 60 * 1000;

/** Has the service send webhooks again. @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_* */
export async function requestResend(
  { service }: GraphContext,
  wanted: EventsToResend,
): Promise<OrderEventsResent | InputRejected | NotFound | FeatureNotEnabled> {
  service.rights.require('gateway-key');
  const issues = findIssues(wanted);
  if (issues.length > 0) return inputRejected(issues);
  try {
    const orderIds = await resendEvents(service, wanted);
    return orderIds === null ? notFound('order') : { kind: 'OrderEventsResent', orderIds };
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) return inputRejected(toInputIssues(error.issues));
    throw error;
  }
}

function findIssues({ orderIds, startAt, endAt }: EventsToResend): readonly InputIssue[] {
  if (startAt === null) {
    if (orderIds === null || orderIds.length === 0) {
      return [{ path: ['orderIds'], message: 'Name orders, or give the start of a window.' }];
    }
    return endAt === null ? [] : [{ path: ['startAt'], message: 'A window with an end needs a start.' }];
  }
  const lengthMs = (endAt ?? new Date()).getTime() - startAt.getTime();
  if (lengthMs >= 0 && lengthMs <= longestWindowMs) return [];
  return [{ path: ['startAt'], message: 'The window must be from 0 to 60 days long.' }];
}
