import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { createStream, follow } from '../../../gateway/events/follow.ts';
import type { EventLog, Scope } from '../../../gateway/events/log.ts';
import { replaceMembers } from '../../support/members.ts';
import { newMessage } from '../../support/messages.ts';
import { runs } from '../../support/runs.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const mine: Scope = { userId: 'user-1' };

function openStream(log: EventLog, scope: Scope, after = 0) {
  const leaving = new AbortController();
  const stream = createStream(leaving.signal, (signal) => follow(log, scope, { after, signal }));
  return Object.assign(stream, { leave: () => leaving.abort(), signal: leaving.signal });
}

/** The next events, and the position of their reader. */
async function take(stream: ReturnType<typeof openStream>, count: number) {
  const ids: string[] = [];
  let position = 0;
  for (let index = 0; index < count; index += 1) {
    const { value } = await stream.next();
    if (value?.kind !== 'event') throw new Error(`The stream ended with ${value?.reason ?? 'nothing'}.`);
    ids.push(value.event.messageId);
    position = value.event.position;
  }
  return { ids, position };
}

describe.each(stores)('follow on $name', ({ open }) => {
  test('gives what is there, then what comes, with the payload of each', async () => {
    await using store = await open();
    await store.log.append(newMessage('a', { body: Buffer.from('{"data":{"is":"here"}}') }));
    await store.log.append(newMessage('other', { userId: 'user-2' }));
    await using stream = openStream(store.log, mine);

    const first = await stream.next();
    const second = stream.next();
    await store.log.append(newMessage('b', { body: Buffer.from('{"no":"data"}') }));

    expect(first.value).toMatchObject({ event: { messageId: 'a' }, payload: { is: 'here' } });
    expect((await second).value).toMatchObject({ event: { messageId: 'b' }, payload: null });
  });

  test('reads on through more than one batch', async () => {
    await using store = await open();
    const ids = Array.from({ length: 250 }, (_, index) => `m-${index}`);
    await Promise.all(ids.map((id) => store.log.append(newMessage(id))));
    await using stream = openStream(store.log, mine);
    expect((await take(stream, 250)).ids).toEqual(ids);
  });

  test('goes on behind messages of others and dead letters', async () => {
    await using store = await open();
    await using stream = openStream(store.log, mine);
    const next = stream.next();
    await store.log.append(newMessage('other', { userId: 'user-2' }));
    await store.log.append(newMessage('dead', { deadReason: 'unreadable', body: Buffer.from('not JSON') }));
    await store.log.append(newMessage('a'));
    expect((await next).value).toMatchObject({ event: { messageId: 'a' } });
  });

  test('gives the next event to a waiting reader, although everything before it was pruned', async () => {
    await using store = await open();
    const waiting = Promise.withResolvers<void>();
    const log = replaceMembers(store.log, {
      wake: (...args: Parameters<EventLog['wake']>) => {
        waiting.resolve();
        return store.log.wake(...args);
      },
    });
    const old = { receivedAt: new Date(0) };
    const { position } = await store.log.append(newMessage('read', old));
    await using stream = openStream(log, mine, position);
    const next = stream.next();
    await waiting.promise;

    await store.log.append(newMessage('other', { ...old, userId: 'user-2' }));
    await store.log.append(newMessage('dead', { ...old, deadReason: 'unreadable' }));
    await store.log.append(newMessage('newer', { userId: 'user-2' }));
    expect(await store.log.prune(new Date(1))).toBe(3);
    await store.log.append(newMessage('a'));

    expect((await next).value).toMatchObject({ event: { messageId: 'a' } });
  });

  test.each([
    ['beyond-end', (position: number) => position + 1],
    ['pruned', () => 0],
  ])('has a gap when history is lost, and continues with new events (%s)', async (reason, afterOf) => {
    await using store = await open();
    const { position } = await store.log.append(newMessage('a', { receivedAt: new Date(0) }));
    await store.log.prune(new Date(1));
    await using stream = openStream(store.log, mine, afterOf(position));
    expect((await stream.next()).value).toEqual({ kind: 'gap', reason, position });
    const next = stream.next();
    await store.log.append(newMessage('b'));
    expect((await next).value).toMatchObject({ event: { messageId: 'b' } });
  });

  test('has a gap where history was pruned, then gives everything that is still stored', async () => {
    await using store = await open();
    const old = { receivedAt: new Date(0) };
    const { position: after } = await store.log.append(newMessage('read', old));
    await store.log.append(newMessage('lost', old));
    await store.log.append(newMessage('other', { userId: 'user-2' }));
    const { position: next } = await store.log.append(newMessage('a'));
    await store.log.append(newMessage('b'));
    await store.log.prune(new Date(1));
    await using stream = openStream(store.log, mine, after);
    expect((await stream.next()).value).toEqual({ kind: 'gap', reason: 'pruned', position: next - 1 });
    expect((await take(stream, 2)).ids).toEqual(['a', 'b']);
  });

  test('has no other gap when the events of others behind the first one are pruned too', async () => {
    await using store = await open();
    const append = (id: string, userId: string, ms: number) =>
      store.log.append(newMessage(id, { userId, receivedAt: new Date(ms) }));
    await append('lost', 'user-1', 0);
    for (const ms of [1, 2]) await append(`other-${ms}`, 'user-2', ms);
    await store.log.prune(new Date(1));
    const first = openStream(store.log, mine, 0);
    const { value: gap } = await first.next();
    await first.return(undefined);

    await store.log.prune(new Date(3));
    await using second = openStream(store.log, mine, gap?.position ?? 0);
    const next = second.next();
    await append('mine', 'user-1', 4);
    expect([gap?.kind, (await next).value]).toMatchObject(['gap', { event: { messageId: 'mine' } }]);
  });

  test('has one gap in a second at most, however often the log has one', async () => {
    await using store = await open();
    const log = replaceMembers(store.log, {
      read: async () => ({ kind: 'gap', reason: 'pruned', through: 0 }),
    });
    await using stream = openStream(log, mine);
    const times: number[] = [];
    for (let index = 0; index < 3; index += 1) {
      expect((await stream.next()).value).toEqual({ kind: 'gap', reason: 'pruned', position: 0 });
      times.push(performance.now());
    }
    const [first = 0, second = 0, third = 0] = times;
    expect(Math.min(second - first, third - second)).toBeGreaterThan(990);
  });

  test('ends while it waits when its signal aborts, and leaves no listener', async () => {
    await using store = await open();
    const stream = openStream(store.log, mine);
    const next = stream.next();
    stream.leave();
    expect(await next).toEqual({ value: undefined, done: true });
    expect(getEventListeners(stream.signal, 'abort')).toEqual([]);
  });

  test('ends while it waits when its reader returns or throws', async () => {
    await using store = await open();
    const [returned, thrown] = [openStream(store.log, mine), openStream(store.log, mine)];
    const waiting = [returned.next(), thrown.next()];
    expect(await returned.return(undefined)).toEqual({ value: undefined, done: true });
    await expect(thrown.throw(new Error('stop'))).rejects.toThrow('stop');
    expect(await Promise.all(waiting)).toEqual(Array(2).fill({ value: undefined, done: true }));
    expect(getEventListeners(returned.signal, 'abort')).toEqual([]);
    expect(getEventListeners(thrown.signal, 'abort')).toEqual([]);
  });

  test('lets others have their turn while it catches up', async () => {
    await using store = await open();
    for (let number = 0; number < 20; number += 1) await store.log.append(newMessage(`msg-${number}`));
    const stream = openStream(store.log, mine);
    let turns = 0;
    const count = () => {
      turns += 1;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    await take(stream, 20);
    clearImmediate(turning);
    expect(turns).toBeGreaterThanOrEqual(19);
    await stream.return(undefined);
  });

  test('leaves no listener when it ends by itself', async () => {
    await using store = await open();
    await store.log.append(newMessage('a'));
    const leaving = new AbortController();
    const stream = createStream(leaving.signal, async function* (signal) {
      for await (const item of follow(store.log, mine, { after: 0, signal })) {
        yield item;
        return;
      }
    });
    expect((await stream.next()).value).toMatchObject({ event: { messageId: 'a' } });
    expect((await stream.next()).done).toBe(true);
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
  });

  test('gives each event exactly once and in order, for any times of appends and any cuts', async () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('append' as const),
        mine: fc.boolean(),
        times: fc.integer({ min: 1, max: 5 }),
      }),
      fc.record({ kind: fc.constant('repeat' as const), of: fc.nat(20) }),
      fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('cut' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await using store = await open();
        const [all, expected, seen]: [string[], string[], string[]] = [[], [], []];
        let stream = openStream(store.log, mine);
        let position = 0;
        const takeUpTo = async (count: number) => {
          const taken = await take(stream, Math.min(count, expected.length - seen.length));
          seen.push(...taken.ids);
          if (taken.ids.length > 0) position = taken.position;
        };
        const append = async (userId: string, times: number) => {
          const ids = Array.from({ length: times }, (_, index) => `m-${all.length + index}`);
          all.push(...ids);
          if (userId === 'user-1') expected.push(...ids);
          await Promise.all(ids.map((id) => store.log.append(newMessage(id, { userId }))));
        };
        const repeat = async (ids: readonly string[]) => {
          for (const id of ids) await store.log.append(newMessage(id));
        };
        const cut = async () => {
          await stream.return(undefined);
          stream = openStream(store.log, mine, position);
        };
        for (const event of steps) {
          if (event.kind === 'append') await append(event.mine ? 'user-1' : 'user-2', event.times);
          else if (event.kind === 'repeat') await repeat(all.slice(event.of, event.of + 1));
          else if (event.kind === 'take') await takeUpTo(event.count);
          else await cut();
        }
        await takeUpTo(Number.POSITIVE_INFINITY);
        await stream.return(undefined);
        expect(seen).toEqual(expected);
      }),
      { numRuns: runs(40) },
    );
  });

  test('gives a waiting reader each event once while many are appended at once', async () => {
    await using store = await open();
    await using stream = openStream(store.log, mine);
    const taking = take(stream, 300);
    const ids = Array.from({ length: 300 }, (_, index) => `m-${index}`);
    for (let index = 0; index < 300; index += 7) {
      await Promise.all(ids.slice(index, index + 7).map((id) => store.log.append(newMessage(id))));
    }
    expect((await taking).ids).toEqual(ids);
  });
});
