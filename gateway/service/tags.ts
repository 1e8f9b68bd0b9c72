import type { Owner, Rights } from '../auth/rights.ts';
import type { Invalidation } from '../cache/invalidations.ts';
import type { CachedUntil, Page, ReadOne, ReadPage, Write } from './calls.ts';

/**
 * The tags of cached answers, and the tags that a change invalidates: exactly those of the answers that it may have made
 * out of date. A subject is a versioned thing of a user, such as an order. Ids in lower case.
 */

/** A change that the service reports by an event, or that a write of a gateway makes. */
export interface Change {
  /** Null when the user is not known: the change may then concern anybody. */
  readonly userId: string | null;
  readonly subjectId: string | null;
  /** The owner of a write names the user, but not every subject that the write changes. */
  readonly by: 'event' | 'write';
}

export function tagOfSubject(id: string): string {
  return lower(`subject ${id}`);
}

const tagOfUser = (id: string) => lower(`user ${id}`);
const tagOfSubjectsOf = (userId: string) => lower(`subjects of ${userId}`);
/** The tags of lists of the whole team. */
const [someUsers, someSubjects] = ['some users', 'some subjects'];

export function touchedBy({ userId, subjectId, by }: Change): Invalidation {
  if (!userId) return 'everything';
  const subject = subjectId === null ? [] : [tagOfSubject(subjectId)];
  const subjects = [tagOfSubjectsOf(userId), someSubjects, ...subject];
  if (by === 'write') return [tagOfUser(userId), someUsers, ...subjects];
  return subjectId === null ? [tagOfUser(userId)] : subjects;
}

/**
 * The tags of an answer: one for each thing in it, because it can move to another user, and one for the requested
 * owner, because things can be added there.
 * @param about null for a list of the whole team; undefined for a single thing, which only its own changes invalidate
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

/** The tags of a page: those of all its rows, including rows of other users. */
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

/** The text for other gateways. No tag contains a line break. */
export function toText(touched: Invalidation): string {
  return touched === 'everything' ? touched : touched.join('\n');
}

export function readTouched(text: string): Invalidation {
  return text === 'everything' ? text : text.split('\n');
}

function lower(tag: string): string {
  return tag.toLowerCase();
}
