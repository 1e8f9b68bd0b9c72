import { isGatewayError } from '../../../errors.ts';
import { readPayload } from '../../../events/follow.ts';
import type { Latest } from '../../../events/log.ts';
import type { GraphContext } from '../../../graph/context.ts';
import type { Page } from '../../../service/service.ts';
import { type CurrentOrder, readNewestOrder } from './rest.ts';
import { fits, type OrderFilter } from './rest-filter.ts';

/** For how long a webhook may be ahead of what the service answers, in milliseconds; later the service is right. */
const aheadMs = 300_000;

/**
 * The order as the service showed it, or as a webhook has told it since: a query right after a change is never
 * older than the stream, whatever copy of its data the service answers from. Null when the order has moved out
 * of the caller's sight meanwhile.
 */
export async function newestOf(context: GraphContext, order: CurrentOrder): Promise<CurrentOrder | null> {
  const newer = await findNewer(context, order);
  return newer === null ? order : await readNewer(context, order, newer);
}

/** The same for a page of a list; what no longer fits the filter leaves a hole. */
export async function newestOfPage(
  context: GraphContext,
  filter: OrderFilter,
  page: Page<CurrentOrder>,
): Promise<Page<CurrentOrder>> {
  const { rows } = page;
  const newer = await Promise.all(rows.map((row) => (row === null ? null : findNewer(context, row))));
  // Nearly always: a hundred rows are then gone through no further.
  if (newer.every((latest) => latest === null)) return page;
  const newest = rows.map(async (row, index) => {
    const latest = newer[index] ?? null;
    if (row === null || latest === null) return row;
    const told = await readNewer(context, row, latest);
    return told === null || told === row || fits(told, filter) ? told : null;
  });
  return { ...page, rows: await Promise.all(newest) };
}

/**
 * The user's orders that webhooks have told of and that were not listed: a list may come from a copy of the service's
 * data from before them.
 */
export async function findUnlisted(
  context: GraphContext,
  userId: string,
  listed: readonly CurrentOrder[],
): Promise<readonly CurrentOrder[]> {
  const known = new Set(listed.map(({ id }) => id.toLowerCase()));
  const changed = await context.events.changedSince(userId, new Date(Date.now() - aheadMs));
  const unlisted = changed.filter((orderId) => !known.has(orderId));
  const told = unlisted.map(async (orderId) => {
    const latest = await context.versions.latest(orderId);
    return latest === null ? null : await readTold(context, orderId, latest);
  });
  return (await Promise.all(told)).flatMap((order) =>
    order !== null && isOwn(context, order) ? [order] : [],
  );
}

/** What the log has heard of the order behind the version that was shown; null where it has heard nothing. */
function findNewer({ versions }: GraphContext, order: CurrentOrder): Promise<Latest | null> {
  return versions
    .latest(order.id.toLowerCase())
    .then((latest) => (latest !== null && latest.version > versionOf(order) ? latest : null), withoutLog);
}

async function readNewer(
  context: GraphContext,
  order: CurrentOrder,
  newer: Latest,
): Promise<CurrentOrder | null> {
  const told = await readTold(context, order.id, newer).catch(withoutLog);
  if (told === null) return order;
  return isOwn(context, told) ? told : null;
}

/** Without the log there is still the service, which is the truth. */
function withoutLog(error: unknown): null {
  if (isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) return null;
  throw error;
}

/** The newest message on the order, null when it is so old that the service is to be believed. */
async function readTold(
  { versions }: GraphContext,
  orderId: string,
  latest: Latest,
): Promise<CurrentOrder | null> {
  const event = await versions.readLatest(orderId.toLowerCase(), latest, aheadMs);
  return event === null ? null : readNewestOrder(readPayload(event.body));
}

function isOwn({ service }: GraphContext, order: CurrentOrder): boolean {
  return service.rights.mayShow({ userId: order.userId, orderId: order.id }, 'read order.told');
}

function versionOf(order: CurrentOrder): number {
  const version = Number(order.lastEvent?.id);
  return Number.isSafeInteger(version) ? version : 0;
}
