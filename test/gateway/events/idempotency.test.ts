import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { GatewayError } from '../../../gateway/errors.ts';
import { type Attempt, Idempotency } from '../../../gateway/events/idempotency.ts';
import { endRedis, openRedis, stores } from './stores.ts';

afterAll(endRedis);

const lost = new GatewayError('UPSTREAM_TIMEOUT', 'No answer.');

/** An attempt that counts what it does; by default it succeeds, and there is nothing to recover. */
function newAttempt(more: Partial<Attempt> = {}) {
  const perform = vi.fn(more.perform ?? (async () => ({ id: 'kit-1' })));
  const recover = vi.fn(more.recover ?? (async () => null));
  return { key: 'key', fingerprint: 'print', unreadable: 'nobody can read it', ...more, perform, recover };
}

async function fail(error: unknown): Promise<never> {
  throw error;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(stores)('a claim on a key in $name', ({ open }) => {
  test('that never settled is claimed anew by one only, and not once it has settled', async () => {
    await using store = await open();
    const { idempotencyRecords } = store;
    await idempotencyRecords.begin('key', 'print');
    const earlier = await idempotencyRecords.begin('key', 'print');
    if (earlier.kind !== 'unsettled') throw new Error(`It is ${earlier.kind}.`);
    expect(await Promise.all([1, 2, 3].map(() => idempotencyRecords.reclaim('key', earlier.since)))).toEqual([
      true,
      false,
      false,
    ]);
    const later = await idempotencyRecords.begin('key', 'print');
    if (later.kind !== 'unsettled') throw new Error(`It is ${later.kind}.`);
    expect(later.since.getTime()).toBeGreaterThan(earlier.since.getTime());
    await idempotencyRecords.finish('key', { id: 1 });
    expect(await idempotencyRecords.reclaim('key', later.since)).toBe(false);
    expect(await idempotencyRecords.begin('key', 'print')).toEqual({ kind: 'finished', answer: { id: 1 } });
    expect(await idempotencyRecords.reclaim('unknown', later.since)).toBe(false);
  });
});

test.each([
  ['ahead of', 61_000],
  ['behind', -600_000],
])(
  'A claim in Redis stays for a minute at a gateway whose clock is %s that of the first one',
  async (_, ms) => {
    await using store = await openRedis();
    const { idempotencyRecords } = store;
    await idempotencyRecords.begin('key', 'print');
    vi.setSystemTime(Date.now() + ms);
    const attempt = newAttempt();
    const outcome: unknown = await new Idempotency(idempotencyRecords).run(attempt).catch((error) => error);
    expect(outcome).toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED' });
    expect(Object(outcome).retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(attempt.perform).not.toHaveBeenCalled();
  },
);

describe.each(stores)('an effect in $name', ({ open }) => {
  test('belongs to the first attempt that holds it, in another process too', async () => {
    await using store = await open();
    const [one, two] = [1, 2].map(() => new Idempotency(store.idempotencyRecords));
    const held = [];
    for (const key of ['key', 'other', 'key']) held.push(await one?.hold('order 1', key));
    expect(held).toEqual([true, false, true]);
    expect(await two?.isOfAnother('order 1', 'key')).toBe(false);
    expect(await two?.isOfAnother('order 1', 'other')).toBe(true);
    expect(await two?.isOfAnother('order 2', 'other')).toBe(false);
    expect(await two?.hold('order 2', 'key')).toBe(true);
  });
});

describe.each(stores)('idempotency records in $name', ({ open }) => {
  test('perform a write once: a repeated one gets the first answer, in another process too', async () => {
    await using store = await open();
    const first = newAttempt();
    const repeated = newAttempt();

    const answers = [
      await new Idempotency(store.idempotencyRecords).run(first),
      await new Idempotency(store.idempotencyRecords).run(repeated),
    ];

    expect(answers).toEqual(Array(2).fill({ kind: 'answer', answer: { id: 'kit-1' } }));
    expect(first.perform).toHaveBeenCalledOnce();
    expect(repeated.perform).not.toHaveBeenCalled();
  });

  test('never perform again what the service said is done, though its answer cannot be read', async () => {
    await using store = await open();
    const unreadable = new GatewayError('UPSTREAM_UNREADABLE', 'Not JSON.', { status: 200 });
    const first = newAttempt({ perform: () => fail(unreadable) });
    const later = newAttempt();

    const answers = [
      await new Idempotency(store.idempotencyRecords).run(first),
      await new Idempotency(store.idempotencyRecords).run(later),
    ];

    expect(answers).toEqual(Array(2).fill({ kind: 'answer', answer: 'nobody can read it' }));
    expect(later.perform).not.toHaveBeenCalled();
  });

  test('perform different keys each', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const all = ['one', 'two'].map((key) => newAttempt({ key, perform: async () => key }));
    expect(await Promise.all(all.map((attempt) => idempotency.run(attempt)))).toEqual([
      { kind: 'answer', answer: 'one' },
      { kind: 'answer', answer: 'two' },
    ]);
  });

  test('refuse a key that was used with another input, during the first and after it', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const other = newAttempt({ fingerprint: 'another' });

    const running = idempotency.run(newAttempt());
    expect(await idempotency.run(other)).toEqual({ kind: 'conflict' });
    await running;
    expect(await idempotency.run(other)).toEqual({ kind: 'conflict' });

    expect(other.perform).not.toHaveBeenCalled();
  });

  test('let one that comes during the first join it', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const answer = Promise.withResolvers<unknown>();
    const [first, second] = [newAttempt({ perform: () => answer.promise }), newAttempt()];

    const outcomes = [idempotency.run(first), idempotency.run(second)];
    answer.resolve({ id: 'kit-1' });

    expect(await Promise.all(outcomes)).toEqual(Array(2).fill({ kind: 'answer', answer: { id: 'kit-1' } }));
    expect(second.perform).not.toHaveBeenCalled();
  });

  test('free the key when there was nothing to do it to', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    expect(await idempotency.run(newAttempt({ perform: async () => null }))).toEqual({ kind: 'nothing' });
    expect(await idempotency.run(newAttempt({ fingerprint: 'another' }))).toMatchObject({ kind: 'answer' });
  });

  test.each([
    ['a refusal', new GatewayError('UPSTREAM_REJECTED', 'No.', { status: 422 })],
    ['a missing permission', new GatewayError('UPSTREAM_FORBIDDEN', 'No.', { status: 403 })],
    ['a wrong key', new GatewayError('UPSTREAM_UNAUTHORIZED', 'No.', { status: 401 })],
    ['a limit', new GatewayError('UPSTREAM_RATE_LIMITED', 'Later.', { status: 429 })],
    ['a call that never left', new GatewayError('UPSTREAM_UNAVAILABLE', 'Gone.', { notSent: true })],
  ])('free the key after %s, without looking for what was done', async (_name, error) => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const refused = newAttempt({ perform: () => fail(error) });

    await expect(idempotency.run(refused)).rejects.toBe(error);

    expect(refused.recover).not.toHaveBeenCalled();
    expect(await idempotency.run(newAttempt({ fingerprint: 'another' }))).toMatchObject({ kind: 'answer' });
  });

  test('find what a lost answer had done, at once', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const attempt = newAttempt({ perform: () => fail(lost), recover: async () => ({ id: 'kit-7' }) });
    const found = { kind: 'answer', answer: { id: 'kit-7' } };
    const repeated = newAttempt();

    expect(await idempotency.run(attempt)).toEqual(found);
    expect(await idempotency.run(repeated)).toEqual(found);

    expect(repeated.perform).not.toHaveBeenCalled();
  });

  test('free the key when the service failed and shows nothing done', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const failed = new GatewayError('UPSTREAM_UNAVAILABLE', 'Failed.', { status: 500 });

    await expect(idempotency.run(newAttempt({ perform: () => fail(failed) }))).rejects.toEqual(
      failed.withOutcome(false),
    );

    expect(await idempotency.run(newAttempt())).toMatchObject({ kind: 'answer' });
  });

  test.each([
    ['no answer', lost],
    [
      'an answer of a proxy, not of the service',
      new GatewayError('UPSTREAM_UNAVAILABLE', '', { status: 504 }),
    ],
    ['another of a proxy', new GatewayError('UPSTREAM_UNAVAILABLE', '', { status: 502 })],
    ['a fault of our own', new TypeError('bug')],
  ])('are unsettled for a minute after %s: nobody repeats what may still be done', async (_name, error) => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const early = newAttempt();
    await expect(idempotency.run(newAttempt({ perform: () => fail(error) }))).rejects.toBe(error);

    await store.passTime(45_000);
    await expect(idempotency.run(early)).rejects.toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED' });
    expect(early.perform).not.toHaveBeenCalled();

    await store.passTime(15_000);
    expect(await idempotency.run(newAttempt())).toMatchObject({ kind: 'answer' });
  });

  test('stay unsettled after a failure that nobody can look behind', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const failed = new GatewayError('UPSTREAM_UNAVAILABLE', 'Failed.', { status: 500 });
    const blind = { ...newAttempt({ perform: () => fail(failed) }), recover: null };

    await expect(idempotency.run(blind)).rejects.toBe(failed);

    await expect(idempotency.run({ ...newAttempt(), recover: null })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_UNSETTLED',
      mayBeDone: true,
    });
  });

  test('are never repeated after a yes that cannot be read, even where nobody can look', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const unreadable = new GatewayError('UPSTREAM_UNREADABLE', 'Yes.', { status: 200 });
    const blind = newAttempt({ perform: () => fail(unreadable), recover: () => fail(lost) });

    const outcome = { kind: 'answer', answer: blind.unreadable };
    expect(await idempotency.run(blind)).toEqual(outcome);

    await store.passTime(61_000);
    expect(await idempotency.run(newAttempt())).toEqual(outcome);
  });

  test('say how long they stay unsettled', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const startedAt = performance.now();
    await idempotency.run(newAttempt({ perform: () => fail(lost) })).catch(() => {});
    await store.passTime(20_000);
    const error: unknown = await idempotency.run(newAttempt()).catch((thrown) => thrown);
    const { retryAfterMs } = Object(error);
    expect(retryAfterMs).toBeLessThanOrEqual(40_000);
    // The clock of Redis goes on meanwhile.
    expect(retryAfterMs).toBeGreaterThanOrEqual(Math.floor(40_000 - (performance.now() - startedAt)));
  });

  test('are settled by what turns up later', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    await idempotency.run(newAttempt({ perform: () => fail(lost) })).catch(() => {});
    const later = newAttempt({ recover: async () => ({ id: 'kit-7' }) });
    expect(await idempotency.run(later)).toEqual({ kind: 'answer', answer: { id: 'kit-7' } });
    expect(later.perform).not.toHaveBeenCalled();
  });

  test('are unsettled for a minute again when a second try is lost as well', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const lose = () => idempotency.run(newAttempt({ perform: () => fail(lost) }));
    await expect(lose()).rejects.toBe(lost);
    await store.passTime(61_000);
    await expect(lose()).rejects.toBe(lost);

    const third = newAttempt();
    await expect(idempotency.run(third)).rejects.toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED' });

    expect(third.perform).not.toHaveBeenCalled();
  });

  test('stay unsettled when the service cannot be asked what was done', async () => {
    await using store = await open();
    const idempotency = new Idempotency(store.idempotencyRecords);
    const failed = new GatewayError('UPSTREAM_UNAVAILABLE', 'Failed.', { status: 500 });
    const blind = newAttempt({ perform: () => fail(failed), recover: () => fail(lost) });

    await expect(idempotency.run(blind)).rejects.toBe(failed);

    await expect(idempotency.run(newAttempt())).rejects.toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED' });
    await expect(idempotency.run(newAttempt({ recover: () => fail(lost) }))).rejects.toEqual(
      lost.withOutcome(true),
    );
  });
});
