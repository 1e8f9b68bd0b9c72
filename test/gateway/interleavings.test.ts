import { describe, expect, test } from 'vitest';
import { readAnew } from '../support/lab.ts';
import { type Mutant, plantMutant } from '../support/plant-mutant.ts';
import { type Crowd, countShared, countSharedByThree, findCrossing, gather } from './isolation/interleave.ts';

/** What is wrong with a gateway in which nothing of one caller may come to another; null where nothing is. */
type Find = (crowd: Crowd) => Promise<string | null>;

const findAnswers: Find = (crowd) => findCrossing(crowd, 1000);
const findReads: Find = async (crowd) => {
  const count = await countSharedByThree(crowd);
  return count === 0 ? null : `${count} reads of one caller answered another`;
};

describe('two users, and a token of the first for one order, who ask the same at the same time', () => {
  test('are each told what they are told alone, in 1,000 interleavings with leaves and webhooks', async () => {
    await using crowd = await gather();
    expect(await findAnswers(crowd)).toBeNull();
    // Or nothing was shared that could have crossed.
    expect(await countShared(crowd)).toBeGreaterThan(100);
  }, 120_000);

  test('are so where nothing is kept and all is in flight', async () => {
    await using crowd = await gather({ env: readAnew });
    expect(await findCrossing(crowd, 300)).toBeNull();
  }, 120_000);

  test('share no read of the service', async () => {
    await using crowd = await gather();
    expect(await findReads(crowd)).toBeNull();
  });
});

const loaders = 'gateway/graph/context.ts';
const sharing = { file: 'gateway/upstream/client.ts', from: 'coalescer.share(toKey(call, asked.rights),' };
const mutants: readonly (Mutant & { readonly find: Find })[] = [
  {
    name: 'shares reads whatever their callers may see',
    changes: [{ ...sharing, to: "coalescer.share(toKey(call, '')," }],
    find: findReads,
  },
  {
    name: 'shares reads of one path, whoever asks for whatever of it',
    changes: [{ ...sharing, to: "coalescer.share(toKey({ ...call, query: {} }, '')," }],
    find: findAnswers,
  },
  {
    name: 'keeps what one caller has loaded for the next',
    changes: [
      { file: loaders, from: 'let made: Map<unknown, unknown> | null = null;', to: 'let made = everybodys;' },
      {
        file: loaders,
        from: '/** Loaders that batch and remember for one operation. */',
        to: 'let everybodys: Map<unknown, unknown> | null = new Map();',
      },
    ],
    find: findAnswers,
  },
];

test.each(mutants)(
  'a gateway that $name is found out',
  async ({ find, ...mutant }) => {
    using planted = plantMutant(mutant);
    const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
    await using crowd = await gather({ make: createGateway });
    expect(await find(crowd)).not.toBeNull();
  },
  60_000,
);
