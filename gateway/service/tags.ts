import type { Rights } from '../auth/rights.ts';
import type { Invalidation } from '../cache/shared-cache.ts';
import type { Keeping, Page, ReadOne, ReadPage, Write } from './calls.ts';

/**
 * The tags of cached answers, and what a change touches, in the same few words: a change drops exactly the answers that it
 * may have made old. Ids in lower case.
 */

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

/** The tags of the answer to a read of one thing; null where it is not the caller's, because that is not cached. */
export function tagsOfOne<T>({ keeping, owner, about }: ReadOne<T>, thing: T, rights: Rights) {
  if (keeping === undefined) return null;
  if (owner === 'anyone') return tagsOf(keeping, [], about);
  const subject = owner(thing);
  return rights.owns(subject) ? tagsOf(keeping, [subject], about) : null;
}

/** The tags of a page: of all its rows, the caller's or not. */
export function tagsOfPage<Row>({ keeping, owner, about }: ReadPage<Row>, page: Page<Row>) {
  if (keeping === undefined) return null;
  const rows = page.rows.filter((row) => row !== null);
  return tagsOf(keeping, owner === 'anyone' ? [] : rows.map(owner), about ?? null);
}

/** What a write is about, and what its answer is of. */
export function touchedByWrite<T>(
  write: Write<T>,
  answer: { readonly json: unknown } | undefined,
): Invalidation {
  const subjects = [write.about];
  try {
    if (answer?.json !== undefined && write.owner !== 'anyone')
      subjects.push(write.owner(write.reader(answer.json)));
  } catch {
    return 'everything';
  }
  const touched = subjects.map(({ userId, orderId = null }) => touchedBy({ userId, orderId, by: 'write' }));
  return touched.includes('everything') ? 'everything' : touched.flat();
}

/** For other gateways; no tag holds a line break. */
export function toText(touched: Invalidation): string {
  return touched === 'everything' ? touched : touched.join('\n');
}

export function readTouched(text: string): Invalidation {
  return text === 'everything' ? text : text.split('\n');
}

function lower(name: string): string {
  return name.toLowerCase();
}
