/**
 * What an answer rests on, and what a change touches, in the same few words, so that a change drops exactly the
 * answers that it may have made old. Ids in lower case.
 */

/** How long the answer to a read may be kept; what says nothing is never kept beyond its burst (coalesce.ts). */
export type Keeping =
  /** What only time changes, as far as anybody tells: catalogues. The same answer for everybody. */
  | 'for-a-time'
  /** Until the service tells of its users anything that is no new version of a thing of theirs. */
  | 'until-news-of-user'
  /** Until the service tells of its orders, or of their users, anything at all. */
  | 'until-news-of-order';

/** What was changed: by news of the service, or by a write of a gateway. */
export interface Change {
  /** Null when it is not known whose it is: then it may be anybody's. */
  readonly userId: string | null;
  /** The order, or another thing of the user that is told in versions. */
  readonly orderId: string | null;
  /** A write says whose things it is about, not which of them it changes. */
  readonly by: 'news' | 'write';
}

/** Names of what a change touches; `everything` that may change at all. */
export type Touched = readonly string[] | 'everything';

/** What every change touches: an answer that rests on this outlives none. */
export const anyChange = 'any change';

/** The name of an order, or of another thing that is told in versions. */
export function nameOfOrder(orderId: string): string {
  return `order ${lower(orderId)}`;
}

function nameOfUser(userId: string): string {
  return `user ${lower(userId)}`;
}

/** Whose things an answer shows, or was asked for. */
interface Shown {
  readonly userId: string | null;
  readonly orderId?: string | null | undefined;
}

export function touchedBy({ userId, orderId, by }: Change): Touched {
  if (!userId) return 'everything';
  const lists = [`orders of ${userId}`, 'some orders'];
  const order = orderId === null ? [] : [nameOfOrder(orderId)];
  const user = [`user ${userId}`];
  if (by === 'write') return [anyChange, ...user, 'some users', ...lists, ...order].map(lower);
  return [anyChange, ...(orderId === null ? user : [...lists, ...order])].map(lower);
}

/**
 * What an answer rests on: all that it shows, because that can move away, and whom it was asked about, because
 * more can come to them.
 * @param about null for a list of the whole team; undefined for one thing, which only its own changes touch
 */
export function restsOn(
  keeping: Keeping,
  shown: readonly Shown[],
  about: Shown | null | undefined,
): readonly string[] {
  if (keeping === 'for-a-time') return [];
  const isOfOrders = keeping === 'until-news-of-order';
  const names = new Set<string>();
  for (const { userId, orderId } of shown) {
    if (userId !== null) names.add(nameOfUser(userId));
    if (isOfOrders && orderId) names.add(nameOfOrder(orderId));
  }
  if (about === null) names.add(isOfOrders ? 'some orders' : 'some users');
  else if (about?.userId) {
    names.add(nameOfUser(about.userId));
    if (isOfOrders) names.add(lower(`orders of ${about.userId}`));
  }
  return [...names];
}

/** For telling other gateways; no name holds a line break. */
export function toText(touched: Touched): string {
  return touched === 'everything' ? touched : touched.join('\n');
}

export function readTouched(text: string): Touched {
  return text === 'everything' ? text : text.split('\n');
}

export function isTouched(names: readonly string[], touched: Touched): boolean {
  if (touched === 'everything') return names.length > 0;
  return touched.some((name) => names.includes(name));
}

function lower(name: string): string {
  return name.toLowerCase();
}
