import { isGatewayError } from '../../errors.ts';
import { readPayload } from '../../events/follow.ts';
import type { Latest, StoredEvent } from '../../events/log.ts';
import type { GraphContext } from '../../graph/context.ts';
import type { Page } from '../../upstream/service.ts';
import { fits, type OrderFilter } from './filter.ts';
import { type CurrentOrder, readNewestOrder } from './rest.ts';

/** For how long a webhook may be ahead of what the service answers, in milliseconds; later the service is right. */
const aheadMs = 300_000;

/**
 * The order as the service showed it, or as a webhook has told it since: a query right after a change is never
 * older than the stream, whatever copy of its data the service answers from. Null when the order has moved out
 * of the caller's sight meanwhile.
 */
export async function newestOf(context: GraphContext, order: CurrentOrder): Promise<CurrentOrder | null> {
  try {
    const latest = await context.events.latest(order.id.toLowerCase());
    if (latest === null || latest.version <= versionOf(order)) return order;
    const told = await readTold(context, order.id, latest);
    if (told === null) return order;
    return isOwn(context, told) ? told : null;
  } catch (error) {
    // Without the log there is still the service, which is the truth.
    if (isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) return order;
    throw error;
  }
}

/** The same for a page of a list; what no longer fits the filter leaves a hole. */
export async function newestOfPage(
  context: GraphContext,
  filter: OrderFilter,
  page: Page<CurrentOrder>,
): Promise<Page<CurrentOrder>> {
  const rows = page.rows.map(async (row) => {
    const newest = row === null ? null : await newestOf(context, row);
    return newest === null || newest === row || fits(newest, filter) ? newest : null;
  });
  return { ...page, rows: await Promise.all(rows) };
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
    const latest = await context.events.latest(orderId);
    return latest === null ? null : await readTold(context, orderId, latest);
  });
  return (await Promise.all(told)).flatMap((order) =>
    order !== null && isOwn(context, order) ? [order] : [],
  );
}

/** The newest message on the order, null when it is so old that the service is to be believed. */
async function readTold(
  context: GraphContext,
  orderId: string,
  { position }: Latest,
): Promise<CurrentOrder | null> {
  const scope = { subject: orderId.toLowerCase(), changesOnly: true };
  const batch = await context.events.read(scope, position - 1, 1);
  const event = batch.kind === 'events' ? batch.events[0] : undefined;
  if (event?.position !== position || !isRecent(event)) return null;
  return readNewestOrder(readPayload(event.body));
}

function isRecent({ receivedAt }: StoredEvent): boolean {
  return receivedAt.getTime() >= Date.now() - aheadMs;
}

function isOwn({ service }: GraphContext, order: CurrentOrder): boolean {
  const about = { userId: order.userId, orderId: order.id };
  return service.mayShow({ as: 'read', operation: 'order.told', about });
}

function versionOf(order: CurrentOrder): number {
  const version = Number(order.lastEvent?.id);
  return Number.isSafeInteger(version) ? version : 0;
}
