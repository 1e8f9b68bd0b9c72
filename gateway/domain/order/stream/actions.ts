import { GatewayError } from '../../../errors.ts';
import type { Place } from '../../../events/cursor.ts';
import {
  createStream,
  type Followed as FollowedEvent,
  follow,
  makeOncePerEvent,
  retryUntilAvailable,
} from '../../../events/follow.ts';
import type { Scope, StoredEvent } from '../../../events/log.ts';
import type { GraphContext } from '../../../graph/context.ts';
import { cursorScope, resumeAt } from '../../../graph/pagination/cursors.ts';
import { findUnlisted, toNewest } from '../read/actions.ts';
import { getOrder } from '../read/rest.ts';
import { changedAt, listLastChangedOrders } from '../read/rest-last-changed.ts';
import { type Order, type OrderEvent, readOrderOfEvent, versionOf } from '../read/rest-order.ts';

export type OrderUpdateKind = 'SNAPSHOT' | 'CHANGED' | 'RECONCILED' | 'RESYNC';

/** One item of a stream of order updates. */
export interface OrderUpdate {
  readonly cursor: string;
  readonly kind: OrderUpdateKind;
  readonly order: Order;
  readonly event: OrderEvent | null;
  readonly receivedAt: Date | null;
  /** The `traceparent` of its webhook's append; null where it was not traced. */
  readonly trace: string | null;
}

/** The subject of a stream: one order, or all orders of a user. Ids in lower case. */
export type Followed = { readonly orderId: string } | { readonly userId: string };

interface Start {
  readonly place: Place;
  /** Sent first; sending empties the list, so that a stream that waits holds none. Empty where a cursor is resumed. */
  readonly orders: Order[];
  readonly kind: 'SNAPSHOT' | 'RESYNC';
}

/**
 * The updates of one order or of all orders of a user. Without `after` the stream begins with the orders as
 * they are (SNAPSHOT) and continues with strictly newer changes; with it, it resumes where the cursor ended.
 * Resolves once the stream is allowed; then reads from the log until the client leaves.
 * @throws GatewayError BAD_CURSOR, NOT_FOUND (missing and forbidden look the same), FORBIDDEN
 */
export async function followOrders(
  context: GraphContext,
  followed: Followed,
  after: string | null | undefined,
): Promise<AsyncGenerator<OrderUpdate>> {
  const start = await begin(context, followed, resumeAt(context, after));
  return createStream(context.over, (signal) => generate(context, followed, { start, signal }));
}

/**
 * The updates of all orders of a user; of the viewer's own user where none is named.
 * @throws GatewayError BAD_USER_INPUT when a gateway key names none, and those of `followOrders`
 */
export async function followUserOrders(
  context: GraphContext,
  named: string | null,
  after: string | null | undefined,
): Promise<AsyncGenerator<OrderUpdate>> {
  const userId = named ?? context.service.rights.userId;
  if (userId === null) throw new GatewayError('BAD_USER_INPUT', 'userId is needed with a gateway key.');
  return await followOrders(context, { userId }, after);
}

async function begin(context: GraphContext, followed: Followed, after: string | null): Promise<Start> {
  const snapshot = async (kind: Start['kind']) =>
    await takeSnapshot(context, followed, { kind, position: await context.events.position() });
  if (after === null) return await snapshot('SNAPSHOT');
  const place = context.cursors.read(scopeOf(context, followed), after);
  if (place === 'other-epoch') {
    context.onResync('other-epoch');
    return await snapshot('RESYNC');
  }
  // The other orders of the snapshot that was cut off would be missing until they change.
  if (place.isPartway) return await snapshot('SNAPSHOT');
  return { place, orders: [], kind: 'RESYNC' };
}

interface SnapshotOptions {
  readonly kind: Start['kind'];
  /** The end of the log before the snapshot, so that no change falls between them. */
  readonly position: number;
}

async function takeSnapshot(
  context: GraphContext,
  followed: Followed,
  { kind, position }: SnapshotOptions,
): Promise<Start> {
  const orders = await readOrders(context, followed);
  return { place: { position, shown: await findShown(context, orders, position) }, orders, kind };
}

async function readOrders(context: GraphContext, followed: Followed): Promise<Order[]> {
  if ('orderId' in followed) {
    const order = await getOrder(context.service, followed.orderId);
    const newest = order === null ? null : await toNewest(context, order);
    if (newest === null) throw new GatewayError('NOT_FOUND', 'There is no such order.');
    return [newest];
  }
  if (!context.service.rights.owns(followed, 'stream order.updates')) {
    throw new GatewayError('NOT_FOUND', 'There is no such user.');
  }
  const listed = await listLastChangedOrders(context.service, { userId: followed.userId });
  const newest = [
    ...(await Promise.all(listed.map((order) => toNewest(context, order)))),
    ...(await findUnlisted(context, followed.userId, listed)),
  ];
  // An order that moved to another user meanwhile may still be listed by the service.
  const orders = newest.flatMap((order) => (order?.userId.toLowerCase() === followed.userId ? [order] : []));
  return orders.toSorted((a, b) => changedAt(b) - changedAt(a));
}

/**
 * The versions that the snapshot shows and whose webhooks come after the position, or have not come yet. Without them
 * the stream would repeat those webhooks as changes.
 */
async function findShown(
  context: GraphContext,
  orders: readonly Order[],
  position: number,
): Promise<Place['shown']> {
  const newest = await context.events.latestOf(orders.map(({ id }) => id.toLowerCase()));
  const shown = orders.flatMap((order, index) => {
    const [version, latest = null] = [versionOf(order), newest[index]];
    if (version === null) return [];
    const isAhead = latest === null || version > latest.version || latest.position > position;
    return isAhead ? [[order.id.toLowerCase(), version] as const] : [];
  });
  return Object.fromEntries(shown);
}

interface Generation {
  readonly start: Start;
  readonly signal: AbortSignal;
}

/** One generator and no nested ones: each level costs every waiting stream 1 kB. */
async function* generate(
  context: GraphContext,
  followed: Followed,
  { start, signal }: Generation,
): AsyncGenerator<OrderUpdate> {
  if (signal.aborted) return;
  yield* showOrders(context, followed, start);
  const { position, shown } = start.place;
  let toUpdate = createUpdates(context, followed, shown);
  for await (const item of follow(context.events, logScopeOf(followed), { after: position, signal })) {
    if (item.kind === 'gap') {
      context.onResync(item.reason);
      context.loaders.beginAnew();
      const again = await takeSnapshot(context, followed, { kind: 'RESYNC', position: item.position });
      if (signal.aborted) return;
      yield* showOrders(context, followed, again);
      toUpdate = createUpdates(context, followed, again.place.shown);
      continue;
    }
    const update = await toUpdate(item);
    if (update === 'gone') return;
    if (update !== null) yield update;
  }
}

/** Only the last order has the cursor of the place: a client that resumes from an earlier one has not seen them all. */
function* showOrders(
  context: GraphContext,
  followed: Followed,
  { place, orders, kind }: Start,
): Generator<OrderUpdate> {
  const scope = scopeOf(context, followed);
  const partway: Place = { position: place.position, shown: {}, isPartway: true };
  for (let order = orders.shift(); order !== undefined; order = orders.shift()) {
    context.loaders.beginAnew();
    const cursor = context.cursors.issue(scope, orders.length > 0 ? partway : place);
    yield { cursor, kind, order, event: null, receivedAt: null, trace: null };
  }
}

type NewEvent = Extract<FollowedEvent, { readonly kind: 'event' }>;

/**
 * Makes updates of events: an update, nothing (null), or the end of the stream, because the order is `gone` to another
 * user.
 * @param alreadyShown versions that the snapshot showed before their webhooks came
 */
function createUpdates(
  context: GraphContext,
  followed: Followed,
  alreadyShown: Place['shown'],
): (item: NewEvent) => Promise<OrderUpdate | 'gone' | null> {
  let shown = alreadyShown;
  return async ({ event, payload }) => {
    const order = readOrderOfEvent(payload);
    if (order === null || event.subject === null) return null;
    const ownership = await findOwnership(context, event, order);
    if (ownership === 'gone' && 'orderId' in followed) return 'gone';
    if (ownership !== 'own') return null;
    const { id, version } = event.subject;
    if (version <= (shown[id] ?? 0)) {
      // Each later webhook of this order is newer than the version shown, so that version is not needed any more.
      if (version === shown[id]) shown = without(shown, id);
      return null;
    }
    const owner = { userId: event.userId, orderId: order.id };
    if (!context.service.rights.mayShow(owner, 'stream order.updates')) return null;
    shown = without(shown, id);
    context.loaders.beginAnew();
    const [scope, place] = [scopeOf(context, followed), { position: event.position, shown }];
    return changeOf(event, `${scope} ${JSON.stringify(shown)}`, () => ({
      cursor: context.cursors.issue(scope, place),
      kind: event.origin === 'reconciled' ? 'RECONCILED' : 'CHANGED',
      order,
      event: order.lastEvent,
      receivedAt: event.receivedAt,
      trace: event.trace,
    }));
  };
}

/** Streams with equal cursors get the same update, so its result can be shared (execution/shared-results.ts). */
const changeOf = makeOncePerEvent<OrderUpdate>();

/**
 * The caller's relation to the order of an event. `own`: the caller may see it, then and now. `gone`: it belongs to
 * another user now, because this event or a later one registered the kit to that user. `foreign`: it belonged to
 * another user then and has come back.
 */
async function findOwnership(
  { events, over, service: { rights } }: GraphContext,
  event: StoredEvent,
  { id }: Order,
): Promise<'own' | 'foreign' | 'gone'> {
  const isOwnThen = rights.owns({ userId: event.userId, orderId: id });
  // A gateway key sees every user's orders.
  if (isOwnThen && rights.userId === null) return 'own';
  const latest = await retryUntilAvailable(() => events.latest(id.toLowerCase()), over);
  if (!rights.owns({ userId: latest?.userId ?? event.userId, orderId: id })) return 'gone';
  return isOwnThen ? 'own' : 'foreign';
}

function without(shown: Place['shown'], id: string): Place['shown'] {
  if (shown[id] === undefined) return shown;
  const { [id]: _seen, ...rest } = shown;
  return rest;
}

/** Newer versions only: a webhook that comes late reports history, not a change. */
function logScopeOf(followed: Followed): Scope {
  return 'orderId' in followed
    ? { subject: followed.orderId, changesOnly: true }
    : { userId: followed.userId, changesOnly: true };
}

/**
 * A cursor is valid for every token of its user, renewed or new. An order outside the token's rights has a scope of its
 * own, in which no cursor was ever issued. So the cursor of another token and an invented one are refused in the same
 * way.
 */
function scopeOf(context: GraphContext, followed: Followed): string {
  if (!('orderId' in followed)) return cursorScope(context, 'user-orders', followed.userId);
  const { rights } = context.service;
  const isFor = rights.owns({ userId: rights.userId, orderId: followed.orderId });
  return cursorScope(context, isFor ? 'order' : 'order-of-others', followed.orderId);
}

/**
 * The cursor of the order's own stream after which every later change of the order comes.
 * @param position a position of the log from before the order was read
 */
export async function cursorAfter(context: GraphContext, order: Order, position: number): Promise<string> {
  const orderId = order.id.toLowerCase();
  const shown = await findShown(context, [order], position);
  return context.cursors.issue(scopeOf(context, { orderId }), { position, shown });
}
