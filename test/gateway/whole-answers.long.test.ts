import { expect, test, vi } from 'vitest';
import { Dependencies } from '../../gateway/service/trace.ts';
import { startLab } from '../support/lab.ts';
import { findCached, memory, queriesForOne } from '../support/whole-answers.ts';

const { endRead } = Dependencies.prototype;

test.each([
  {
    name: 'isolates no answer',
    plant: () => vi.spyOn(Dependencies.prototype, 'isolate').mockImplementation(() => undefined),
    found: [
      'which team it is, once it is known',
      'when the credential ends',
      'what the log holds',
      'slots, whose keys work once',
    ],
  },
  {
    name: 'does not look whether its reads are stored',
    plant: () =>
      vi.spyOn(Dependencies.prototype, 'endRead').mockImplementation(function (this: Dependencies, read) {
        endRead.call(this, { ...read, tags: read.tags ?? [] });
      }),
    found: ['results, which no event reports', 'an order that is not there'],
  },
])('a gateway that $name is found out', async ({ found, plant }) => {
  using _fault = plant();
  await using spoilt = await startLab({ env: memory });
  const queries = queriesForOne(spoilt);
  const cached = await findCached(
    spoilt,
    queries.map(([, query]) => query),
  );
  expect(queries.filter(([, query]) => cached.includes(query)).map(([name]) => name)).toEqual(found);
});
