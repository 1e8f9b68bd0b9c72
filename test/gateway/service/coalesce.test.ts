import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { anyChange, type Touched } from '../../../gateway/service/change.ts';
import { type CoalescerOptions, createCoalescer, type Wanted } from '../../../gateway/service/coalesce.ts';

/** A coalescer whose reads are answered by hand; each answer is the number of its call. */
function openReads(options: CoalescerOptions = {}) {
  const coalescer = createCoalescer(options);
  const calls: { readonly signal: AbortSignal; readonly settle: PromiseWithResolvers<unknown> }[] = [];
  const ask = async (key: string, wanted: Partial<Wanted> = {}) => {
    const answered = await coalescer.share(key, {
      ...wanted,
      read: async (callSignal) => {
        const settle = Promise.withResolvers<unknown>();
        calls.push({ signal: callSignal, settle });
        return { json: { call: await settle.promise }, bytes: 1 };
      },
    });
    // As it was made just above.
    return (answered as { readonly call: unknown }).call;
  };
  const answer = (index: number) => calls[index]?.settle.resolve(index);
  return { ...coalescer, calls, ask, answer };
}

describe('equal reads', () => {
  test('in flight are one call', async () => {
    const reads = openReads();
    const answers = [reads.ask('a'), reads.ask('a'), reads.ask('b')];
    reads.answer(0);
    reads.answer(1);
    expect(await Promise.all(answers)).toEqual([0, 0, 1]);
  });

  test('one after the other are two calls outside a burst', async () => {
    const reads = openReads();
    const first = reads.ask('a');
    reads.answer(0);
    await first;
    reads.ask('a');
    expect(reads.calls).toHaveLength(2);
  });

  test('of one burst are one call, and after its end two', async () => {
    const reads = openReads();
    const endFirst = reads.begin();
    const endSecond = reads.begin();
    const first = reads.ask('a');
    reads.answer(0);
    await first;

    endFirst();
    expect(await reads.ask('a')).toBe(0);
    endSecond();

    const end = reads.begin();
    const later = reads.ask('a');
    reads.answer(1);
    expect(await later).toBe(1);
    end();
  });

  test('that come a second after the answer are two calls, even in a burst without end', async () => {
    vi.useFakeTimers();
    try {
      const reads = openReads();
      reads.begin();
      const first = reads.ask('a');
      reads.answer(0);
      await first;
      vi.advanceTimersByTime(999);
      expect(await reads.ask('a')).toBe(0);
      vi.advanceTimersByTime(1);
      reads.ask('a');
      expect(reads.calls).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('are shared for 50 ms more after a stampede, and no longer', async () => {
    vi.useFakeTimers();
    try {
      const reads = openReads();
      const ends = Array.from({ length: 8 }, () => reads.begin());
      const first = reads.ask('a');
      reads.answer(0);
      await first;
      for (const end of ends) end();
      vi.advanceTimersByTime(49);
      const end = reads.begin();
      expect(await reads.ask('a')).toBe(0);
      end();
      vi.advanceTimersByTime(50);
      reads.begin();
      reads.ask('a');
      expect(reads.calls).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test('do not share a failure once it is known', async () => {
    const reads = openReads();
    reads.begin();
    const failing = [reads.ask('a'), reads.ask('a')];
    reads.calls[0]?.settle.reject(new Error('failed'));
    expect(await Promise.allSettled(failing)).toMatchObject([
      { status: 'rejected', reason: { message: 'failed' } },
      { status: 'rejected', reason: { message: 'failed' } },
    ]);
    const again = reads.ask('a');
    reads.answer(1);
    expect(await again).toBe(1);
  });
});

describe('a change of everything', () => {
  test('lets a later read ask again, while the one under way answers those who wait for it', async () => {
    const reads = openReads();
    reads.begin();
    const before = [reads.ask('a'), reads.ask('a')];
    reads.change('everything');
    const after = [reads.ask('a'), reads.ask('a')];
    reads.answer(1);
    reads.answer(0);
    expect(await Promise.all([...before, ...after])).toEqual([0, 0, 1, 1]);
    expect(await reads.ask('a')).toBe(1);
  });

  test('drops what was answered already', async () => {
    const reads = openReads();
    reads.begin();
    const first = reads.ask('a');
    reads.answer(0);
    await first;
    reads.change('everything');
    reads.ask('a');
    expect(reads.calls).toHaveLength(2);
  });
});

describe('an answer that says what it rests on', () => {
  const kept = { takesKept: true, restsOn: () => ['order x'] } as const;

  /** Asks once and has it answered, so that it is kept. */
  async function openKept(options: CoalescerOptions = {}) {
    const reads = openReads({ keepMs: 10_000, ...options });
    const first = reads.ask('a', kept);
    reads.answer(0);
    await first;
    return reads;
  }

  test('answers whoever takes a kept one, and says so', async () => {
    const reads = await openKept();
    const how: string[] = [];
    expect(await reads.ask('a', { ...kept, onAnswered: (by) => how.push(by) })).toBe(0);
    expect(how).toEqual(['kept']);
  });

  test('answers nobody who acts on it', async () => {
    const reads = await openKept();
    reads.ask('a');
    expect(reads.calls).toHaveLength(2);
  });

  test('answers those of its burst who act on it, and nobody of the next', async () => {
    const reads = openReads({ keepMs: 10_000 });
    const end = reads.begin();
    const first = reads.ask('a', kept);
    reads.answer(0);
    await first;
    expect(await reads.ask('a')).toBe(0);
    end();

    reads.begin();
    reads.ask('a');
    expect(reads.calls).toHaveLength(2);
  });

  test('is kept for its time and no longer', async () => {
    vi.useFakeTimers();
    try {
      const reads = await openKept();
      vi.advanceTimersByTime(9999);
      expect(await reads.ask('a', kept)).toBe(0);
      vi.advanceTimersByTime(1);
      reads.ask('a', kept);
      expect(reads.calls).toHaveLength(2);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each<readonly [string, Touched, number]>([
    ['goes with a change of it', ['order x'], 2],
    ['goes with a change of everything', 'everything', 2],
    ['stays with a change of something else', ['order y', anyChange], 1],
  ])('%s', async (_name, touched, calls) => {
    const reads = await openKept();
    reads.change(touched);
    reads.ask('a', kept);
    expect(reads.calls).toHaveLength(calls);
  });

  test('is not kept when it was asked for before the change, however late it comes', async () => {
    const reads = openReads({ keepMs: 10_000 });
    const before = reads.ask('a', kept);
    reads.change(['order x']);
    reads.answer(0);
    expect(await before).toBe(0);
    reads.ask('a', kept);
    expect(reads.calls).toHaveLength(2);
  });

  test('is kept when what changed meanwhile was something else', async () => {
    const reads = openReads({ keepMs: 10_000 });
    const before = reads.ask('a', kept);
    reads.change(['order y']);
    reads.answer(0);
    await before;
    expect(await reads.ask('a', kept)).toBe(0);
  });

  test.each<readonly [string, () => readonly string[] | null]>([
    ['that is not to be kept', () => null],
    [
      'that cannot be read',
      () => {
        throw new Error('unreadable');
      },
    ],
  ])('is not kept after an answer %s', async (_name, restsOn) => {
    const reads = openReads({ keepMs: 10_000 });
    const first = reads.ask('a', { takesKept: true, restsOn });
    reads.answer(0);
    await first;
    reads.ask('a', kept);
    expect(reads.calls).toHaveLength(2);
  });

  test('makes room for others: those least recently asked for go first', async () => {
    const dropped: string[] = [];
    const bounds = { answers: 2, bytes: 100 };
    const reads = openReads({ keepMs: 10_000, bounds, onDropped: (why) => dropped.push(why) });
    for (const [index, key] of ['a', 'b'].entries()) {
      const answer = reads.ask(key, kept);
      reads.answer(index);
      await answer;
    }
    await reads.ask('a', kept);
    const third = reads.ask('c', kept);
    reads.answer(2);
    await third;
    expect(dropped).toEqual(['full']);
    expect(await Promise.all([reads.ask('a', kept), reads.ask('c', kept)])).toEqual([0, 2]);
    reads.ask('b', kept);
    expect(reads.calls).toHaveLength(4);
  });

  test('that is larger than all the room is given to those who wait, and not kept', async () => {
    const reads = openReads({ keepMs: 10_000, bounds: { answers: 10, bytes: 0 } });
    const first = reads.ask('a', kept);
    reads.answer(0);
    expect(await first).toBe(0);
    reads.ask('a', kept);
    expect(reads.calls).toHaveLength(2);
  });
});

describe('a waiter that leaves', () => {
  test('as the last one aborts the read, and the next one asks anew', async () => {
    const reads = openReads();
    const [first, second] = [new AbortController(), new AbortController()];
    const leaving = [reads.ask('a', { signal: first.signal }), reads.ask('a', { signal: second.signal })];

    first.abort(new Error('first'));
    expect(reads.calls[0]?.signal.aborted).toBe(false);
    second.abort(new Error('second'));
    expect(reads.calls[0]?.signal.aborted).toBe(true);
    const next = reads.ask('a');
    reads.answer(1);

    expect(await Promise.allSettled(leaving)).toMatchObject([
      { reason: { code: 'ABANDONED', cause: { message: 'first' } } },
      { reason: { code: 'ABANDONED', cause: { message: 'second' } } },
    ]);
    expect(await next).toBe(1);
  });

  test('leaves no listener on a signal that lives on', async () => {
    const reads = openReads();
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    const asked = reads.ask('a', { signal });
    reads.answer(0);
    await asked;
    expect(remove.mock.calls.map(([type, listener]) => [type, listener])).toEqual(
      add.mock.calls.map(([type, listener]) => [type, listener]),
    );
    expect(add).toHaveBeenCalledOnce();
  });
});

/** What may happen, in any order. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), key: fc.constantFrom('a', 'b') }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('settle' as const), at: fc.nat(20), ok: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('forget' as const, 'begin' as const, 'end' as const) }),
  },
);

test('no read is answered by a call from before a forget, or by one of other rights; in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const coalescer = createCoalescer();
      const calls: {
        readonly settle: PromiseWithResolvers<unknown>;
        readonly key: string;
        readonly era: number;
      }[] = [];
      const ends: (() => void)[] = [];
      const answers: Promise<unknown>[] = [];
      let era = 0;
      for (const event of steps) {
        if (event.kind === 'ask') {
          const { key } = event;
          const askedIn = era;
          const answer = coalescer.share(key, {
            read: async () => {
              const settle = Promise.withResolvers<unknown>();
              calls.push({ settle, key, era });
              return { json: await settle.promise, bytes: 1 };
            },
          });
          answers.push(
            answer.then(
              (call) => expect(call).toMatchObject({ key, era: askedIn }),
              (error: unknown) => expect(error).toMatchObject({ message: 'failed' }),
            ),
          );
        } else if (event.kind === 'settle') {
          const call = calls[event.at];
          if (event.ok) call?.settle.resolve({ key: call.key, era: call.era });
          else call?.settle.reject(new Error('failed'));
          await nextTurn();
        } else if (event.kind === 'forget') {
          era += 1;
          coalescer.change('everything');
        } else if (event.kind === 'begin') ends.push(coalescer.begin());
        else ends.pop()?.();
      }
      for (const { settle, key, era: madeIn } of calls) settle.resolve({ key, era: madeIn });
      await Promise.all(answers);
    }),
    { numRuns: 150 },
  );
});
