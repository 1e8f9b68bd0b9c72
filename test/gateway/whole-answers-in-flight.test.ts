import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { giveWholeAnswers, type WholeAnswersOptions } from '../../gateway/execution/whole-answers.ts';
import type { PlainAnswer, PlainAsking } from '../../gateway/http/direct-answer.ts';
import { createMetrics } from '../../gateway/metrics.ts';
import type { Basis } from '../../gateway/service/basis.ts';

/** One run of a query, answered by hand. */
interface Run {
  readonly basis: Basis;
  readonly left: AbortSignal;
  readonly answer: (text: string) => void;
  readonly fail: () => void;
}

/** Whole answers over runs that are answered by hand. */
function openRuns(options: Partial<WholeAnswersOptions> = {}) {
  const runs: Run[] = [];
  let changes = 0;
  const give = giveWholeAnswers(
    {
      ...{ keepMs: 0, hearNews: async () => true, changes: () => changes },
      ...{ beginOperation: () => () => {}, metrics: createMetrics(), charge: () => {}, ...options },
    },
    async ({ basis, left }) => {
      const { promise, resolve, reject } = Promise.withResolvers<PlainAnswer>();
      if (basis === undefined) throw new Error('Nothing notes what this answer rests on.');
      runs.push({
        ...{ basis, left },
        answer: (text) => resolve({ status: 200, headers: [], body: Buffer.from(text) }),
        fail: () => reject(new Error('failed')),
      });
      basis.beginQuery();
      return await promise;
    },
  );
  const ask = async (left = new AbortController().signal, body = 'a query') => {
    const head = {
      authorization: 'Bearer a',
      origin: null,
      trace: null,
      mediaType: 'application/json',
    } as const;
    const asking: PlainAsking = { head, caller: { kind: 'TEAM' }, body: Buffer.from(body), left };
    return (await give(asking))?.body.toString();
  };
  return {
    runs,
    ask,
    change: () => {
      changes += 1;
    },
  };
}

/** Asks a second time and lets it join, or not. */
async function askTwice(queries: ReturnType<typeof openRuns>, between: () => void = () => {}) {
  const first = queries.ask();
  between();
  const second = queries.ask();
  await nextTurn();
  return { first, second };
}

test('equal queries at the same time are run once', async () => {
  const queries = openRuns();
  const { first, second } = await askTwice(queries);
  const other = queries.ask(undefined, 'another query');
  await nextTurn();
  queries.runs[0]?.answer('one');
  queries.runs[1]?.answer('other');
  expect(await Promise.all([first, second, other])).toEqual(['one', 'one', 'other']);
  expect(queries.runs).toHaveLength(2);
});

test('one after the other they are run twice where nothing is kept', async () => {
  const queries = openRuns();
  const first = queries.ask();
  queries.runs[0]?.answer('one');
  await first;
  const second = queries.ask();
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await second).toBe('two');
});

test('those least recently asked for make room for others', async () => {
  const queries = openRuns({ keepMs: 10_000, bounds: { answers: 2, bytes: 100_000 } });
  const run = async (body: string) => {
    const answer = queries.ask(undefined, body);
    queries.runs.at(-1)?.basis.endWell();
    queries.runs.at(-1)?.answer(body);
    await answer;
  };
  for (const body of ['a', 'b', 'a', 'c']) await run(body);
  expect(queries.runs).toHaveLength(3);
  for (const body of ['a', 'c']) await run(body);
  expect(queries.runs).toHaveLength(3);
  await run('b');
  expect(queries.runs).toHaveLength(4);
});

test.each([
  ['something was told to have changed since it began', {}, 'change'],
  ['news are not heard', { hearNews: async () => false }, null],
] as const)('one under way is not joined when %s', async (_name, options, change) => {
  const queries = openRuns(options);
  const { first, second } = await askTwice(queries, () => change && queries[change]());
  queries.runs[0]?.answer('older');
  queries.runs[1]?.answer('newer');
  expect(await Promise.all([first, second])).toEqual(['older', 'newer']);
});

test('one under way is not joined when another gateway knows of a change that is told only now', async () => {
  const queries = openRuns({
    hearNews: async () => {
      queries.change();
      return true;
    },
  });
  const { first, second } = await askTwice(queries);
  queries.runs[0]?.answer('older');
  queries.runs[1]?.answer('newer');
  expect(await Promise.all([first, second])).toEqual(['older', 'newer']);
});

test('one that has been under way for a second is not joined', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const queries = openRuns();
    const { first, second } = await askTwice(queries, () => vi.advanceTimersByTime(1000));
    queries.runs[0]?.answer('older');
    queries.runs[1]?.answer('newer');
    expect(await Promise.all([first, second])).toEqual(['older', 'newer']);
  } finally {
    vi.useRealTimers();
  }
});

test('those who joined ask for themselves as soon as the answer is known to be for one alone', async () => {
  const queries = openRuns();
  const { first, second } = await askTwice(queries);
  queries.runs[0]?.basis.keepApart();
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await second).toBe('two');
  queries.runs[0]?.answer('one');
  expect(await first).toBe('one');
});

test('those who joined one that fails ask for themselves', async () => {
  const queries = openRuns();
  const { first, second } = await askTwice(queries);
  const failed = expect(first).rejects.toThrow('failed');
  queries.runs[0]?.fail();
  await failed;
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await second).toBe('two');
});

test('whoever leaves takes the answer from nobody, and the last one who leaves ends the run', async () => {
  const queries = openRuns();
  const [leader, joiner, late] = [new AbortController(), new AbortController(), new AbortController()];
  void queries.ask(leader.signal);
  void queries.ask(joiner.signal);
  await nextTurn();
  leader.abort('left');
  expect(queries.runs[0]?.left.aborted).toBe(false);
  void queries.ask(late.signal);
  await nextTurn();
  joiner.abort('left');
  expect(queries.runs[0]?.left.aborted).toBe(false);
  late.abort('left');
  expect(queries.runs[0]?.left.reason).toBe('left');

  const next = queries.ask();
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await next).toBe('two');
});
