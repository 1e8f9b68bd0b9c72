import { isGatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
import {
  type FeatureNotEnabled,
  type InputIssue,
  type InputRejected,
  type IssueCode,
  inputRejected,
  isRefusal,
  type NotFound,
  notFound,
  toRefusal,
  type UserError,
  withReason,
} from '../../../graph/user-error.ts';
import type { Service } from '../../../service/service.ts';
import { afterWrite, settleLost, withoutWrite } from '../../settle.ts';
import { getOrder } from '../read/rest.ts';
import type { Order } from '../read/rest-order.ts';
import { readOrderStatus } from '../read/rest-status.ts';
import {
  cancelOrder,
  type EventsToResend,
  resendEvents,
  type Simulation,
  simulateOrder,
  updateOrder,
} from './rest.ts';

/** A change was made. `kind` is the name of its type in the graph. */
export interface Changed<Kind extends string> {
  readonly kind: Kind;
  readonly order: Order;
}

/** The status of the order rules the change out. */
export interface Refused<Kind extends string> extends UserError<Kind> {
  readonly order: Order;
}

/**
 * Sets the day of a scheduled order, or activates it at once.
 * @param activateBy a day; null = at once; undefined = the input lacks it
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function requestUpdate(
  { service }: GraphContext,
  orderId: string,
  activateBy: string | null | undefined,
): Promise<
  Changed<'OrderUpdated'> | Refused<'OrderUpdateRefused'> | InputRejected | NotFound | FeatureNotEnabled
> {
  if (activateBy === undefined) {
    return rejectDay('Give a day, or null to let the order go at once.', 'REQUIRED');
  }
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const answer = await updateOrder(service, order, activateBy);
    return answer === null ? notFound('order') : { kind: 'OrderUpdated', order: answer.order };
  } catch (error) {
    if (!isRefusal(error)) return await settleLost(error, () => findUpdated(service, order, activateBy));
    const refusal = toRefusal(error, { order_id: 'id' });
    if (refusal.kind === 'FeatureNotEnabled' || refusal.issues.length > 0) return refusal;
    const current = (await withoutWrite(() => getOrder(service, orderId))) ?? order;
    return isScheduled(current)
      ? rejectDay(withReason('The service refused this day; is it over already?', error))
      : updateRefused(current, error);
  }
}

/** The order with the wanted day; null for one that could not be changed, whatever its day. */
async function findUpdated(
  service: Service,
  before: Order,
  activateBy: string | null,
): Promise<Changed<'OrderUpdated'> | null> {
  if (!isScheduled(before) && before.activateBy === activateBy) return null;
  const order = await getOrder(service, before.id);
  return order !== null && order.activateBy === activateBy ? { kind: 'OrderUpdated', order } : null;
}

/** Only an order that was placed for a day and still waits can be moved (public service). */
function isScheduled({ status, activateBy }: Order): boolean {
  const { step } = readOrderStatus(status);
  return activateBy !== null && (step === 'ORDERED' || step === 'AWAITING_REGISTRATION');
}

function rejectDay(message: string, code: IssueCode = 'INVALID'): InputRejected {
  return inputRejected([{ path: ['activateBy'], code, message }]);
}

function updateRefused(order: Order, error: unknown): Refused<'OrderUpdateRefused'> {
  const { label } = readOrderStatus(order.status);
  const message =
    order.activateBy === null
      ? `The order does not wait for a day; its status is "${label}".`
      : `An order with the status "${label}" can no longer be moved to another day.`;
  return {
    kind: 'OrderUpdateRefused',
    code: 'ORDER_UPDATE_REFUSED',
    message: withReason(message, error),
    order,
  };
}

/** Cancels an order that the caller may see. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function requestCancel(
  { service }: GraphContext,
  orderId: string,
): Promise<
  Changed<'OrderCancelled'> | Refused<'CancelRefused'> | InputRejected | NotFound | FeatureNotEnabled
> {
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const answer = await cancelOrder(service, order);
    return answer === null ? notFound('order') : { kind: 'OrderCancelled', order: answer.order };
  } catch (error) {
    if (!isRefusal(error)) return await settleLost(error, () => findCancelled(service, order));
    if (!isRefusalOfStatus(error)) return toRefusal(error, { order_id: 'id' });
    const current = (await withoutWrite(() => getOrder(service, orderId))) ?? order;
    const { label } = readOrderStatus(current.status);
    const message = withReason(`An order with the status "${label}" can no longer be cancelled.`, error);
    return { kind: 'CancelRefused', code: 'CANCEL_REFUSED', message, order: current };
  }
}

/** 400 is how the service refuses a transition (specification, Errors), 409 the usual status for it. */
function isRefusalOfStatus(error: unknown): boolean {
  return isGatewayError(error, 'UPSTREAM_REJECTED') && (error.status === 400 || error.status === 409);
}

async function findCancelled(service: Service, before: Order): Promise<Changed<'OrderCancelled'> | null> {
  const order = await getOrder(service, before.id);
  return order !== null && isCancelled(order) && !isCancelled(before)
    ? { kind: 'OrderCancelled', order }
    : null;
}

function isCancelled({ status }: Order): boolean {
  return readOrderStatus(status).stage === 'CANCELLED';
}

const simulationNotEnabled: FeatureNotEnabled = {
  kind: 'FeatureNotEnabled',
  code: 'FEATURE_NOT_ENABLED',
  message: 'Orders are simulated in sandbox deployments only, and this service is a production deployment.',
};

/** Moves an order along its life; no call is made to a production deployment. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function requestSimulation(
  { service, isProductionService }: GraphContext,
  orderId: string,
  simulation: Simulation,
): Promise<Changed<'OrderSimulated'> | InputRejected | NotFound | FeatureNotEnabled> {
  if (isProductionService) return simulationNotEnabled;
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    if ((await simulateOrder(service, order, simulation)) === null) return notFound('order');
  } catch (error) {
    if (!isRefusal(error)) {
      // With a delay the order has not moved yet, so a read shows nothing.
      if (simulation.delaySeconds) throw error;
      return await settleLost(error, () => findMoved(service, order));
    }
    const refusal = toRefusal(error, { order_id: 'id', delay: 'delaySeconds' });
    const hasReason = refusal.kind === 'FeatureNotEnabled' || refusal.issues.length > 0;
    return hasReason ? refusal : rejectFinalStatus(order, error);
  }
  const current = await afterWrite(() => getOrder(service, orderId));
  return current === null ? notFound('order') : { kind: 'OrderSimulated', order: current };
}

/** The order, when it has a new event since it was read. */
async function findMoved(service: Service, before: Order): Promise<Changed<'OrderSimulated'> | null> {
  const order = await getOrder(service, before.id);
  const hasMoved = order !== null && order.events.at(-1)?.id !== before.events.at(-1)?.id;
  return hasMoved ? { kind: 'OrderSimulated', order } : null;
}

function rejectFinalStatus(order: Order, error: unknown): InputRejected {
  const { label } = readOrderStatus(order.status);
  const message = withReason(`An order with the status "${label}" cannot go there.`, error);
  return inputRejected([{ path: ['finalStatus'], message }]);
}

export interface OrderEventsResent {
  readonly kind: 'OrderEventsResent';
  readonly orderIds: readonly string[];
}

/** Has the service send webhooks again. @throws GatewayError FORBIDDEN for viewer tokens, UPSTREAM_* */
export async function requestResend(
  { service }: GraphContext,
  events: EventsToResend,
): Promise<OrderEventsResent | InputRejected | NotFound | FeatureNotEnabled> {
  const issues = findWindowIssues(events);
  if (issues.length > 0) return inputRejected(issues);
  try {
    const orderIds = await resendEvents(service, events);
    return orderIds === null ? notFound('order') : { kind: 'OrderEventsResent', orderIds };
  } catch (error) {
    return toRefusal(error);
  }
}

/** The longest window the service replays (public service). */
const longestWindowMs = 60 * 24 * 60 * 60 * 1000;

function findWindowIssues({ orderIds, startAt, endAt }: EventsToResend): readonly InputIssue[] {
  if (orderIds?.length === 0 || (orderIds === null && startAt === null)) {
    const message = 'Name at least one order, or leave this out and give the start of a window.';
    return [{ path: ['orderIds'], code: 'REQUIRED', message }];
  }
  if (startAt === null) {
    return endAt === null
      ? []
      : [{ path: ['startAt'], code: 'REQUIRED', message: 'A window with an end needs a start.' }];
  }
  const lengthMs = (endAt ?? new Date()).getTime() - startAt.getTime();
  if (lengthMs >= 0 && lengthMs <= longestWindowMs) return [];
  return [{ path: ['startAt'], message: 'The window must be from 0 to 60 days long.' }];
}
