import { expect, test } from 'vitest';
import { createLoaders, type Loaders } from '../../gateway/graph/context.ts';
import { toKey } from '../../gateway/service/exchange.ts';
import { type Fault, makeWith } from '../support/replaced-parts.ts';
import { countShared, type Find, findAnswers, findReads, gather } from './isolation/interleave.ts';

let everybodys: Loaders | null = null;

const faults: readonly (Fault & { readonly find: Find })[] = [
  {
    name: 'shares reads between callers with different rights',
    factories: { readKey: (call) => toKey(call, '') },
    find: findReads,
  },
  {
    name: 'shares reads of one path with different queries',
    factories: { readKey: (call) => toKey({ ...call, query: {} }, '') },
    find: findAnswers,
  },
  {
    name: 'gives what one caller has loaded to the next',
    factories: {
      createLoaders: (service, work) => {
        everybodys ??= createLoaders(service, work);
        return everybodys;
      },
    },
    find: findAnswers,
  },
];

test('two users and a token for one order are each answered as if alone, in 1,000 interleavings', async () => {
  await using crowd = await gather();
  expect(await findAnswers(crowd)).toBeNull();
  // Or nothing was shared that could have crossed.
  expect(await countShared(crowd)).toBeGreaterThan(100);
});

test.each(faults)(
  'a gateway that $name is found out',
  async ({ find, ...fault }) => {
    await using crowd = await gather({ make: makeWith(fault) });
    expect(await find(crowd)).not.toBeNull();
  },
  60_000,
);
