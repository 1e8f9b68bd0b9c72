import { isGatewayError } from '../../../errors.ts';
import type { CachedUntil, Page } from '../../../service/calls.ts';
import { emptyPage, filterRows, type Service } from '../../../service/service.ts';
import { pageReader } from '../../parse.ts';
import { fits, lastInstant, type OrderFilter, type OrderRange, queryOf } from './rest-filter.ts';
import { type CurrentOrder, ownerOfOrder, parseCurrentOrder, versionOf } from './rest-order.ts';

/** The most orders one call returns (public service; `size` 1 to 100). */
export const maxOrderPage = 100;

/** Where orders are listed according to the specification; SERVICE_ORDERS_PATH names another path. */
export const ordersPath = '/orders';

interface SentOrder {
  readonly json: unknown;
  readonly order: CurrentOrder;
}

/** How a row of the list is read. */
interface RowReader<Row> {
  readonly reader: (json: unknown) => Page<Row>;
  readonly orderOf: (row: Row) => CurrentOrder;
  readonly cachedUntil?: CachedUntil;
}

const ofOrders: RowReader<CurrentOrder> = {
  reader: pageReader('orders', parseCurrentOrder),
  orderOf: (order) => order,
  cachedUntil: 'subject-event',
};
/** Not cached: who reads orders as sent wants them as they are now. */
const ofSentOrders: RowReader<SentOrder> = {
  reader: pageReader('orders', (json) => ({ json, order: parseCurrentOrder(json) })),
  orderOf: ({ order }) => order,
};

/**
 * A page of orders, newest first (`GET /orders`). The specification promises no filter but `interpretation`, so
 * rows that do not fit the filter become null here.
 */
export async function listOrders(
  service: Service,
  filter: OrderFilter,
  request: OrderRange,
): Promise<Page<CurrentOrder>> {
  service.rights.require('read:orders');
  return await listRows(service, ofOrders, filter, request);
}

/** It requires no scope; rows of other users are left out in any case. */
async function listRows<Row>(
  service: Service,
  { reader, orderOf, ...caching }: RowReader<Row>,
  filter: OrderFilter,
  request: OrderRange,
): Promise<Page<Row>> {
  const userId = filter.userId?.toLowerCase() ?? service.rights.userId;
  const orderIds = narrow(filter.orderIds ?? null, service.rights.orderIds);
  // An empty list matches nothing. The service would read it as no filter at all, so no call is made.
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
    reader,
    refine: (page) => {
      const fitting = filterRows(page, (row) => fits(orderOf(row), { ...filter, userId, orderIds }));
      // The times of all rows: rows that do not fit the filter show the order of the list too.
      const times = page.rows.map((row) => row && orderOf(row).createdAt);
      return { ...fitting, totalSent: page.total, times };
    },
    ...caching,
    scope: null,
    owner: (row) => ownerOfOrder(orderOf(row)),
    ...(userId === null ? {} : { about: { userId } }),
  });
}

function narrow(
  asked: readonly string[] | null,
  allowed: readonly string[] | null,
): readonly string[] | null {
  if (asked === null || allowed === null) return asked ?? allowed;
  return asked.filter((orderId) => allowed.includes(orderId.toLowerCase()));
}

/** A page of a list that is walked. */
interface WalkedPage<Row> {
  readonly rows: readonly (Row | null)[];
  readonly isLast: boolean;
}

/**
 * The rows of each page in turn, the newest first, to the last page or to `maxPages`. A page has 100 orders, or fewer if the
 * service gives no more at once. An order that is placed meanwhile pushes others to later pages, so one may come twice.
 */
async function* walkRows<Row>(
  service: Service,
  row: RowReader<Row>,
  { filter, maxPages }: { readonly filter: OrderFilter; readonly maxPages: number },
): AsyncGenerator<WalkedPage<Row>> {
  let count = 0;
  for (let page = 1; page <= maxPages; page += 1) {
    const read = await listRows(service, row, filter, { page, size: maxOrderPage });
    count += read.rows.length;
    const isLast = isLastPage(read, { page, count });
    yield { rows: read.rows, isLast };
    if (isLast) return;
  }
}

/**
 * A short page is the last one, unless `pages` or the total of the service is larger than what was read. A full page is
 * never the last one: some totals count the page alone.
 */
export function isLastPage(
  { rows, pages, totalSent }: Page<unknown>,
  { page, count }: { readonly page: number; readonly count: number },
): boolean {
  if (rows.length === 0) return true;
  if (rows.length >= maxOrderPage) return false;
  return pages === null ? count >= (totalSent ?? 0) : page >= pages;
}

/** Like `walkSentOrders`, as orders. */
export function walkOrders(service: Service, filter: OrderFilter, maxPages: number) {
  service.rights.require('read:orders');
  return walkRows(service, ofOrders, { filter, maxPages });
}

/** It requires no scope, so that a write whose answer was lost can find its order. */
export function walkSentOrders(service: Service, filter: OrderFilter, maxPages: number) {
  return walkRows(service, ofSentOrders, { filter, maxPages });
}

/**
 * The testkit with this number on it among the orders of the filter, or null. The service searches names and ids only,
 * so the newest kits are read, ten pages of them.
 */
export async function findTestkit(
  service: Service,
  sampleId: string,
  filter: OrderFilter,
): Promise<CurrentOrder | null> {
  for await (const { rows } of walkOrders(service, { ...filter, methods: ['testkit'] }, 10)) {
    const found = rows.find((order) => order?.sampleId === sampleId);
    if (found) return found;
  }
  return null;
}

/**
 * The orders that name these appointments (ids in lower case), in the order of the ids, null where none does. The service
 * cannot be asked by appointment, so the newest orders of these methods are read, ten pages of them.
 */
export async function findOrdersOfAppointments(
  service: Service,
  appointmentIds: readonly string[],
): Promise<readonly (CurrentOrder | null)[]> {
  const methods = ['at_home_phlebotomy', 'walk_in_test'];
  const wanted = new Set(appointmentIds);
  const found = new Map<string, CurrentOrder>();
  for await (const { rows } of walkOrders(service, { methods }, 10)) {
    for (const order of rows) {
      const appointmentId = order?.details?.appointmentId?.toLowerCase() ?? '';
      if (order && wanted.has(appointmentId)) found.set(appointmentId, order);
    }
    if (found.size === wanted.size) break;
  }
  return appointmentIds.map((id) => found.get(id) ?? null);
}

/**
 * One order, or null (`GET /v3/order/{order_id}`). The specification shows no path for one order, so an order that
 * is not found there is searched for in the list.
 * @param scope the scope it needs: `launch:portal` when it is read only to find its owner before the portal opens
 */
export async function getOrder(
  service: Service,
  orderId: string,
  scope: 'read:orders' | 'launch:portal' = 'read:orders',
): Promise<CurrentOrder | null> {
  return (await getOrderByPath(service, orderId, scope)) ?? (await findInList(service, orderId));
}

async function getOrderByPath(
  service: Service,
  orderId: string,
  scope: 'read:orders' | 'launch:portal',
): Promise<CurrentOrder | null> {
  return await service.readOne({
    operation: 'order.get',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(orderId)}`,
    reader: parseCurrentOrder,
    cachedUntil: 'subject-event',
    scope,
    owner: ownerOfOrder,
  });
}

async function findInList(service: Service, orderId: string): Promise<CurrentOrder | null> {
  try {
    const { found } = await searchList(service, [orderId]);
    return found.get(orderId.toLowerCase()) ?? null;
  } catch (error) {
    // A service without this list has answered `GET /v3/order/{order_id}` already.
    if (isGatewayError(error, 'UPSTREAM_REJECTED')) return null;
    throw error;
  }
}

/** Orders by id, in the order of the ids, null where there is none: one call per 100 ids, more if pages are smaller. */
export async function getOrders(
  service: Service,
  orderIds: readonly string[],
): Promise<readonly (CurrentOrder | null)[]> {
  const [only] = orderIds;
  if (orderIds.length === 1 && only !== undefined) return [await getOrder(service, only)];
  service.rights.require('read:orders');
  const chunks = Array.from({ length: Math.ceil(orderIds.length / maxOrderPage) }, (_, index) =>
    orderIds.slice(index * maxOrderPage, (index + 1) * maxOrderPage),
  );
  const getChunk = async (ids: readonly string[]) => {
    const { found, isFiltered } = await searchList(service, ids);
    // Of a service that does not filter by id, an order may be behind the pages that were read.
    const find = (orderId: string) =>
      found.get(orderId.toLowerCase()) ??
      (isFiltered ? null : getOrderByPath(service, orderId, 'read:orders'));
    return await Promise.all(ids.map(find));
  };
  return (await Promise.all(chunks.map(getChunk))).flat();
}

/** How many pages are read of a service that does not filter by id. */
const searchedPages = 10;

/** Orders by their ids in lower case, and whether the service sent no other row. */
async function searchList(service: Service, orderIds: readonly string[]) {
  const found = new Map<string, CurrentOrder>();
  let isFiltered = true;
  let pages = 0;
  const request = { filter: { orderIds }, maxPages: Math.max(orderIds.length, searchedPages) };
  for await (const { rows } of walkRows(service, ofOrders, request)) {
    pages += 1;
    for (const order of rows) {
      if (order === null) isFiltered = false;
      else found.set(order.id.toLowerCase(), order);
    }
    if (found.size >= orderIds.length || (!isFiltered && pages >= searchedPages)) break;
  }
  return { found, isFiltered };
}

/** An order that changed, and the webhook that would have reported it. */
export interface ChangedOrder {
  readonly changedAt: Date | null;
  readonly message: {
    readonly type: string;
    readonly userId: string;
    readonly clientUserId: null;
    readonly teamId: string | null;
    readonly subject: { readonly id: string; readonly version: number };
    readonly body: Buffer;
  };
}

/** How many pages are read of a service that does not filter by time: it may have millions of orders. */
const unfilteredPages = 1000;

/**
 * Every order that changed since then, page by page, for the reconciliation with the event log: to the last page of a service
 * that filters by time, however long it was away. An order may come more than once.
 * @throws GatewayError UPSTREAM_*
 */
export async function* listChangedOrders(service: Service, since: Date): AsyncGenerator<ChangedOrder> {
  let before: ReadonlySet<string> = new Set();
  let repeats = 0;
  let isFiltered = true;
  let pages = 0;
  for await (const { rows } of walkSentOrders(service, { updatedAfter: since }, Infinity)) {
    pages += 1;
    const orders = rows.filter((row) => row !== null);
    const ids = new Set(orders.map(({ order }) => order.id));
    // A service that does not page gives the same orders each time. Others do so once if a page of orders is placed between
    // two reads.
    const isRepeated = ids.size > 0 && ids.isSubsetOf(before);
    repeats = isRepeated ? repeats + 1 : 0;
    if (repeats === 3) return;
    before = ids;
    if (!isRepeated) for (const row of orders) yield* toChangedOrder(row);
    // Single rows may be left out for another reason.
    isFiltered &&= orders.length >= rows.length / 2;
    if (!isFiltered && pages >= unfilteredPages) return;
  }
}

/** Nothing for an order without a numbered event: it has no version to compare. */
function* toChangedOrder({ json, order }: SentOrder): Generator<ChangedOrder> {
  const version = versionOf(order);
  if (version === null) return;
  const type = 'labtest.order.updated';
  const userId = order.userId.toLowerCase();
  const teamId = order.teamId?.toLowerCase() ?? null;
  const envelope = { event_type: type, user_id: userId, team_id: teamId, data: json };
  yield {
    changedAt: order.updatedAt ?? order.lastEvent?.createdAt ?? null,
    message: {
      type,
      userId,
      clientUserId: null,
      teamId,
      subject: { id: order.id.toLowerCase(), version },
      body: Buffer.from(JSON.stringify(envelope)),
    },
  };
}
