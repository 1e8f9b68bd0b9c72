import { isGatewayError } from '../../../errors.ts';
import { readPayload } from '../../../events/follow.ts';
import type { Latest } from '../../../events/log.ts';
import { nameRefusedArguments } from '../../../graph/arguments.ts';
import type { GraphContext, LoaderKind } from '../../../graph/context.ts';
import type { Page } from '../../../service/calls.ts';
import { getOrders, listOrders } from './rest.ts';
import { filterNames, fits, type OrderFilter, type OrderRange } from './rest-filter.ts';
import { type CurrentOrder, type Order, readNewestOrder, versionOf } from './rest-order.ts';

/** Orders by id: all that one operation needs at once are one call. */
const ordersById: LoaderKind<string, CurrentOrder | null> = {
  keyOf: (id) => id.toLowerCase(),
  batch: getOrders,
};

/** The same to show orders only: cached answers will do. */
const shownOrdersById: LoaderKind<string, CurrentOrder | null> = {
  keyOf: (id) => id.toLowerCase(),
  batch: (service, ids) => getOrders(service.forShowing, ids),
};

/**
 * The order with this id as it is now and as the caller may see it, or null. Fields that read more of an order
 * (results, appointments) load it by its id first, to find its present owner: the shown order may be older than the
 * move of a kit to another user.
 */
export async function loadOrder(context: GraphContext, id: string): Promise<CurrentOrder | null> {
  const order = await context.loaders.of(ordersById).load(id);
  return order === null ? null : await toNewest(context, order);
}

/**
 * The order with this id as the caller may see it, or null. It is for showing: nothing more of the order may be read
 * with it.
 */
export async function loadShownOrder(context: GraphContext, id: string): Promise<Order | null> {
  const order = await context.loaders.of(shownOrdersById).load(id);
  return order === null ? null : await toNewest(context, order);
}

/**
 * A page of orders to be shown, each as new as the event log has it.
 * @throws GatewayError BAD_USER_INPUT where the service refuses the filter, UPSTREAM_*
 */
export async function listShownOrders(
  context: GraphContext,
  filter: OrderFilter,
  range: OrderRange,
): Promise<Page<CurrentOrder>> {
  const listed = await nameRefusedArguments(
    filterNames,
    listOrders(context.service.forShowing, filter, range),
  );
  const page = await toNewestPage(context, filter, listed);
  primeLoaders(context, page);
  return page;
}

/**
 * Fills the loaders with listed orders, so that this operation does not read them again. A list from before the
 * operation began only fills the loader for showing.
 */
function primeLoaders(context: GraphContext, { rows, isEarlier = false }: Page<CurrentOrder>): void {
  for (const kind of isEarlier ? [shownOrdersById] : [ordersById, shownOrdersById]) {
    const loader = context.loaders.of(kind);
    for (const order of rows) if (order !== null) loader.prime(order.id, order);
  }
}

/** How long the service's answers may lag behind its webhooks, in milliseconds; after that the service is right. */
const maxLagMs = 300_000;

/**
 * The order as the service returned it, or as a newer webhook reported it. So a query right after a change is never
 * older than the stream, even if the service answers from an old copy of its data. Null when the caller may no longer
 * see it.
 */
export async function toNewest(context: GraphContext, order: CurrentOrder): Promise<CurrentOrder | null> {
  const newer = (await findNewer(context, [order])).get(order);
  return newer === undefined ? order : await readNewer(context, order, newer);
}

/** The same for a page of a list; an order that no longer fits the filter becomes null. */
async function toNewestPage(
  context: GraphContext,
  filter: OrderFilter,
  page: Page<CurrentOrder>,
): Promise<Page<CurrentOrder>> {
  const { rows } = page;
  const shown = rows.filter((row) => row !== null);
  const newer = await findNewer(context, shown);
  // The usual case.
  if (newer.size === 0) return page;
  const newest = rows.map(async (row) => {
    const latest = row === null ? undefined : newer.get(row);
    if (row === null || latest === undefined) return row;
    const reported = await readNewer(context, row, latest);
    return reported === null || reported === row || fits(reported, filter) ? reported : null;
  });
  return { ...page, rows: await Promise.all(newest) };
}

/**
 * The user's orders that recent webhooks reported and the list lacks, because the service's list is older than the
 * webhooks.
 */
export async function findUnlisted(
  context: GraphContext,
  userId: string,
  listed: readonly CurrentOrder[],
): Promise<readonly CurrentOrder[]> {
  const listedIds = new Set(listed.map(({ id }) => id.toLowerCase()));
  const changedIds = await context.events.changedSince(userId, new Date(Date.now() - maxLagMs));
  const unlisted = changedIds.filter((orderId) => !listedIds.has(orderId));
  const newest = await context.versions.changedOf(unlisted, maxLagMs);
  const reported = unlisted.map((orderId, index) => {
    const latest = newest[index] ?? null;
    return latest === null ? null : readReported(context, orderId, latest);
  });
  return (await Promise.all(reported)).flatMap((order) =>
    order !== null && isOwn(context, order) ? [order] : [],
  );
}

/** The newest webhooks of those orders of which the log has lately got a newer version than was read. */
async function findNewer(
  { versions }: GraphContext,
  orders: readonly CurrentOrder[],
): Promise<ReadonlyMap<CurrentOrder, Latest>> {
  const ids = orders.map(({ id }) => id.toLowerCase());
  const newest = (await versions.changedOf(ids, maxLagMs).catch(ignoreMissingLog)) ?? [];
  const newer = new Map<CurrentOrder, Latest>();
  for (const [index, order] of orders.entries()) {
    const latest = newest[index] ?? null;
    if (latest !== null && latest.version > (versionOf(order) ?? 0)) newer.set(order, latest);
  }
  return newer;
}

async function readNewer(
  context: GraphContext,
  order: CurrentOrder,
  newer: Latest,
): Promise<CurrentOrder | null> {
  const reported = await readReported(context, order.id, newer).catch(ignoreMissingLog);
  if (reported === null) return order;
  return isOwn(context, reported) ? reported : null;
}

/** While the event log is unavailable, the service's answer is used. */
function ignoreMissingLog(error: unknown): null {
  if (isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) return null;
  throw error;
}

/** The order in its newest webhook. Null when the webhook is so old that the service's answer is right. */
async function readReported(
  { versions }: GraphContext,
  orderId: string,
  latest: Latest,
): Promise<CurrentOrder | null> {
  const event = await versions.readLatest(orderId.toLowerCase(), latest, maxLagMs);
  return event === null ? null : readNewestOrder(readPayload(event.body));
}

function isOwn({ service }: GraphContext, order: CurrentOrder): boolean {
  return service.rights.mayShow({ userId: order.userId, orderId: order.id }, 'read order.told');
}
