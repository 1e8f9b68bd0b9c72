import { expect, test } from 'vitest';
import { pageOrigin } from '../support/launch.ts';
import { type Mutant, plantMutant } from '../support/plant-mutant.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';
import { places } from './isolation/places.ts';
import { findFaultsOfReads, meetPairs } from './isolation/reads.ts';
import { table } from './isolation/table.ts';
import { findFaultsOfWrites, type Make } from './isolation/writes.ts';

const coordinates = [...new Set(places.map(({ coordinate }) => coordinate))];

test('every place of the schema that takes an id has its row in the table', () => {
  const missing = coordinates.filter((coordinate) => table[coordinate] === undefined);
  expect(
    missing.map(
      (each) => `${each} takes an id: say in isolation/table.ts whose that is, or why it is nobody's`,
    ),
  ).toEqual([]);
});

test('every row of the table is of a place that the schema has', () => {
  const gone = Object.keys(table).filter((coordinate) => !coordinates.includes(coordinate));
  expect(
    gone.map((each) => `isolation/table.ts has a row for ${each}, which takes no id: take it out`),
  ).toEqual([]);
});

async function startWorld(make?: Make) {
  const env = { ALLOWED_ORIGINS: pageOrigin };
  return await startSpoiltLab({ env, ...(make === undefined ? {} : { make }) });
}

async function* walkReads(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  yield* findFaultsOfReads(lab, await meetPairs(lab));
}

test('over every transport, a query or subscription answers another’s id like one that is nobody’s', async () => {
  expect(await Array.fromAsync(walkReads())).toEqual([]);
}, 60_000);

test('over every transport, a mutation answers another’s id like one that is nobody’s, and does nothing', async () => {
  expect(await Array.fromAsync(findFaultsOfWrites())).toEqual([]);
}, 60_000);

const ownerCheck = 'gateway/upstream/service.ts';
const mutants: readonly (Mutant & { readonly walk: (make: Make) => AsyncGenerator<string> })[] = [
  {
    name: 'compares no answer with who asks',
    changes: [{ file: ownerCheck, from: '    return rights.owns(subject);', to: '    return true;' }],
    walk: walkReads,
  },
  {
    name: 'writes without asking whose it is',
    changes: [
      { file: ownerCheck, from: '    return rights.owns(subject);', to: '    return true;' },
      {
        file: ownerCheck,
        from: 'return call.about === undefined || rights.owns(call.about);',
        to: 'return true;',
      },
    ],
    walk: findFaultsOfWrites,
  },
  {
    name: 'takes a token for one order as one for all of them',
    changes: [
      {
        file: 'gateway/caller/access.ts',
        from: '(orderIds === null || !subject.orderId || orderIds.includes(subject.orderId.toLowerCase())),',
        to: '(orderIds === null || subject !== null),',
      },
    ],
    walk: walkReads,
  },
];

test.each(mutants)(
  'a gateway that $name is found out',
  async ({ walk, ...mutant }) => {
    using planted = plantMutant(mutant);
    const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
    const found = await walk(createGateway).next();
    expect(found.value).toMatch(/another's|somebody else/);
  },
  60_000,
);
