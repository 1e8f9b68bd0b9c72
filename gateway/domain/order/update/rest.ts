import type { Service } from '../../../service/service.ts';
import { id, readDone, record, required, requiredList } from '../../parse.ts';
import { toRequestBody } from '../../request-body.ts';
import { type Order, type OrderAnswer, ownerOfOrder, readOrderAnswer } from '../read/rest-order.ts';

function pathOf({ id: orderId }: Order): string {
  return `/v3/order/${encodeURIComponent(orderId)}`;
}

const answeredWithOrder = {
  reader: readOrderAnswer,
  owner: ({ order }: OrderAnswer) => ownerOfOrder(order),
  scope: 'write:orders',
} as const;

/** Sets or takes away the day of a scheduled order (`PATCH /v3/order/{order_id}`); null when there is none. */
export function updateOrder(
  service: Service,
  order: Order,
  activateBy: string | null,
): Promise<OrderAnswer | null> {
  return service.write({
    ...answeredWithOrder,
    operation: 'order.update',
    method: 'PATCH',
    path: pathOf(order),
    body: { activate_by: activateBy },
    about: { userId: order.userId, orderId: order.id },
  });
}

/** Cancels an order (`POST /v3/order/{order_id}/cancel`); null when there is none. */
export function cancelOrder(service: Service, order: Order): Promise<OrderAnswer | null> {
  return service.write({
    ...answeredWithOrder,
    operation: 'order.cancel',
    method: 'POST',
    path: `${pathOf(order)}/cancel`,
    about: { userId: order.userId, orderId: order.id },
  });
}

export interface Simulation {
  /** The last status to reach; null = one step with the embedded sandbox, the end of the path elsewhere. */
  readonly finalStatus: string | null;
  readonly delaySeconds: number | null;
  /** What its results are to be; what is left out is left to the service. */
  readonly results?: {
    readonly interpretation: string | null;
    readonly resultTypes: readonly string[] | null;
    readonly hasMissingResults: boolean | null;
  };
}

/** Moves an order along its life (`POST /v3/order/{order_id}/test`); sandbox deployments only. */
export function simulateOrder(service: Service, order: Order, simulation: Simulation): Promise<true | null> {
  const flags = toRequestBody(simulation.results ?? {});
  return service.write({
    operation: 'order.simulate',
    method: 'POST',
    path: `${pathOf(order)}/test`,
    query: { final_status: simulation.finalStatus, delay: simulation.delaySeconds },
    body: Object.keys(flags).length > 0 ? flags : undefined,
    reader: readDone,
    owner: 'anyone',
    scope: 'simulate:orders',
    about: { userId: order.userId, orderId: order.id },
  });
}

/** The webhooks to send again: those of some orders, of a window of time, or both. */
export interface EventsToResend {
  readonly orderIds: readonly string[] | null;
  readonly startAt: Date | null;
  readonly endAt: Date | null;
}

const readIds = requiredList(id);
const readResent = record((raw) => required(raw, 'order_ids', readIds));

/** Has webhooks sent again (`POST /v3/order/resend_events`); resolves to the ids of their orders. */
export function resendEvents(service: Service, events: EventsToResend): Promise<readonly string[] | null> {
  return service.write({
    operation: 'order.resend-events',
    method: 'POST',
    path: '/v3/order/resend_events',
    body: toRequestBody(events),
    reader: readResent,
    owner: 'anyone',
    scope: 'write:orders',
    about: { userId: null },
  });
}
