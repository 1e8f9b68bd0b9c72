import type { Owner } from '../../../auth/rights.ts';
import { isGatewayError } from '../../../errors.ts';
import { emptyPage, keepRows, type Page, type Service } from '../../../service/service.ts';
import { readAddress } from '../../address/rest.ts';
import { readLabTest } from '../../lab-test/rest.ts';
import {
  day,
  flag,
  id,
  link,
  list,
  optional,
  pageReader,
  record,
  required,
  text,
  texts,
  timestamp,
} from '../../parse.ts';
import { fits, isBeyond, lastInstant, type OrderFilter, type OrderRange, queryOf } from './rest-filter.ts';
import { readDetails, readOrderEvent, readPatient, readPhysician, readTransaction } from './rest-parts.ts';
import { readPassthrough } from './rest-passthrough.ts';

export type Order = ReturnType<typeof parseOrder>;
/**
 * An order as the service shows it to this caller now: its owner is who has it now. Any other `Order` may come from
 * a kept answer or a webhook of a time when a kit belonged to somebody else. What hangs on an order names no owner
 * of its own (results, appointments, documents), so it is read for a current order only.
 */
export type CurrentOrder = Order & { readonly [current]: true };
declare const current: unique symbol;

export type OrderEvent = ReturnType<typeof readOrderEvent>;
export type OrderDetails = NonNullable<Order['details']>;
export type Shipment = NonNullable<Order['shipment']>;
export type OrderTransaction = NonNullable<Order['transaction']>;

/** The most orders one call returns (public service; `size` 1 to 100). */
export const maxOrderPage = 100;

const readEvents = list(readOrderEvent);
const readLastEvent = optional(readOrderEvent);
const readOrderedTest = optional(readLabTest);

/** An order as the service sends it. @throws Unreadable for what is none */
export const parseOrder = record((raw) => {
  const events = sortEvents(readEvents(raw.events), readLastEvent(raw.last_event));
  const labTest = readOrderedTest(raw.lab_test);
  const details = readDetails(raw.details);
  const lastEvent = events.at(-1) ?? null;
  return {
    id: required(raw, 'id', id),
    teamId: id(raw.team_id),
    userId: required(raw, 'user_id', id),
    status: lastEvent?.status ?? text(raw.status) ?? '',
    events,
    lastEvent,
    labTest,
    method: details?.method ?? labTest?.method ?? null,
    patient: readPatient(raw.patient_details),
    patientAddress: readAddress(raw.patient_address),
    shippingAddress: readAddress(raw.shipping_details),
    details: details?.data ?? null,
    shipment: details?.data?.shipment ?? null,
    transaction: readTransaction(raw.order_transaction),
    interpretation: text(raw.interpretation),
    origin: text(raw.origin),
    sampleId: text(raw.sample_id),
    notes: text(raw.notes),
    clinicalNotes: text(raw.clinical_notes),
    activateBy: day(raw.activate_by),
    hasAbn: flag(raw.has_abn),
    // One form of the order shape misspells the name (specification, Order object).
    healthInsuranceId: id(raw.health_insurance_id) ?? id(raw.health_insurace_id),
    requisitionFormUrl: link(raw.requisition_form_url),
    ...readPassthrough(text(raw.passthrough)),
    physician: readPhysician(raw.physician),
    billingType: text(raw.billing_type),
    priority: flag(raw.priority),
    icdCodes: texts(raw.icd_codes),
    hasMissingResults: flag(raw.has_missing_results),
    expectedResultBy: day(raw.expected_result_by_date),
    worstCaseResultBy: day(raw.worst_case_result_by_date),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  };
});

/** Oldest first by id (ids grow over the whole service), with `last_event` in its place when the list lacks it. */
function sortEvents(events: readonly OrderEvent[], last: OrderEvent | null): readonly OrderEvent[] {
  // As the service sends them.
  if (isSorted(events) && (last === null || last.id === events.at(-1)?.id)) return events;
  const byId = new Map(events.map((event) => [event.id, event]));
  if (last !== null && !byId.has(last.id)) byId.set(last.id, last);
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

/** Oldest first by id, and each once. */
function isSorted(events: readonly OrderEvent[]): boolean {
  let before = -Infinity;
  return events.every((event) => {
    const isLater = Number(event.id) > before;
    before = Number(event.id);
    return isLater;
  });
}

/** Where orders are listed according to the specification; SERVICE_ORDERS_PATH names another path. */
export const ordersPath = '/orders';

/** Whose an order is. */
export const ownerOfOrder = (order: Order): Owner => ({
  userId: order.userId,
  orderId: order.id,
  teamId: order.teamId,
});

/** For answers to reads, and for the newest message on an order where that is newer than they are. */
const asCurrent = (order: Order) => order as CurrentOrder;

const readCurrentOrder = (json: unknown) => asCurrent(parseOrder(json));

/** An order together with its JSON as sent. */
export interface OrderRow {
  readonly json: unknown;
  readonly order: CurrentOrder;
}

const readOrderRows = pageReader('orders', (json): OrderRow => ({ json, order: readCurrentOrder(json) }));

/**
 * A page of orders, newest first (`GET /orders`). The specification promises no filter but `interpretation`, so
 * rows that the filter does not let through are left out here.
 */
export async function listOrders(
  service: Service,
  filter: OrderFilter,
  request: OrderRange,
): Promise<Page<CurrentOrder>> {
  service.rights.require('read:orders');
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
  request: OrderRange,
): Promise<Page<OrderRow>> {
  const userId = filter.userId?.toLowerCase() ?? service.rights.userId;
  const orderIds = narrow(filter.orderIds ?? null, service.rights.orderIds);
  // A list of nothing matches nothing; sent, it would be no filter at all.
  const choices = [orderIds, filter.statuses, filter.methods, filter.activations];
  if (choices.some((choice) => choice?.length === 0)) return emptyPage;
  return await service.readPage({
    operation: 'order.list',
    method: 'GET',
    path: service.pathOf(ordersPath),
    query: {
      user_id: userId,
      order_ids: orderIds,
      ...queryOf(filter),
      end_date: lastInstant(filter.createdBefore, request.until),
      page: request.page,
      size: request.size,
      order_key: 'created_at',
      order_direction: 'desc',
    },
    reader: readOrderRows,
    refine: (page) => {
      const kept = keepRows(page, ({ order }) => fits(order, { ...filter, userId, orderIds }));
      // Asked of all rows: those that are left out next tell it just as well.
      return { ...kept, ignoresBound: page.rows.some((row) => isBeyond(row?.order, request)) };
    },
    keeping: 'until-news-of-order',
    scope: null,
    owner: ({ order }) => ownerOfOrder(order),
    ...(userId === null ? {} : { about: { userId } }),
  });
}

const maxWalkedPages = 20;

/**
 * The newest orders of the filter, 100 of them where there are so many. Further pages are read only when the
 * service showed that it does not filter.
 */
export async function listNewestOrders(
  service: Service,
  filter: OrderFilter,
): Promise<readonly CurrentOrder[]> {
  // By id: an order that is placed between two pages pushes the last one of the first onto the second.
  const orders = new Map<string, CurrentOrder>();
  for (let page = 1; page <= maxWalkedPages && orders.size < maxOrderPage; page += 1) {
    const { rows } = await listOrders(service, filter, { page, size: maxOrderPage });
    for (const order of rows) if (order !== null) orders.set(order.id, order);
    if (rows.length < maxOrderPage || !rows.includes(null)) break;
  }
  return [...orders.values()].slice(0, maxOrderPage);
}

function narrow(
  asked: readonly string[] | null,
  allowed: readonly string[] | null,
): readonly string[] | null {
  if (asked === null || allowed === null) return asked ?? allowed;
  return asked.filter((orderId) => allowed.includes(orderId.toLowerCase()));
}

/**
 * The testkit with this number on it among the orders of the filter, or null. The service searches names and
 * ids only, so the newest 1,000 kits are looked through.
 */
export async function findTestkit(
  service: Service,
  sampleId: string,
  filter: OrderFilter,
): Promise<CurrentOrder | null> {
  for (let page = 1; page <= 10; page += 1) {
    const request = { page, size: maxOrderPage };
    const { rows } = await listOrders(service, { ...filter, methods: ['testkit'] }, request);
    const found = rows.find((order) => order?.sampleId === sampleId);
    if (found) return found;
    if (rows.length < maxOrderPage) return null;
  }
  return null;
}

/**
 * One order, or null (`GET /v3/order/{order_id}`). The specification shows no path for one order, so what is not
 * found there is looked for in the list.
 */
export async function getOrder(service: Service, orderId: string): Promise<CurrentOrder | null> {
  const order = await service.readOne({
    operation: 'order.get',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(orderId)}`,
    reader: readCurrentOrder,
    keeping: 'until-news-of-order',
    scope: 'read:orders',
    owner: ownerOfOrder,
  });
  return order ?? (await findInList(service, orderId));
}

async function findInList(service: Service, orderId: string): Promise<CurrentOrder | null> {
  try {
    const { rows } = await listOrders(service, { orderIds: [orderId] }, { page: 1, size: maxOrderPage });
    return rows.find((order) => order !== null) ?? null;
  } catch (error) {
    // A service without this list has answered above already.
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) return null;
    throw error;
  }
}

/** Orders by id, in the order of the ids, null where there is none: one call per 100 ids. */
export async function getOrders(
  service: Service,
  orderIds: readonly string[],
): Promise<readonly (CurrentOrder | null)[]> {
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
export const readOrder = optional(parseOrder);

/**
 * The same of the newest message that the log has on an order and that is newer than any read: it says who has the
 * order now. Whether that is the caller is for the caller of this to ask.
 */
export function readNewestOrder(payload: unknown): CurrentOrder | null {
  const order = readOrder(payload);
  return order === null ? null : asCurrent(order);
}
