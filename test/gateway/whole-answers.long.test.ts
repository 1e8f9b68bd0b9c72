import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { plantMutant } from '../support/plant-mutant.ts';
import { findKept, memory, queriesForOne } from '../support/whole-answers.ts';

test.each([
  {
    name: 'takes whatever it was not told of for harmless',
    changes: [
      {
        file: 'gateway/service/basis.ts',
        from: 'basis.keepApart();\n      const member',
        to: 'const member',
      },
      {
        file: 'gateway/service/basis.ts',
        from: '      basis.keepApart();\n      return typeof target',
        to: 'return typeof target',
      },
    ],
    found: ['which team it is, once it is known', 'what the log holds'],
  },
  {
    name: 'does not look whether its reads still stand',
    changes: [
      {
        file: 'gateway/execution/whole-answers.ts',
        from: 'every(({ stands }) => stands)',
        to: 'every(() => true)',
      },
    ],
    found: ['an order that is not there', 'a lab report of which nothing was heard'],
  },
])('a gateway that $name is found out', async ({ found, ...mutant }) => {
  using planted = plantMutant(mutant);
  const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
  await using spoilt = await startLab({ env: memory, make: createGateway });
  const queries = queriesForOne(spoilt);
  const kept = await findKept(
    spoilt,
    queries.map(([, query]) => query),
  );
  expect(queries.filter(([, query]) => kept.includes(query)).map(([name]) => name)).toEqual(found);
});
