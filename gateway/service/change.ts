import type { Invalidation } from '../cache/shared-cache.ts';

/**
 * The tags of cached answers, and what a change touches, in the same few words: a change drops exactly the answers that it
 * may have made old. Ids in lower case.
 */

/** How long the answer to a read may be cached; what says nothing is never stored. */
export type Keeping =
  /** No event reports its changes: catalogues. The same answer for everybody. */
  | 'for-a-time'
  /** Invalidated by events of its users, except new versions of their things. */
  | 'until-news-of-user'
  /** Invalidated by every event of its orders or of their users. */
  | 'until-news-of-order';

/** What was changed: by news of the service, or by a write of a gateway. */
export interface Change {
  /** Null when it is not known whose it is: then it may be anybody's. */
  readonly userId: string | null;
  /** The order, or another versioned thing of the user. */
  readonly orderId: string | null;
  /** A write says whose things it is about, not which of them it changes. */
  readonly by: 'news' | 'write';
}

/** The tag of an order or of another versioned thing. */
export function tagOfOrder(orderId: string): string {
  return `order ${lower(orderId)}`;
}

function tagOfUser(userId: string): string {
  return `user ${lower(userId)}`;
}

/** Whose things an answer shows, or was asked for. */
interface Shown {
  readonly userId: string | null;
  readonly orderId?: string | null | undefined;
}

export function touchedBy({ userId, orderId, by }: Change): Invalidation {
  if (!userId) return 'everything';
  const lists = [`orders of ${userId}`, 'some orders'];
  const order = orderId === null ? [] : [tagOfOrder(orderId)];
  const user = [`user ${userId}`];
  if (by === 'write') return [...user, 'some users', ...lists, ...order].map(lower);
  return (orderId === null ? user : [...lists, ...order]).map(lower);
}

/**
 * The tags of an answer: all that it shows, because that can move away, and whom it was asked about, because
 * more can come to them.
 * @param about null for a list of the whole team; undefined for one thing, which only its own changes touch
 */
export function tagsOf(
  keeping: Keeping,
  shown: readonly Shown[],
  about: Shown | null | undefined,
): readonly string[] {
  if (keeping === 'for-a-time') return [];
  const isOfOrders = keeping === 'until-news-of-order';
  const tags = new Set<string>();
  for (const { userId, orderId } of shown) {
    if (userId !== null) tags.add(tagOfUser(userId));
    if (isOfOrders && orderId) tags.add(tagOfOrder(orderId));
  }
  if (about === null) tags.add(isOfOrders ? 'some orders' : 'some users');
  else if (about?.userId) {
    tags.add(tagOfUser(about.userId));
    if (isOfOrders) tags.add(lower(`orders of ${about.userId}`));
  }
  return [...tags];
}

/** For telling other gateways; no tag holds a line break. */
export function toText(touched: Invalidation): string {
  return touched === 'everything' ? touched : touched.join('\n');
}

export function readTouched(text: string): Invalidation {
  return text === 'everything' ? text : text.split('\n');
}

function lower(name: string): string {
  return name.toLowerCase();
}
