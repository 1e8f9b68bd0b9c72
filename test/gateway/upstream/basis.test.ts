import { expect, test } from 'vitest';
import { type Basis, createBasis } from '../../../gateway/upstream/basis.ts';

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
