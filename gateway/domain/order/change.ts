import { isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
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
} from '../../graph/user-error.ts';
import type { Service } from '../../upstream/service.ts';
import { getOrder, type Order } from './rest.ts';
import { settleLost } from './settle.ts';
import { readOrderStatus } from './status.ts';
import { cancelOrder, type Simulation, simulateOrder } from './write.ts';

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
  service.require('write:orders');
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const answer = await cancelOrder(service, order);
    return answer === null ? notFound('order') : { kind: 'OrderCancelled', order: answer.order };
  } catch (error) {
    if (!isGatewayError(error, 'UPSTREAM_REJECTED')) {
      return await settleLost(error, () => findCancelled(service, orderId));
    }
    const current = (await getOrder(service, orderId)) ?? order;
    return {
      kind: 'CancelRefused',
      code: 'CANCEL_REFUSED',
      message: `An order with the status "${readOrderStatus(current.status).label}" can no longer be cancelled.`,
      order: current,
    };
  }
}

async function findCancelled(service: Service, orderId: string): Promise<OrderCancelled | null> {
  const order = await getOrder(service, orderId);
  if (order === null || readOrderStatus(order.status).stage !== 'CANCELLED') return null;
  return { kind: 'OrderCancelled', order };
}

/** Moves an order along its life. @throws GatewayError FORBIDDEN, UPSTREAM_* */
export async function requestSimulation(
  { service }: GraphContext,
  orderId: string,
  simulation: Simulation,
): Promise<OrderSimulated | InputRejected | NotFound | FeatureNotEnabled> {
  service.require('simulate:orders');
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const isDone = await simulateOrder(service, order, simulation);
    const current = isDone === null ? null : await getOrder(service, orderId);
    return current === null ? notFound('order') : { kind: 'OrderSimulated', order: current };
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) {
      return inputRejected(
        error.issues.length > 0 ? toInputIssues(error.issues) : [describeStandstill(order)],
      );
    }
    throw error;
  }
}

function describeStandstill(order: Order): InputIssue {
  const { label } = readOrderStatus(order.status);
  return { path: ['finalStatus'], message: `An order with the status "${label}" cannot go there.` };
}
