import { z } from 'zod';
import { emptyPage, keepRows, type Page, type Service, type Subject } from '../../upstream/service.ts';
import { labTestShape } from '../lab-test/rest.ts';
import type { PageRequest } from '../marker/rest.ts';
import { day, flag, id, link, list, optionalId, pageReader, text, timestamp } from '../reading.ts';
import { readPassthrough } from './passthrough.ts';

export type Order = z.infer<typeof orderShape>;
export type OrderEvent = z.infer<typeof orderEventShape>;
export type Shipment = NonNullable<Order['shipment']>;
export type OrderTransaction = NonNullable<Order['transaction']>;

/** The most orders one call returns (public service; `size` 1 to 100). */
export const maxOrderPage = 100;

const addressShape = z
  .object({
    receiver_name: text,
    first_line: text,
    second_line: text,
    city: text,
    state: text,
    zip: text,
    country: text,
    phone_number: text,
    access_notes: text,
  })
  .transform((raw) => ({
    receiverName: raw.receiver_name,
    firstLine: raw.first_line,
    secondLine: raw.second_line,
    city: raw.city,
    state: raw.state,
    zip: raw.zip,
    country: raw.country,
    phoneNumber: raw.phone_number,
    accessNotes: raw.access_notes,
  }))
  .nullable()
  .catch(null);

const orderEventShape = z
  .object({ id, created_at: timestamp, status: z.string(), status_detail: text })
  .transform((raw) => ({
    id: raw.id,
    createdAt: raw.created_at,
    status: raw.status,
    statusDetail: raw.status_detail,
  }));

const shipmentShape = z
  .object({
    outbound_courier: text,
    outbound_tracking_number: text,
    outbound_tracking_url: link,
    inbound_courier: text,
    inbound_tracking_number: text,
    inbound_tracking_url: link,
    notes: text,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .transform((raw) => ({
    outbound: {
      courier: raw.outbound_courier,
      trackingNumber: raw.outbound_tracking_number,
      trackingUrl: raw.outbound_tracking_url,
    },
    inbound: {
      courier: raw.inbound_courier,
      trackingNumber: raw.inbound_tracking_number,
      trackingUrl: raw.inbound_tracking_url,
    },
    notes: raw.notes,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }))
  .nullable()
  .catch(null);

const transactionShape = z
  .object({
    id,
    status: text,
    orders: list(
      z
        .object({
          id,
          origin: text,
          parent_id: optionalId,
          low_level_status: text,
          low_level_status_created_at: timestamp,
          created_at: timestamp,
          updated_at: timestamp,
        })
        .transform((raw) => ({
          id: raw.id,
          origin: raw.origin,
          parentId: raw.parent_id,
          step: raw.low_level_status,
          stepAt: raw.low_level_status_created_at,
          createdAt: raw.created_at,
          updatedAt: raw.updated_at,
        })),
    ),
  })
  .nullable()
  .catch(null);

const detailsShape = z
  .object({ type: text, data: z.object({ shipment: shipmentShape }).nullable().catch(null) })
  .nullable()
  .catch(null);

const patientShape = z
  .object({ first_name: text, last_name: text, dob: day, gender: text, phone_number: text, email: text })
  .transform((raw) => ({
    firstName: raw.first_name,
    lastName: raw.last_name,
    dob: raw.dob,
    gender: raw.gender,
    phoneNumber: raw.phone_number,
    email: raw.email,
  }))
  .nullable()
  .catch(null);

export const orderShape = z
  .object({
    id,
    team_id: optionalId,
    user_id: id,
    status: text,
    events: list(orderEventShape),
    last_event: orderEventShape.nullable().catch(null),
    lab_test: labTestShape.nullable().catch(null),
    details: detailsShape,
    patient_details: patientShape,
    patient_address: addressShape,
    shipping_details: addressShape,
    order_transaction: transactionShape,
    interpretation: text,
    origin: text,
    sample_id: text,
    notes: text,
    clinical_notes: text,
    activate_by: day,
    has_abn: flag,
    health_insurance_id: optionalId,
    health_insurace_id: optionalId,
    requisition_form_url: link,
    passthrough: text,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .transform((raw) => {
    const events = sortEvents(raw.events, raw.last_event);
    const lastEvent = events.at(-1) ?? null;
    return {
      id: raw.id,
      teamId: raw.team_id,
      userId: raw.user_id,
      status: lastEvent?.status ?? raw.status ?? '',
      events,
      lastEvent,
      labTest: raw.lab_test,
      method: raw.details?.type ?? raw.lab_test?.method ?? null,
      patient: raw.patient_details,
      patientAddress: raw.patient_address,
      shippingAddress: raw.shipping_details,
      shipment: raw.details?.data?.shipment ?? null,
      transaction: raw.order_transaction,
      interpretation: raw.interpretation,
      origin: raw.origin,
      sampleId: raw.sample_id,
      notes: raw.notes,
      clinicalNotes: raw.clinical_notes,
      activateBy: raw.activate_by,
      hasAbn: raw.has_abn,
      // One form of the order shape misspells the name (specification, Order object).
      healthInsuranceId: raw.health_insurance_id ?? raw.health_insurace_id,
      requisitionFormUrl: raw.requisition_form_url,
      ...readPassthrough(raw.passthrough),
      createdAt: raw.created_at,
      updatedAt: raw.updated_at,
    };
  });

/** Oldest first by id (ids grow over the whole service), with `last_event` in its place when the list lacks it. */
function sortEvents(events: readonly OrderEvent[], last: OrderEvent | null): readonly OrderEvent[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  if (last !== null && !byId.has(last.id)) byId.set(last.id, last);
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

const ownerOfOrder = (order: Order): Subject => ({
  userId: order.userId,
  orderId: order.id,
  teamId: order.teamId,
});

/** Which orders; every part is optional and all must match. */
export interface OrderFilter {
  readonly userId?: string | null | undefined;
  readonly orderIds?: readonly string[] | null | undefined;
  readonly interpretation?: string | null | undefined;
  readonly updatedAfter?: Date | null | undefined;
}

/** An order together with its JSON as sent. */
export interface OrderRow {
  readonly json: unknown;
  readonly order: Order;
}

const orderRowShape = z.unknown().transform((json, context): OrderRow => {
  const parsed = orderShape.safeParse(json);
  if (parsed.success) return { json, order: parsed.data };
  context.addIssue('This row is no order.');
  return z.NEVER;
});

const readOrderRows = pageReader('orders', orderRowShape);

/**
 * A page of orders, newest first (`GET /orders`). The specification promises no filter but `interpretation`, so
 * rows that the filter does not let through are left out here.
 */
export async function listOrders(
  service: Service,
  filter: OrderFilter,
  request: PageRequest,
): Promise<Page<Order>> {
  service.require('read:orders');
  const page = await listOrderRows(service, filter, request);
  return { ...page, rows: page.rows.map((row) => row?.order ?? null) };
}

/**
 * The same with the JSON as sent; for writes as well, which must find what they did. Whether the caller may read
 * orders is for the caller of this to ask: rows of others are left out in any case.
 */
export async function listOrderRows(
  service: Service,
  filter: OrderFilter,
  request: PageRequest,
): Promise<Page<OrderRow>> {
  const userId = filter.userId?.toLowerCase() ?? service.rights.userId;
  const orderIds = narrow(filter.orderIds ?? null, service.rights.orderIds);
  if (orderIds?.length === 0) return emptyPage;
  return await service.readPage({
    operation: 'order.list',
    method: 'GET',
    path: service.ordersPath,
    query: {
      user_id: userId,
      order_ids: orderIds,
      interpretation: filter.interpretation,
      updated_start_date: filter.updatedAfter?.toISOString(),
      page: request.page,
      size: request.size,
      order_key: 'created_at',
      order_direction: 'desc',
    },
    reader: (json) =>
      keepRows(readOrderRows(json), ({ order }) => fits(order, { ...filter, userId, orderIds })),
    scope: null,
    owner: ({ order }) => ownerOfOrder(order),
    ...(userId === null ? {} : { about: { userId } }),
  });
}

function fits(order: Order, filter: OrderFilter): boolean {
  const { userId, orderIds, updatedAfter, interpretation } = filter;
  return (
    (!userId || order.userId.toLowerCase() === userId) &&
    (!orderIds || orderIds.includes(order.id.toLowerCase())) &&
    (!updatedAfter || order.updatedAt === null || order.updatedAt >= updatedAfter) &&
    (!interpretation || order.interpretation === interpretation)
  );
}

const maxWalkedPages = 20;

/**
 * The newest orders of the filter, 100 of them where there are so many. Further pages are read only when the
 * service showed that it does not filter.
 */
export async function listNewestOrders(service: Service, filter: OrderFilter): Promise<readonly Order[]> {
  const orders: Order[] = [];
  for (let page = 1; page <= maxWalkedPages && orders.length < maxOrderPage; page += 1) {
    const { rows } = await listOrders(service, filter, { page, size: maxOrderPage });
    orders.push(...rows.filter((order) => order !== null));
    if (rows.length < maxOrderPage || !rows.includes(null)) break;
  }
  return orders.slice(0, maxOrderPage);
}

function narrow(
  asked: readonly string[] | null,
  allowed: readonly string[] | null,
): readonly string[] | null {
  if (asked === null || allowed === null) return asked ?? allowed;
  return asked.filter((orderId) => allowed.includes(orderId.toLowerCase()));
}

/** One order, or null (`GET /v3/order/{order_id}`). */
export function getOrder(service: Service, orderId: string): Promise<Order | null> {
  return service.readOne({
    operation: 'order.get',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(orderId)}`,
    reader: (json) => orderShape.parse(json),
    scope: 'read:orders',
    owner: ownerOfOrder,
  });
}

/** Orders by id, in the order of the ids, null where there is none: one call per 100 ids. */
export async function getOrders(
  service: Service,
  orderIds: readonly string[],
): Promise<readonly (Order | null)[]> {
  const [only] = orderIds;
  if (orderIds.length === 1 && only !== undefined) return [await getOrder(service, only)];
  const chunks = Array.from({ length: Math.ceil(orderIds.length / maxOrderPage) }, (_, index) =>
    orderIds.slice(index * maxOrderPage, (index + 1) * maxOrderPage),
  );
  const pages = await Promise.all(
    chunks.map((ids) => listOrders(service, { orderIds: ids }, { page: 1, size: maxOrderPage })),
  );
  const rows = pages.flatMap((page) => page.rows);
  const orders = rows.filter((order) => order !== null);
  const byId = new Map(orders.map((order) => [order.id.toLowerCase(), order]));
  // A hole is a row that was not asked for: this service does not filter by id, so the missing are asked singly.
  const find = (orderId: string) =>
    byId.get(orderId.toLowerCase()) ?? (rows.includes(null) ? getOrder(service, orderId) : null);
  return await Promise.all(orderIds.map(find));
}

/**
 * What an order webhook is a new version of: the order, at its highest event id. Null for other events and
 * for orders without a numbered event.
 */
export function versionOfOrder(
  eventType: string,
  payload: unknown,
): { readonly id: string; readonly version: number; readonly userId: string } | null {
  if (!eventType.startsWith('labtest.order.')) return null;
  const order = readOrder(payload);
  const version = Number(order?.lastEvent?.id);
  if (order === null || !Number.isSafeInteger(version)) return null;
  return { id: order.id.toLowerCase(), version, userId: order.userId };
}

/** The order in a webhook's payload, or null when it cannot be read as one. */
export function readOrder(payload: unknown): Order | null {
  return orderShape.safeParse(payload).data ?? null;
}
