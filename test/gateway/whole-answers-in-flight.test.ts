import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Invalidation } from '../../gateway/cache/invalidations.ts';
import { SharedCache } from '../../gateway/cache/shared-cache.ts';
import type { DirectRequest } from '../../gateway/http/direct-path.ts';
import type { DirectAnswer } from '../../gateway/http/direct-request.ts';
import { shareWholeAnswers, type WholeAnswersOptions } from '../../gateway/http/whole-answers.ts';
import { createMetrics } from '../../gateway/metrics.ts';
import type { Dependencies } from '../../gateway/service/trace.ts';

/** One run of a query, answered by hand. */
interface Run {
  readonly dependencies: Dependencies;
  readonly left: AbortSignal;
  readonly answer: (text: string) => void;
  readonly fail: () => void;
}

/** Whole answers over runs that are answered by hand. */
function openRuns(options: Partial<WholeAnswersOptions> = {}) {
  const runs: Run[] = [];
  const cache = options.cache ?? new SharedCache({ ttlMs: 0 });
  const give = shareWholeAnswers(
    {
      ...{ cache, catchUp: async () => true, waitForConnection: () => null },
      ...{ metrics: createMetrics(), charge: () => {}, documents: { waitForTurn: () => null }, ...options },
    },
    async ({ dependencies, left }) => {
      const { promise, resolve, reject } = Promise.withResolvers<DirectAnswer>();
      if (dependencies === undefined) throw new Error('Nothing notes what this answer depends on.');
      runs.push({
        ...{ dependencies, left },
        answer: (text) => resolve({ status: 200, headers: [], body: Buffer.from(text), isQuery: true }),
        fail: () => reject(new Error('failed')),
      });
      dependencies.isQuery = true;
      return await promise;
    },
  );
  const ask = async (left = new AbortController().signal, body = 'a query') => {
    const head = {
      authorization: 'Bearer a',
      origin: null,
      trace: null,
      acceptEncoding: null,
      mediaType: 'application/json',
    } as const;
    const caller = { kind: 'TEAM' } as const;
    const asking: DirectRequest = { head, caller, body: Buffer.from(body), startedAt: 0, left };
    return (await give(asking))?.body.toString();
  };
  return {
    runs,
    ask,
    invalidate: (invalidation: Invalidation) => cache.invalidate(invalidation),
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

test('one after the other they are run twice where nothing is cached', async () => {
  const queries = openRuns();
  const first = queries.ask();
  queries.runs[0]?.answer('one');
  await first;
  const second = queries.ask();
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await second).toBe('two');
});

test('those least recently used make room for others', async () => {
  const queries = openRuns({ cache: new SharedCache({ ttlMs: 10_000, maxBytes: 2500 }) });
  const run = async (body: string) => {
    const answer = queries.ask(undefined, body);
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
  ['anything was invalidated since it began', {}, ['something']],
  ['events are not received', { catchUp: async () => false }, []],
] as const)('one under way is not joined when %s', async (_name, options, invalidated) => {
  const queries = openRuns(options);
  const { first, second } = await askTwice(queries, () => {
    for (const tag of invalidated) queries.invalidate([tag]);
  });
  queries.runs[0]?.answer('older');
  queries.runs[1]?.answer('newer');
  expect(await Promise.all([first, second])).toEqual(['older', 'newer']);
});

test('an answer in flight is not joined when a change of another gateway arrives only now', async () => {
  const queries = openRuns({
    catchUp: async () => {
      queries.invalidate(['something']);
      return true;
    },
  });
  const { first, second } = await askTwice(queries);
  queries.runs[0]?.answer('older');
  queries.runs[1]?.answer('newer');
  expect(await Promise.all([first, second])).toEqual(['older', 'newer']);
});

test('those who joined ask for themselves as soon as the answer is known to be for one alone', async () => {
  const queries = openRuns();
  const { first, second } = await askTwice(queries);
  queries.runs[0]?.dependencies.isolate();
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

test('a caller that leaves takes the answer from no other caller, and the last one that leaves ends the run', async () => {
  const queries = openRuns();
  const [leader, joiner, late] = [new AbortController(), new AbortController(), new AbortController()];
  const askUntil = ({ signal }: AbortController) => queries.ask(signal).catch((reason: unknown) => reason);
  const left = [askUntil(leader), askUntil(joiner)];
  await nextTurn();
  leader.abort('left');
  expect(queries.runs[0]?.left.aborted).toBe(false);
  left.push(askUntil(late));
  await nextTurn();
  joiner.abort('left');
  expect(queries.runs[0]?.left.aborted).toBe(false);
  late.abort('left');
  expect(queries.runs[0]?.left.reason).toBe('left');
  expect(await Promise.all(left)).toEqual(['left', 'left', 'left']);

  const next = queries.ask();
  await nextTurn();
  queries.runs[1]?.answer('two');
  expect(await next).toBe('two');
});

test('a query waits for a connection unless its answer is cached or in flight', async () => {
  let free = () => {};
  let waits = 0;
  const queries = openRuns({
    cache: new SharedCache({ ttlMs: 60_000 }),
    waitForConnection: () => {
      waits += 1;
      return new Promise((resolve) => {
        free = resolve;
      });
    },
  });
  const first = queries.ask();
  await nextTurn();
  expect(queries.runs).toEqual([]);
  free();
  await nextTurn();
  const joined = queries.ask();
  await nextTurn();
  queries.runs[0]?.answer('one');

  expect([await first, await joined, await queries.ask()]).toEqual(['one', 'one', 'one']);
  expect(waits).toBe(1);
});

test('a traced query shares nothing, but takes its turn like any other', async () => {
  const turns: string[] = [];
  const give = shareWholeAnswers(
    {
      ...{ cache: new SharedCache({ ttlMs: 0 }), catchUp: () => true },
      ...{ metrics: createMetrics(), charge: () => {}, waitForConnection: () => null },
      documents: { waitForTurn: async (text) => void turns.push(String(text)) },
    },
    async ({ dependencies }) => {
      const body = Buffer.from(dependencies === undefined ? 'of its own' : 'shared');
      return { status: 200, headers: [], body, isQuery: true };
    },
  );
  const head = {
    ...{ authorization: 'Bearer a', origin: null, acceptEncoding: null },
    mediaType: 'application/json',
  } as const;
  const ask = async (trace: string | null) => {
    const [caller, left] = [{ kind: 'TEAM' } as const, new AbortController().signal];
    const body = Buffer.from(`${trace}`);
    const answer = await give({ head: { ...head, trace }, caller, body, startedAt: 0, left });
    return answer?.body.toString();
  };

  const answers = [await ask(null), await ask('else'), await ask('upstream')];

  expect(answers).toEqual(['shared', 'shared', 'of its own']);
  expect(turns).toEqual(['null', 'else', 'upstream']);
});
