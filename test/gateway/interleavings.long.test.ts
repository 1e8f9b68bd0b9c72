import { expect, test } from 'vitest';
import { createLoaders, type Loaders } from '../../gateway/graph/context.ts';
import { toKey } from '../../gateway/service/exchange.ts';
import { type Fault, makeWith } from '../support/replaced-parts.ts';
import { type Find, findAnswers, findReads, gather } from './isolation/interleave.ts';

let everybodys: Loaders | null = null;

const faults: readonly (Fault & { readonly find: Find })[] = [
  {
    name: 'shares reads whatever their callers may see',
    factories: { readKey: (call) => toKey(call, '') },
    find: findReads,
  },
  {
    name: 'shares reads of one path, whoever asks for whatever of it',
    factories: { readKey: (call) => toKey({ ...call, query: {} }, '') },
    find: findAnswers,
  },
  {
    name: 'keeps what one caller has loaded for the next',
    factories: {
      createLoaders: (service, work) => {
        everybodys ??= createLoaders(service, work);
        return everybodys;
      },
    },
    find: findAnswers,
  },
];

test.each(faults)(
  'a gateway that $name is found out',
  async ({ find, ...fault }) => {
    await using crowd = await gather({ make: makeWith(fault) });
    expect(await find(crowd)).not.toBeNull();
  },
  60_000,
);
