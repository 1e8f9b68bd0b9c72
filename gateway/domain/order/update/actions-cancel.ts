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
  type UserError,
} from '../../../graph/user-error.ts';
import type { Service } from '../../../service/service.ts';
import { settleLost } from '../../settle.ts';
import { cancelOrder, type Simulation, simulateOrder } from '../place/rest.ts';
import { getOrder, type Order } from '../read/rest.ts';
import { readOrderStatus } from '../read/rest-status.ts';

export interface OrderCancelled {
  readonly kind: 'OrderCancelled';
  readonly order: Order;
}

export interface CancelRefused extends UserError {
  readonly kind: 'CancelRefused';
  readonly order: Order;
}

export interface OrderSimulated {
  readonly kind: 'OrderSimulated';
  readonly order: Order;
}

/** Cancels an order that the caller may see. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function requestCancel(
  { service }: GraphContext,
  orderId: string,
): Promise<OrderCancelled | CancelRefused | NotFound> {
  service.rights.require('write:orders');
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const answer = await cancelOrder(service, order);
    return answer === null ? notFound('order') : { kind: 'OrderCancelled', order: answer.order };
  } catch (error) {
    if (!isRefusalOfStatus(error)) return await settleLost(error, () => findCancelled(service, order));
    const current = (await getOrder(service, orderId)) ?? order;
    return {
      kind: 'CancelRefused',
      code: 'CANCEL_REFUSED',
      message: `An order with the status "${readOrderStatus(current.status).label}" can no longer be cancelled.`,
      order: current,
    };
  }
}

/** 400 is how the service refuses a transition (specification, Errors), 409 the usual word for it. */
function isRefusalOfStatus(error: unknown): boolean {
  return isGatewayError(error, 'UPSTREAM_REJECTED') && (error.status === 400 || error.status === 409);
}

async function findCancelled(service: Service, before: Order): Promise<OrderCancelled | null> {
  const order = await getOrder(service, before.id);
  return order !== null && isCancelled(order) && !isCancelled(before)
    ? { kind: 'OrderCancelled', order }
    : null;
}

function isCancelled({ status }: Order): boolean {
  return readOrderStatus(status).stage === 'CANCELLED';
}

const simulationNames = { order_id: 'id', delay: 'delaySeconds' };

/** Moves an order along its life. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function requestSimulation(
  { service }: GraphContext,
  orderId: string,
  simulation: Simulation,
): Promise<OrderSimulated | InputRejected | NotFound | FeatureNotEnabled> {
  service.rights.require('simulate:orders');
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    if ((await simulateOrder(service, order, simulation)) === null) return notFound('order');
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
    if (!isGatewayError(error, 'UPSTREAM_REJECTED')) {
      // A slow walk has not begun yet, so no look can tell.
      if (simulation.delaySeconds) throw error;
      return await settleLost(error, () => findMoved(service, order));
    }
    return inputRejected(
      error.issues.length > 0 ? toInputIssues(error.issues, simulationNames) : [describeStandstill(order)],
    );
  }
  const current = await getOrder(service, orderId).catch((error: unknown) => {
    // It was done, whatever the read says of itself.
    throw isGatewayError(error) ? error.withOutcome(true) : error;
  });
  return current === null ? notFound('order') : { kind: 'OrderSimulated', order: current };
}

/** The order, when it has gone on since it was read. */
async function findMoved(service: Service, before: Order): Promise<OrderSimulated | null> {
  const order = await getOrder(service, before.id);
  const hasMoved = order !== null && order.events.at(-1)?.id !== before.events.at(-1)?.id;
  return hasMoved ? { kind: 'OrderSimulated', order } : null;
}

function describeStandstill(order: Order): InputIssue {
  const { label } = readOrderStatus(order.status);
  return { path: ['finalStatus'], message: `An order with the status "${label}" cannot go there.` };
}
