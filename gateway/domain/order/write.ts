import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import { text } from '../reading.ts';
import { writePassthrough } from './passthrough.ts';
import { listOrderRows, maxOrderPage, type Order, orderShape } from './rest.ts';

/** What the service answers to a write about an order. */
export interface OrderAnswer {
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
}

const answerShape = z
  .object({ order: orderShape, status: text, message: text })
  .transform(
    (raw): OrderAnswer => ({ order: raw.order, serviceStatus: raw.status, serviceMessage: raw.message }),
  );

/** Reads what the service (or a stored reply) answered to a write about an order. */
export function readOrderAnswer(json: unknown): OrderAnswer {
  return answerShape.parse(json);
}

export interface NewTestkitOrder {
  readonly userId: string;
  readonly labTestId: string;
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
 * @param reference names the attempt, see passthrough.ts
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
    reader: (json) => {
      readOrderAnswer(json);
      return json;
    },
    scope: 'write:orders',
    about: { userId: order.userId },
  });
}

/** How many pages of the user's orders are looked through for a lost one: the newest come first. */
const maxSearchPages = 5;
/** How far the service's clock may be behind ours. */
const clockSkewMs = 120_000;

export interface LostAttempt {
  readonly reference: string;
  /** When it began. */
  readonly since: Date;
}

/**
 * What the service would have answered to an attempt whose answer was lost, found by listing the user's
 * orders; null when the attempt made none. An order is the attempt's when it carries its reference; where the
 * service does not echo one (the specification does not promise it), when it was placed since then with the
 * same lab test and address.
 */
export async function findOrderAnswer(
  service: Service,
  asked: NewTestkitOrder,
  attempt: LostAttempt,
): Promise<unknown> {
  for (let page = 1; page <= maxSearchPages; page += 1) {
    const { rows } = await listOrderRows(service, { userId: asked.userId }, { page, size: maxOrderPage });
    const found = rows.find((row) => row !== null && isOrderOf(row.order, asked, attempt));
    if (found) return { order: found.json, status: null, message: null };
    if (rows.length < maxOrderPage) return null;
  }
  return null;
}

function isOrderOf(order: Order, asked: NewTestkitOrder, { reference, since }: LostAttempt): boolean {
  if (order.reference !== null) return order.reference === reference;
  const placedAt = order.createdAt ?? order.events[0]?.createdAt ?? null;
  const address = order.shippingAddress;
  return (
    placedAt !== null &&
    placedAt.getTime() >= since.getTime() - clockSkewMs &&
    (order.labTest?.id ?? asked.labTestId).toLowerCase() === asked.labTestId &&
    address?.receiverName === asked.shipping.receiverName &&
    address.firstLine === asked.shipping.firstLine &&
    address.zip === asked.shipping.zip
  );
}

/** Cancels an order (`POST /v3/order/{order_id}/cancel`); null when there is none. */
export function cancelOrder(service: Service, order: Order): Promise<OrderAnswer | null> {
  return service.write({
    operation: 'order.cancel',
    method: 'POST',
    path: `/v3/order/${encodeURIComponent(order.id)}/cancel`,
    reader: readOrderAnswer,
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
    reader: () => true as const,
    scope: 'simulate:orders',
    about: { userId: order.userId, orderId: order.id },
  });
}
