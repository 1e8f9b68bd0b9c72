import { describe, expect, test } from 'vitest';
import { places } from './isolation/places.ts';
import { findStrangers, leadsFor } from './isolation/reach.ts';
import { meetPairs } from './isolation/reads.ts';
import { table } from './isolation/table.ts';
import { circlesOf, startWorld, walkMixedUp, walkReads, walkStreams } from './isolation/walks.ts';
import { findFaultsOfWrites } from './isolation/writes.ts';

describe('the table of what takes an id', () => {
  const coordinates = [...new Set(places.map(({ coordinate }) => coordinate))];

  test('has a row for every place of the schema that does', () => {
    const missing = coordinates.filter((coordinate) => table[coordinate] === undefined);
    const advice = missing.map((each) => `${each} takes an id: say in isolation/table.ts whose that is.`);
    expect(advice).toEqual([]);
  });

  test('has no row for anything else', () => {
    const gone = Object.keys(table).filter((coordinate) => !coordinates.includes(coordinate));
    expect(gone.map((each) => `${each} takes no id: take it out of isolation/table.ts.`)).toEqual([]);
  });
});

describe("over every transport, another's id is answered like one that is nobody's,", () => {
  test('by queries and subscriptions', async () => {
    expect(await Array.fromAsync(walkReads())).toEqual([]);
  });

  test('by mutations, which do nothing', async () => {
    expect(await Array.fromAsync(findFaultsOfWrites())).toEqual([]);
  });
});

test('over every transport, a stream shows nothing of the orders of others', async () => {
  expect(await Array.fromAsync(walkStreams())).toEqual([]);
});

describe('every path from their own objects', () => {
  test('leads callers to nobody else, and every field that leads to somebody is followed', async () => {
    await using lab = await startWorld();
    const circles = circlesOf(lab, await meetPairs(lab));
    const seen = new Set<string>();
    const strangers = circles.map((circle) =>
      Array.fromAsync(findStrangers(lab, circle, (coordinate) => void seen.add(coordinate))),
    );
    expect((await Promise.all(strangers)).flat()).toEqual([]);
    const leads = circles.flatMap(({ self }) => leadsFor(self).map(({ coordinate }) => coordinate));
    expect([...seen].toSorted()).toEqual([...new Set(leads)].toSorted());
  });

  test('leads callers to nobody else where the service mixes up whose orders are whose', async () => {
    expect(await Array.fromAsync(walkMixedUp())).toEqual([]);
  });
});
