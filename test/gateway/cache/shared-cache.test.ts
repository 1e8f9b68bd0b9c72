import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Invalidation } from '../../../gateway/cache/invalidations.ts';
import {
  type LoadControl,
  SharedCache,
  type SharedCacheOptions,
  type Wanted,
} from '../../../gateway/cache/shared-cache.ts';

const ttlMs = 10_000;
/** What an entry with one tag takes besides its value. */
const overhead = 1100;

/** A cache whose loads are answered by hand; each value is the number of its load, and depends on order x. */
function openCache(options: Partial<SharedCacheOptions> = {}) {
  const cache = new SharedCache({ ttlMs, ...options });
  const loads: (LoadControl & { readonly settle: PromiseWithResolvers<void> })[] = [];
  const ask = async (
    key: string,
    { tags = ['order x'], expiresAt, size = 1, ...wanted }: Partial<Wanted<number>> & Brought = {},
  ) => {
    const { value } = await cache.get<number>(key, {
      ...wanted,
      load: async (control) => {
        const settle = Promise.withResolvers<void>();
        const value = loads.push({ ...control, settle }) - 1;
        await settle.promise;
        return { value, size, tags, ...(expiresAt === undefined ? {} : { expiresAt }) };
      },
    });
    return value;
  };
  const answer = (index: number) => loads[index]?.settle.resolve();
  /** Loads it and has it answered at once. */
  const store = async (key: string, more: Partial<Wanted<number>> & Brought = {}) => {
    const asked = ask(key, more);
    answer(loads.length - 1);
    return await asked;
  };
  return { cache, loads, ask, answer, store };
}

interface Brought {
  readonly tags?: readonly string[] | null;
  readonly expiresAt?: number;
  readonly size?: number;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('equal loads', () => {
  test('in flight are joined', async () => {
    const { ask, answer } = openCache();
    const asked = [ask('a'), ask('a'), ask('b')];
    answer(0);
    answer(1);
    expect(await Promise.all(asked)).toEqual([0, 0, 1]);
  });

  test('in flight are joined where nothing is stored, and one after the other they are not', async () => {
    const { ask, answer, loads } = openCache({ ttlMs: 0 });
    const asked = [ask('a'), ask('a')];
    answer(0);
    expect(await Promise.all(asked)).toEqual([0, 0]);
    void ask('a');
    expect(loads).toHaveLength(2);
  });

  test('one after the other are answered from the cache, and both outcomes are reported', async () => {
    const { ask, store } = openCache();
    const how: string[] = [];
    const onShared = (shared: string) => how.push(shared);
    const first = store('a', { onShared });
    expect(await ask('a', { onShared })).toBe(0);
    expect(await first).toBe(0);
    expect(await ask('a', { onShared })).toBe(0);
    expect(how).toEqual(['joined', 'cached']);
  });

  test('share a failure while it is in flight, and not once it is known', async () => {
    const { ask, answer, loads } = openCache();
    const failing = [ask('a'), ask('a')];
    loads[0]?.settle.reject(new Error('failed'));
    expect(await Promise.allSettled(failing)).toMatchObject([
      { status: 'rejected', reason: { message: 'failed' } },
      { status: 'rejected', reason: { message: 'failed' } },
    ]);
    const again = ask('a');
    answer(1);
    expect(await again).toBe(1);
  });

  test('are not stored without tags', async () => {
    const { ask, store, loads } = openCache();
    await store('a', { tags: null });
    void ask('a');
    expect(loads).toHaveLength(2);
  });
});

describe('a caller that needs a load begun after a moment', () => {
  test('is given no entry and joins no load from before it', async () => {
    const { cache, ask, store, loads } = openCache();
    await store('a');
    void ask('b');
    const since = cache.now();
    void ask('a', { since });
    void ask('b', { since });
    expect(loads).toHaveLength(4);
  });

  test('is given the entries and joins the loads from after it', async () => {
    const { cache, ask, store, answer } = openCache();
    const since = cache.now();
    await store('a');
    const first = ask('b');
    const joined = ask('b', { since });
    answer(1);
    expect([await ask('a', { since }), await first, await joined]).toEqual([0, 1, 1]);
  });

  test('replaces the older entry, and the older load in flight is not stored after it', async () => {
    const { cache, ask, answer } = openCache();
    const older = ask('a');
    const newer = ask('a', { since: cache.now() });
    answer(1);
    expect(await newer).toBe(1);
    answer(0);
    expect(await older).toBe(0);
    expect(await ask('a')).toBe(1);
  });

  test('and finds nothing to store leaves no older entry behind', async () => {
    const { cache, ask, store, loads } = openCache();
    await store('a');
    await store('a', { since: cache.now(), tags: null });
    void ask('a');
    expect(loads).toHaveLength(3);
  });
});

describe('an invalidation', () => {
  test.each<readonly [string, Invalidation, number]>([
    ['of its tag drops an entry', ['order x'], 2],
    ['of everything drops an entry', 'everything', 2],
    ['of another tag leaves it', ['order y'], 1],
  ])('%s', async (_name, invalidation, loaded) => {
    const { cache, ask, store, loads } = openCache();
    await store('a');
    cache.invalidate(invalidation);
    void ask('a');
    expect(loads).toHaveLength(loaded);
  });

  test('of everything leaves what depends on nothing', async () => {
    const { cache, ask, store } = openCache();
    await store('a', { tags: [] });
    cache.invalidate('everything');
    expect(await ask('a')).toBe(0);
  });

  test('of more than 30,000 tags makes everything from before the oldest of them out of date: what is remembered has a bound', async () => {
    const { cache, loads, ask, answer, store } = openCache();
    const invalidateTags = (count: number) => {
      for (let index = 0; index < count; index += 1) cache.invalidate([`order ${index}`]);
    };
    const few = ask('few');
    invalidateTags(30_000);
    answer(0);
    expect(await few).toBe(0);
    expect(await ask('few')).toBe(0);

    const many = ask('many');
    invalidateTags(30_001);
    answer(1);
    expect(await many).toBe(1);
    expect(await store('many')).toBe(2);
    expect(loads).toHaveLength(3);
  });

  test('is forgotten without a loss for entries that were valid after it', async () => {
    const { cache, ask, store, loads } = openCache();
    await store('a');
    const invalidateOthers = (turn: number) => {
      for (let index = 0; index < 20_000; index += 1) cache.invalidate([`order ${turn} ${index}`]);
    };
    for (const turn of [1, 2, 3]) {
      invalidateOthers(turn);
      expect(await ask('a')).toBe(0);
    }
    expect(loads).toHaveLength(1);
  });

  test('drops the entry and reports it, unless the entry had expired before', async () => {
    const dropped: string[] = [];
    const { cache, store } = openCache();
    const onDropped = (why: string) => dropped.push(why);
    await store('a', { onDropped });
    cache.invalidate(['order x']);
    expect([cache.has('a'), dropped]).toEqual([false, ['changed']]);

    await store('b', { onDropped });
    vi.advanceTimersByTime(ttlMs);
    cache.invalidate(['order x']);
    expect([cache.has('b'), dropped]).toEqual([false, ['changed']]);
  });

  test('lets a later request load again, while the load in flight answers those who wait for it', async () => {
    const { cache, ask, answer } = openCache();
    const before = [ask('a'), ask('a')];
    cache.invalidate('everything');
    const after = [ask('a'), ask('a')];
    answer(1);
    answer(0);
    expect(await Promise.all([...before, ...after])).toEqual([0, 0, 1, 1]);
    expect(await ask('a')).toBe(1);
  });

  test.each([
    ['its tag', ['order x'], 2],
    ['another tag', ['order y'], 1],
  ])('of %s while it was loaded: however late it comes', async (_name, invalidation, loaded) => {
    const { cache, ask, answer, loads } = openCache();
    const before = ask('a');
    cache.invalidate(invalidation);
    answer(0);
    expect(await before).toBe(0);
    void ask('a');
    expect(loads).toHaveLength(loaded);
  });
});

describe('an entry', () => {
  test('is given for its TTL and no longer', async () => {
    const { ask, store, loads } = openCache();
    await store('a');
    vi.advanceTimersByTime(9999);
    expect(await ask('a')).toBe(0);
    vi.advanceTimersByTime(1);
    void ask('a');
    expect(loads).toHaveLength(2);
  });

  test('expires with the first of those that it was made of', async () => {
    const { ask, store, loads } = openCache();
    await store('a', { expiresAt: performance.now() + 500 });
    vi.advanceTimersByTime(499);
    expect(await ask('a')).toBe(0);
    vi.advanceTimersByTime(1);
    void ask('a');
    expect(loads).toHaveLength(2);
  });

  test('expires together with those that were stored up to a quarter of a second later', async () => {
    const { ask, store, loads } = openCache();
    await store('a');
    vi.advanceTimersByTime(249);
    await store('b');
    vi.advanceTimersByTime(9751);
    void ask('a');
    void ask('b');
    expect(loads).toHaveLength(4);
  });

  test('leaves the memory when nobody asks again, and no timer stays behind', async () => {
    const { cache, store } = openCache();
    await store('a');
    vi.advanceTimersByTime(2 * ttlMs);
    expect([cache.has('a'), vi.getTimerCount()]).toEqual([false, 0]);
  });

  test('makes room for others when it is the least recently used', async () => {
    const dropped: string[] = [];
    const { cache, ask, store } = openCache({ maxBytes: 2 * (overhead + 1) });
    const onDropped = (why: string) => dropped.push(why);
    for (const key of ['a', 'b']) await store(key, { onDropped });
    await ask('a');
    await store('c');
    expect([cache.has('a'), cache.has('b'), cache.has('c'), dropped]).toEqual([true, false, true, ['full']]);
  });

  test('makes room for others when all of them are too large together', async () => {
    const { cache, store } = openCache({ maxBytes: 2 * overhead + 100 });
    for (const key of ['a', 'b', 'c']) await store(key, { size: 40 });
    expect(['a', 'b', 'c'].map((key) => cache.has(key))).toEqual([false, true, true]);
  });

  test('that is larger than the whole cache is given to those who wait, and not stored', async () => {
    const { cache, store } = openCache({ maxBytes: overhead + 10 });
    await store('a', { size: 5 });
    expect(await store('b', { size: 11 })).toBe(1);
    expect([cache.has('a'), cache.has('b')]).toEqual([true, false]);
  });
});

describe('a load that turns out to be for one alone', () => {
  test('lets those who joined load for themselves at once, each on its own', async () => {
    const { ask, answer, loads } = openCache();
    const first = ask('a');
    const joined = [ask('a'), ask('a')];
    loads[0]?.detach();
    await nextTurn();
    expect(loads).toHaveLength(3);
    for (const index of [2, 1, 0]) answer(index);
    expect([await first, ...(await Promise.all(joined))]).toEqual([0, 1, 2]);
  });

  test('is not joined, and not stored', async () => {
    const { ask, answer, loads } = openCache();
    const first = ask('a');
    loads[0]?.detach();
    const second = ask('a');
    expect(loads).toHaveLength(2);
    answer(0);
    await first;
    answer(1);
    await second;
    expect(await ask('a')).toBe(1);
  });
});

describe('a request that leaves', () => {
  test('as the last one aborts the load, and the next one loads anew', async () => {
    const { ask, answer, loads } = openCache();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = [ask('a', { signal: first.signal }), ask('a', { signal: second.signal })];

    first.abort(new Error('first'));
    expect(loads[0]?.signal.aborted).toBe(false);
    second.abort(new Error('second'));
    expect(loads[0]?.signal.aborted).toBe(true);
    const next = ask('a');
    answer(1);

    expect(await Promise.allSettled(leaving)).toMatchObject([
      { reason: { message: 'first' } },
      { reason: { message: 'second' } },
    ]);
    expect(await next).toBe(1);
  });

  test('before it has asked loads nothing', async () => {
    const { ask, loads } = openCache();
    await expect(ask('a', { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left');
    expect(loads).toEqual([]);
  });

  test('leaves no listener on a signal that lives on', async () => {
    const { store } = openCache();
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await store('a', { signal });
    expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
      add.mock.calls.map(([type, listener]) => [type, listener]),
    );
    expect(add).toHaveBeenCalledOnce();
  });
});

/** What may happen, in any order. */
const tags = fc.constantFrom('x', 'y');
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      key: fc.constantFrom('a', 'b'),
      isActing: fc.boolean(),
      tag: tags,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), at: fc.nat(20), ok: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('invalidate' as const), tag: tags }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const) }) },
);

interface LoadOfRun {
  readonly key: string;
  readonly tag: string;
  /** How many steps were taken before it began. */
  readonly step: number;
  readonly settle: PromiseWithResolvers<void>;
}

test('in any order of loads, failures, invalidations and expiry: nothing from before an invalidation is given after it, nor a load that began too early to a caller that acts on it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const cache = new SharedCache({ ttlMs, maxBytes: overhead + 1 });
      const loads: LoadOfRun[] = [];
      const invalidatedAt = new Map<string, number>();
      const checks: Promise<void>[] = [];
      for (const [now, event] of steps.entries()) {
        if (event.kind === 'ask') {
          const { key, isActing, tag } = event;
          const [invalidated, since] = [new Map(invalidatedAt), isActing ? cache.now() : undefined];
          const asked = cache.get<LoadOfRun>(key, {
            since,
            load: async () => {
              const load = { key, tag, step: now, settle: Promise.withResolvers<void>() };
              loads.push(load);
              await load.settle.promise;
              return { value: load, size: 1, tags: [tag] };
            },
          });
          const check = ({ value }: { readonly value: LoadOfRun }) => {
            expect(value.key).toBe(key);
            expect(value.step).toBeGreaterThan(invalidated.get(value.tag) ?? -1);
            if (isActing) expect(value.step).toBeGreaterThanOrEqual(now);
          };
          checks.push(
            asked.then(check, (error: unknown) => expect(error).toMatchObject({ message: 'failed' })),
          );
        } else if (event.kind === 'settle') {
          const load = loads[event.at];
          if (event.ok) load?.settle.resolve();
          else load?.settle.reject(new Error('failed'));
          await nextTurn();
        } else if (event.kind === 'invalidate') {
          invalidatedAt.set(event.tag, now);
          cache.invalidate([event.tag]);
        } else vi.advanceTimersByTime(ttlMs);
      }
      for (const { settle } of loads) settle.resolve();
      await Promise.all(checks);
    }),
    { numRuns: 300 },
  );
});
