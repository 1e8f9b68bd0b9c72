import type { Owner, Rights } from '../auth/rights.ts';
import type { Invalidation } from '../cache/shared-cache.ts';
import type { CachedUntil, Page, ReadOne, ReadPage, Write } from './calls.ts';

/**
 * The tags of cached answers, and the tags that a change invalidates: exactly those of the answers that it may have made
 * out of date. A subject is a versioned thing of a user, such as an order. Ids in lower case.
 */

/** A change that the service reports by an event, or that a write of a gateway makes. */
export interface Change {
  /** Null when it is not known whose it is: then it may be anybody's. */
  readonly userId: string | null;
  readonly subjectId: string | null;
  /** The owner of a write names the user, but not every subject that it changes. */
  readonly by: 'event' | 'write';
}

export function tagOfSubject(id: string): string {
  return lower(`subject ${id}`);
}

const tagOfUser = (id: string) => lower(`user ${id}`);
const tagOfSubjectsOf = (userId: string) => lower(`subjects of ${userId}`);
/** Of lists of the whole team. */
const [someUsers, someSubjects] = ['some users', 'some subjects'];

export function touchedBy({ userId, subjectId, by }: Change): Invalidation {
  if (!userId) return 'everything';
  const subject = subjectId === null ? [] : [tagOfSubject(subjectId)];
  const subjects = [tagOfSubjectsOf(userId), someSubjects, ...subject];
  if (by === 'write') return [tagOfUser(userId), someUsers, ...subjects];
  return subjectId === null ? [tagOfUser(userId)] : subjects;
}

/**
 * The tags of an answer: of everything in it, because that can move to another user, and of the owner it was asked for,
 * because more can be added there.
 * @param about null for a list of the whole team; undefined for one thing, which only its own changes touch
 */
export function tagsOf(
  until: CachedUntil,
  shown: readonly Owner[],
  about: Owner | null | undefined,
): readonly string[] {
  if (until === 'ttl') return [];
  const hasSubjects = until === 'subject-event';
  const tags = new Set<string>();
  for (const { userId, orderId } of shown) {
    if (userId !== null) tags.add(tagOfUser(userId));
    if (hasSubjects && orderId) tags.add(tagOfSubject(orderId));
  }
  if (about === null) tags.add(hasSubjects ? someSubjects : someUsers);
  else if (about?.userId) {
    tags.add(tagOfUser(about.userId));
    if (hasSubjects) tags.add(tagOfSubjectsOf(about.userId));
  }
  return [...tags];
}

/** The tags of the answer to a read of one thing; null where it is not the caller's, because that is not cached. */
export function tagsOfOne<T>({ cachedUntil, owner, about }: ReadOne<T>, thing: T, rights: Rights) {
  if (cachedUntil === undefined) return null;
  if (owner === 'anyone') return tagsOf(cachedUntil, [], about);
  const subject = owner(thing);
  return rights.owns(subject) ? tagsOf(cachedUntil, [subject], about) : null;
}

/** The tags of a page: of all its rows, the caller's or not. */
export function tagsOfPage<Row>({ cachedUntil, owner, about }: ReadPage<Row>, page: Page<Row>) {
  if (cachedUntil === undefined) return null;
  const rows = page.rows.filter((row) => row !== null);
  return tagsOf(cachedUntil, owner === 'anyone' ? [] : rows.map(owner), about ?? null);
}

/** The tags of the owner that a write names, and of the owner of its answer. */
export function touchedByWrite<T>(
  write: Write<T>,
  answer: { readonly json: unknown } | undefined,
): Invalidation {
  const owners = [write.about];
  try {
    if (answer?.json !== undefined && write.owner !== 'anyone')
      owners.push(write.owner(write.reader(answer.json)));
  } catch {
    return 'everything';
  }
  const touched = owners.map(({ userId, orderId = null }) =>
    touchedBy({ userId, subjectId: orderId, by: 'write' }),
  );
  return touched.includes('everything') ? 'everything' : touched.flat();
}

/** For other gateways; no tag holds a line break. */
export function toText(touched: Invalidation): string {
  return touched === 'everything' ? touched : touched.join('\n');
}

export function readTouched(text: string): Invalidation {
  return text === 'everything' ? text : text.split('\n');
}

function lower(tag: string): string {
  return tag.toLowerCase();
}
