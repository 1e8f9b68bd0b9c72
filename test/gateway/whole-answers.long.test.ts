import { expect, test } from 'vitest';
import { startLab } from '../support/lab.ts';
import { plantMutant } from '../support/plant-mutant.ts';
import { findKept, memory, queriesForOne } from '../support/whole-answers.ts';

test.each([
  {
    name: 'isolates no answer',
    changes: [
      {
        file: 'gateway/service/trace.ts',
        from: '    this.forbidStoring();\n    this.#onIsolated();',
        to: 'void this.#onIsolated;',
      },
    ],
    found: ['which team it is, once it is known', 'what the log holds'],
  },
  {
    name: 'does not look whether its reads are stored',
    changes: [
      {
        file: 'gateway/service/trace.ts',
        from: 'if (tags === null) this.forbidStoring();',
        to: '',
      },
    ],
    found: ['results, of which no event tells', 'an order that is not there'],
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
