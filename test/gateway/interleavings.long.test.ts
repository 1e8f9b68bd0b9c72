import { expect, test } from 'vitest';
import { type Mutant, plantMutant } from '../support/plant-mutant.ts';
import { type Find, findAnswers, findReads, gather } from './isolation/interleave.ts';

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
