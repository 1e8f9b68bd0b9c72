import type { Rights } from '../auth/rights.ts';
import type { Invalidation } from '../cache/shared-cache.ts';
import type { ReadOne, ReadPage, Write } from './calls.ts';
import { tagsOf, touchedBy } from './change.ts';
import type { Page } from './service.ts';

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
