import type { Owner } from '../../../auth/rights.ts';
import { GatewayError, isGatewayError } from '../../../errors.ts';
import type { Service } from '../../../service/service.ts';
import { id, readDone, record, required, requiredList, text } from '../../parse.ts';
import { listOrderRows, maxOrderPage, type Order, ownerOfOrder, parseOrder } from '../read/rest.ts';
import { writePassthrough } from '../read/rest-passthrough.ts';
import {
  type NewOrder,
  type OrderToImport,
  type Registration,
  toImportBody,
  toOrderBody,
  toRegistrationBody,
} from './rest-request.ts';

/** What the service answers to a write about an order. */
export interface OrderAnswer {
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
}

/** Reads what the service (or a stored reply) answered to a write about an order. @throws Unreadable for what is none */
export const readOrderAnswer = record(
  (raw): OrderAnswer => ({
    order: required(raw, 'order', parseOrder),
    serviceStatus: text(raw.status),
    serviceMessage: text(raw.message),
  }),
);

export interface NewTestkitOrder {
  readonly userId: string;
  readonly labTestId: string;
  /** Null leaves the choice to the service. */
  readonly labAccountId: string | null;
  readonly shipping: {
    readonly receiverName: string;
    readonly firstLine: string;
    readonly secondLine: string | null;
    readonly city: string;
    readonly state: string;
    readonly zip: string;
    readonly country: string;
    readonly phoneNumber: string;
  };
  readonly passthrough: string | null;
}

/**
 * Orders an unregistered testkit (`POST /v3/order/testkit`) and gives back the service's answer as sent. Sent
 * once: the service has no idempotency here, so a second POST would ship a second kit.
 * @param reference names the attempt, see rest-passthrough.ts
 */
export function createTestkitOrder(
  service: Service,
  order: NewTestkitOrder,
  reference: string,
): Promise<unknown> {
  const { shipping } = order;
  return service.write({
    operation: 'order.create-testkit',
    method: 'POST',
    path: '/v3/order/testkit',
    body: {
      user_id: order.userId,
      lab_test_id: order.labTestId,
      ...(order.labAccountId === null ? {} : { lab_account_id: order.labAccountId }),
      shipping_details: {
        receiver_name: shipping.receiverName,
        first_line: shipping.firstLine,
        ...(shipping.secondLine === null ? {} : { second_line: shipping.secondLine }),
        city: shipping.city,
        state: shipping.state,
        zip: shipping.zip,
        country: shipping.country,
        phone_number: shipping.phoneNumber,
      },
      passthrough: writePassthrough(reference, order.passthrough),
    },
    reader: readPlaced,
    owner: ownerOfPlaced,
    scope: 'write:orders',
    about: { userId: order.userId },
  });
}

/** The answer as sent, once it is known to be readable: what cannot be read is not kept as an answer. */
function readPlaced(json: unknown): unknown {
  readOrderAnswer(json);
  return json;
}

function ownerOfPlaced(json: unknown): Owner {
  return ownerOfOrder(readOrderAnswer(json).order);
}

/** How many pages of the user's orders are looked through for a lost one: the newest come first. */
const maxSearchPages = 5;

/**
 * What the service would have answered to an attempt whose answer was lost, found by listing the user's
 * orders; null when the attempt made none.
 */
export async function findOrderAnswer(
  service: Service,
  userId: string,
  isIt: (order: Order) => boolean,
): Promise<unknown> {
  for (let page = 1; page <= maxSearchPages; page += 1) {
    const { rows } = await listOrderRows(service, { userId }, { page, size: maxOrderPage });
    const found = rows.find((row) => row !== null && isIt(row.order));
    if (found) return { order: found.json, status: null, message: null };
    if (rows.length < maxOrderPage) return null;
  }
  return null;
}

/**
 * Places an order (`POST /v3/order`) and gives back the service's answer as sent. The attempt's reference is
 * also the service's idempotency key; only successes are to be replayed, or a passing fault would stay for a day.
 * @throws GatewayError IDEMPOTENCY_UNSETTLED while the service is still at work on the same key
 */
export async function createOrder(service: Service, order: NewOrder, reference: string): Promise<unknown> {
  try {
    return await service.write({
      operation: 'order.create',
      method: 'POST',
      path: '/v3/order',
      headers: { 'x-idempotency-key': reference, 'x-idempotency-error': 'no-cache' },
      body: toOrderBody(order, writePassthrough(reference, order.passthrough)),
      reader: readPlaced,
      owner: ownerOfPlaced,
      scope: 'write:orders',
      about: { userId: order.userId },
    });
  } catch (error) {
    if (!isGatewayError(error, 'UPSTREAM_REJECTED') || error.status !== 409) throw error;
    throw new GatewayError(
      'IDEMPOTENCY_UNSETTLED',
      'The service is still at work on an order with this idempotencyKey. Repeat the same call later.',
      { retryAfterMs: 5000, mayBeDone: true },
    );
  }
}

/** Imports an order (`POST /v3/order/import`) and gives back the service's answer as sent. */
export function importOrder(service: Service, order: OrderToImport): Promise<unknown> {
  return service.write({
    operation: 'order.import',
    method: 'POST',
    path: '/v3/order/import',
    body: toImportBody(order),
    reader: readPlaced,
    owner: ownerOfPlaced,
    scope: 'write:orders',
    about: { userId: order.userId },
  });
}

/** Registers a kit (`POST /v3/order/testkit/register`); null when there is no such kit or user. */
export function registerTestkit(service: Service, registration: Registration): Promise<OrderAnswer | null> {
  return service.write({
    operation: 'order.register-testkit',
    method: 'POST',
    path: '/v3/order/testkit/register',
    body: toRegistrationBody(registration),
    reader: readOrderAnswer,
    owner: ({ order }) => ownerOfOrder(order),
    scope: 'write:orders',
    about: { userId: registration.userId },
  });
}

/** Sets or takes away the day of a scheduled order (`PATCH /v3/order/{order_id}`); null when there is none. */
export function updateOrder(
  service: Service,
  order: Order,
  activateBy: string | null,
): Promise<OrderAnswer | null> {
  return service.write({
    operation: 'order.update',
    method: 'PATCH',
    path: `/v3/order/${encodeURIComponent(order.id)}`,
    body: { activate_by: activateBy },
    reader: readOrderAnswer,
    owner: ({ order }) => ownerOfOrder(order),
    scope: 'write:orders',
    about: { userId: order.userId, orderId: order.id },
  });
}

/** Which reports are wanted again: orders, a window of time, or both. */
export interface EventsToResend {
  readonly orderIds: readonly string[] | null;
  readonly startAt: Date | null;
  readonly endAt: Date | null;
}

const readIds = requiredList(id);
const readResent = record((raw) => required(raw, 'order_ids', readIds));

/** Has webhooks sent again (`POST /v3/order/resend_events`); the ids of the orders they are about. */
export function resendEvents(service: Service, wanted: EventsToResend): Promise<readonly string[] | null> {
  return service.write({
    operation: 'order.resend-events',
    method: 'POST',
    path: '/v3/order/resend_events',
    body: {
      ...(wanted.orderIds === null ? {} : { order_ids: wanted.orderIds }),
      ...(wanted.startAt === null ? {} : { start_at: wanted.startAt.toISOString() }),
      ...(wanted.endAt === null ? {} : { end_at: wanted.endAt.toISOString() }),
    },
    reader: readResent,
    owner: 'anyone',
    scope: 'write:orders',
    about: { userId: null },
  });
}

/** Cancels an order (`POST /v3/order/{order_id}/cancel`); null when there is none. */
export function cancelOrder(service: Service, order: Order): Promise<OrderAnswer | null> {
  return service.write({
    operation: 'order.cancel',
    method: 'POST',
    path: `/v3/order/${encodeURIComponent(order.id)}/cancel`,
    reader: readOrderAnswer,
    owner: ({ order }) => ownerOfOrder(order),
    scope: 'write:orders',
    about: { userId: order.userId, orderId: order.id },
  });
}

export interface Simulation {
  /** Where to walk to; null = one step with the embedded sandbox, the end of the path elsewhere. */
  readonly finalStatus: string | null;
  readonly delaySeconds: number | null;
}

/** Moves an order along its life (`POST /v3/order/{order_id}/test`); sandbox deployments only. */
export function simulateOrder(service: Service, order: Order, simulation: Simulation): Promise<true | null> {
  return service.write({
    operation: 'order.simulate',
    method: 'POST',
    path: `/v3/order/${encodeURIComponent(order.id)}/test`,
    query: { final_status: simulation.finalStatus, delay: simulation.delaySeconds },
    reader: readDone,
    owner: 'anyone',
    scope: 'simulate:orders',
    about: { userId: order.userId, orderId: order.id },
  });
}
