import { expect, test } from 'vitest';
import { type Basis, createBasis, keepApartOnUse } from '../../../gateway/service/basis.ts';
import { type Asked, traceUpstream } from '../../../gateway/service/trace.ts';
import { json, openUpstream } from '../../support/misbehaving-service.ts';

const order = 'A3F2';
const kept = { stands: true, isKept: true, restsOn: ['user u', 'order a3f2'] };

/** A query that read one kept answer, and did this as well. */
function basisOf(more: (basis: Basis) => void = () => {}): Basis {
  const basis = createBasis({ onQuery: () => {}, onApart: () => {} });
  basis.beginQuery();
  basis.beginRead()(kept);
  more(basis);
  basis.endWell();
  return basis;
}

test('a query rests on the kept answers that it read', () => {
  expect(basisOf().restsOn()).toEqual([kept]);
  expect(basisOf((basis) => basis.beginLook(order)()).restsOn()).toEqual([kept]);
});

test.each<readonly [string, (basis: Basis) => void]>([
  ['reads what is not kept', (basis) => basis.beginRead()(null)],
  ['has a read that failed', (basis) => basis.beginRead()],
  ['asks the log of an order that nothing it read shows', (basis) => basis.beginLook('b1c4')()],
  ['asks the log in vain', (basis) => basis.beginLook(order)],
  ['does anything else', (basis) => basis.keepApart()],
])('one that %s rests on nothing that could be kept', (_name, more) => {
  expect(basisOf(more).restsOn()).toBeNull();
});

test('what is no query, or has an error in its answer, rests on nothing that could be kept', () => {
  const options = { onQuery: () => {}, onApart: () => {} };
  const [mutation, failed] = [createBasis(options), createBasis(options)];
  mutation.endWell();
  failed.beginQuery();
  expect([mutation.restsOn(), failed.restsOn()]).toEqual([null, null]);
});

test('what was told is told again once, however often the operation said it', () => {
  const told: string[] = [];
  const basis = basisOf((one) => {
    for (const key of ['a', 'b', 'a']) one.noteTold(key, () => told.push(key));
  });
  for (const tellAgain of basis.told()) tellAgain();
  expect(told).toEqual(['a', 'b']);
});

test('each use of a part that is kept apart makes the answer its own, also of what came to it later', () => {
  const uses: string[] = [];
  const basis = createBasis({ onQuery: () => {}, onApart: () => uses.push('apart') });
  const part: Record<string, string> = { known: 'of the part', other: 'other' };
  const apart = keepApartOnUse(part, basis, { known: 'noted' });
  expect([apart.known, uses]).toEqual(['noted', []]);
  part.later = 'later';
  expect([apart.other, apart.later, uses]).toEqual(['other', 'later', ['apart', 'apart']]);
});

const call = { operation: 'thing.get', method: 'GET', path: '/thing' } as const;
test.each<readonly [string, boolean, (asked: Asked) => Promise<unknown>]>([
  ['a read', false, (asked) => asked.read(call, { rights: 'team' })],
  [
    'a read that is good for one',
    true,
    (asked) => asked.read({ ...call, isSingleUse: true }, { rights: 'team' }),
  ],
  ['a write', true, (asked) => asked.write({ ...call, method: 'POST' })],
  ['a file', true, (asked) => asked.open(call, { accept: 'application/json' })],
])('whether %s makes the answer of its operation its own: %s', async (_name, isApart, ask) => {
  await using open = await openUpstream([json({})]);
  let hasKeptApart = false;
  const onApart = () => {
    hasKeptApart = true;
  };
  const { upstream, totals } = traceUpstream(open.upstream, createBasis({ onQuery: () => {}, onApart }));
  await ask(upstream);
  expect([hasKeptApart, totals().calls]).toEqual([isApart, 1]);
});
