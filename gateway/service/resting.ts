import type { Rights } from '../auth/rights.ts';
import type { ReadOne, ReadPage, Write } from './calls.ts';
import { restsOn, type Touched, touchedBy } from './change.ts';
import type { Page } from './service.ts';

/** What the answer to a read of one thing rests on. What is not there for the caller is not kept. */
export function restsOnOne<T>({ keeping, owner, about }: ReadOne<T>, thing: T, rights: Rights) {
  if (keeping === undefined) return null;
  if (owner === 'anyone') return restsOn(keeping, [], about);
  const subject = owner(thing);
  return rights.owns(subject) ? restsOn(keeping, [subject], about) : null;
}

/** The same of a page; of all its rows, the caller's or not. */
export function restsOnPage<Row>({ keeping, owner, about }: ReadPage<Row>, page: Page<Row>) {
  if (keeping === undefined) return null;
  const rows = page.rows.filter((row) => row !== null);
  return restsOn(keeping, owner === 'anyone' ? [] : rows.map(owner), about ?? null);
}

/** What a write is about, and what its answer is of. */
export function touchedByWrite<T>(write: Write<T>, answer: { readonly json: unknown } | undefined): Touched {
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
