import { isGatewayError } from '../../../errors.ts';
import type { GraphContext } from '../../../graph/context.ts';
import {
  type FeatureNotEnabled,
  featureNotEnabled,
  type InputRejected,
  inputRejected,
  type NotFound,
  notFound,
  toInputIssues,
  type UserError,
} from '../../../graph/user-error.ts';
import type { Service } from '../../../service/service.ts';
import { settleLost } from '../../settle.ts';
import { updateOrder } from '../place/rest.ts';
import { getOrder, type Order } from '../read/rest.ts';
import { readOrderStatus } from '../read/rest-status.ts';

export interface OrderUpdated {
  readonly kind: 'OrderUpdated';
  readonly order: Order;
}

export interface OrderUpdateRefused extends UserError {
  readonly kind: 'OrderUpdateRefused';
  readonly order: Order;
}

type UpdateOrderResult = OrderUpdated | OrderUpdateRefused | InputRejected | NotFound | FeatureNotEnabled;

/**
 * Sets the day of a scheduled order, or lets it go at once.
 * @param activateBy a day; null = at once; undefined = it was forgotten
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function requestUpdate(
  { service }: GraphContext,
  orderId: string,
  activateBy: string | null | undefined,
): Promise<UpdateOrderResult> {
  service.rights.require('write:orders');
  if (activateBy === undefined) {
    return inputRejected([
      { path: ['activateBy'], message: 'Give a day, or null to let the order go at once.' },
    ]);
  }
  const order = await getOrder(service, orderId);
  if (order === null) return notFound('order');
  try {
    const answer = await updateOrder(service, order, activateBy);
    return answer === null ? notFound('order') : { kind: 'OrderUpdated', order: answer.order };
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled();
    if (!isGatewayError(error, 'UPSTREAM_REJECTED')) {
      return await settleLost(error, () => findUpdated(service, order, activateBy));
    }
    if (error.issues.length > 0) return inputRejected(toInputIssues(error.issues, { order_id: 'id' }));
    const current = (await getOrder(service, orderId)) ?? order;
    return isScheduled(current) ? dayRefused() : updateRefused(current);
  }
}

/** The order as it was wanted; one that could not be changed is not taken for one that was. */
async function findUpdated(
  service: Service,
  before: Order,
  activateBy: string | null,
): Promise<OrderUpdated | null> {
  if (!isScheduled(before) && before.activateBy === activateBy) return null;
  const order = await getOrder(service, before.id);
  return order !== null && order.activateBy === activateBy ? { kind: 'OrderUpdated', order } : null;
}

/** Only an order that was placed for a day and still waits can be moved (public service). */
function isScheduled({ status, activateBy }: Order): boolean {
  const { step } = readOrderStatus(status);
  return activateBy !== null && (step === 'ORDERED' || step === 'AWAITING_REGISTRATION');
}

function dayRefused(): InputRejected {
  return inputRejected([
    { path: ['activateBy'], message: 'The service refused this day; is it over already?' },
  ]);
}

function updateRefused(order: Order): OrderUpdateRefused {
  const { label } = readOrderStatus(order.status);
  return {
    kind: 'OrderUpdateRefused',
    code: 'ORDER_UPDATE_REFUSED',
    message:
      order.activateBy === null
        ? `The order does not wait for a day; its status is "${label}".`
        : `An order with the status "${label}" can no longer be moved to another day.`,
    order,
  };
}
