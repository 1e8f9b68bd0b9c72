import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { EventLog, NewMessage, Scope } from '../../../gateway/events/log.ts';
import { newMessage, storedEvent } from '../../support/messages.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const order = (version: number, id = 'order-1') => ({ id, version });
const forever = () => new AbortController().signal;
const dayMs = 86_400_000;

async function appendAll(log: EventLog, messages: readonly NewMessage[]) {
  return await Promise.all(messages.map((message) => log.append(message)));
}

/** The ids of the events of a scope, oldest first. */
async function idsOf(log: EventLog, scope: Scope, after = 0): Promise<readonly string[]> {
  const batch = await log.read(scope, after, 100);
  return batch.kind === 'gap' ? [batch.reason] : batch.events.map(({ messageId }) => messageId);
}

async function nextMillisecond(): Promise<Date> {
  const now = Date.now();
  while (Date.now() === now) await nextTurn();
  return new Date();
}

describe.each(stores)('the event log in $name', ({ open }) => {
  describe('append', () => {
    test('gives growing positions, and reads return the stored messages', async () => {
      await using store = await open();
      const messages = [
        newMessage('a', { subject: order(Number.MAX_SAFE_INTEGER), origin: 'reconciled' }),
        newMessage('b', { userId: null, clientUserId: null, teamId: null }),
        newMessage('c', {
          clientUserId: "Zoë 👩‍🔬 '; DROP TABLE events",
          body: Buffer.from([0xff, 0, 0x27]),
        }),
        newMessage('d', { body: Buffer.alloc(0), type: 'a\u0000b' }),
      ];

      const appended = await appendAll(store.log, messages);

      expect(appended.map(({ duplicate, altered }) => [duplicate, altered])).toEqual(
        Array(4).fill([false, false]),
      );
      const positions = appended.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((one, two) => one - two));
      expect(new Set(positions).size).toBe(4);
      expect(await store.log.read({}, 0, 100)).toEqual({
        kind: 'events',
        events: messages.map((message, index) => storedEvent(message, positions[index] ?? -1)),
        through: await store.log.position(),
      });
    });

    test('stores a message once, whether it is repeated at once or later', async () => {
      await using store = await open();
      const [first, second] = await appendAll(store.log, [newMessage('a'), newMessage('a')]);
      const third = await store.log.append(newMessage('a'));
      const repeated = { position: first?.position, duplicate: true, altered: false };
      expect([second, third]).toEqual([repeated, repeated]);
      expect(await idsOf(store.log, {})).toEqual(['a']);
      expect(await store.log.position()).toBe(first?.position);
    });

    test('retains the first body when the same id comes with another', async () => {
      await using store = await open();
      const original = newMessage('a', { body: Buffer.from('first') });
      const { position } = await store.log.append(original);
      const altered = newMessage('a', { body: Buffer.from('other'), userId: 'user-2', subject: order(9) });

      expect(await store.log.append(altered)).toEqual({ position, duplicate: true, altered: true });

      expect(await store.log.read({}, 0, 10)).toMatchObject({ events: [storedEvent(original, position)] });
      expect(await store.log.latest('order-1')).toBeNull();
    });
  });

  describe('read', () => {
    const messages = [
      newMessage('1', { userId: 'user-1', subject: order(1), type: 'created' }),
      newMessage('2', { userId: 'user-2', subject: order(1, 'order-2'), type: 'created' }),
      newMessage('3', { userId: 'user-1', type: 'note' }),
      newMessage('4', { userId: 'user-1', subject: order(2), deadReason: 'other-team', type: 'updated' }),
      newMessage('5', { userId: 'user-1', subject: order(3), type: 'updated' }),
      newMessage('6', { userId: 'user-1', subject: order(2), type: 'updated' }),
      newMessage('7', { userId: 'user-1', subject: order(3), type: 'updated' }),
      newMessage('8', { userId: 'user-2', subject: order(4), type: 'updated' }),
      newMessage('9', { userId: null, deadReason: 'unreadable', type: 'unreadable' }),
    ];

    test.each<readonly [string, Scope, readonly string[]]>([
      ['everything but dead letters', {}, ['1', '2', '3', '5', '6', '7', '8']],
      ['one user', { userId: 'user-1' }, ['1', '3', '5', '6', '7']],
      ['nobody', { userId: 'user-3' }, []],
      ['one subject', { subject: 'order-1' }, ['1', '5', '6', '7', '8']],
      ['a subject of a user', { userId: 'user-2', subject: 'order-1' }, ['8']],
      ['a type', { types: ['created'] }, ['1', '2']],
      ['types', { types: ['created', 'note'] }, ['1', '2', '3']],
      ['no types', { types: [] }, []],
      ['a type of a user', { userId: 'user-1', types: ['updated', 'none'] }, ['5', '6', '7']],
      ['changes, not late or repeated versions', { changesOnly: true }, ['1', '2', '5', '8']],
      ['changes of a subject', { subject: 'order-1', changesOnly: true }, ['1', '5', '8']],
      ['changes of a user', { userId: 'user-1', changesOnly: true }, ['1', '5']],
      ['changes of a type', { types: ['created'], changesOnly: true }, ['1', '2']],
      [
        'all parts at once',
        { userId: 'user-1', subject: 'order-1', types: ['updated'], changesOnly: true },
        ['5'],
      ],
    ])('of %s', async (_name, scope, ids) => {
      await using store = await open();
      await appendAll(store.log, messages);
      expect(await idsOf(store.log, scope)).toEqual(ids);
    });

    test('gives 4 MiB of bodies at once, and goes on from `through`', async () => {
      await using store = await open();
      const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
      await appendAll(
        store.log,
        ids.map((id) => newMessage(id, { body: Buffer.alloc(1024 * 1024) })),
      );

      const first = await store.log.read({}, 0, 100);
      if (first.kind === 'gap') throw new Error(first.reason);
      const rest = await idsOf(store.log, {}, first.through);

      expect([first.events.map(({ messageId }) => messageId), rest]).toEqual([ids.slice(0, 4), ['e', 'f']]);
    });

    test('goes on from `through`, and sees each event once with any limit', async () => {
      await using store = await open();
      await appendAll(store.log, messages);
      const head = await store.log.position();
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 9 }), async (limit) => {
          const seen: string[] = [];
          let after = 0;
          while (after < head) {
            const batch = await store.log.read({ userId: 'user-1' }, after, limit);
            if (batch.kind === 'gap') throw new Error(batch.reason);
            expect(batch.events.length).toBeLessThanOrEqual(limit);
            expect(batch.through).toBeGreaterThan(after);
            seen.push(...batch.events.map(({ messageId }) => messageId));
            after = batch.through;
          }
          expect(seen).toEqual(['1', '3', '5', '6', '7']);
          expect(after).toBe(head);
        }),
      );
    });

    test('says how far it looked even when nothing matched', async () => {
      await using store = await open();
      await appendAll(store.log, messages);
      const through = await store.log.position();
      const nothing = { kind: 'events', events: [], through };
      expect(await store.log.read({ userId: 'user-3' }, 0, 10)).toEqual(nothing);
      expect(await store.log.read({}, through, 10)).toEqual(nothing);
    });

    test('of an empty log is empty, and its position 0', async () => {
      await using store = await open();
      expect(await store.log.position()).toBe(0);
      expect(await store.log.read({}, 0, 10)).toEqual({ kind: 'events', events: [], through: 0 });
    });

    test('after a place beyond the end is a gap', async () => {
      await using store = await open();
      const { position } = await store.log.append(newMessage('a'));
      expect(await store.log.read({}, position + 1, 10)).toEqual({ kind: 'gap', reason: 'beyond-end' });
    });
  });

  describe('latest', () => {
    test('is the highest version seen, its place and its user', async () => {
      await using store = await open();
      const [, , third] = await appendAll(store.log, [
        newMessage('1', { subject: order(1) }),
        newMessage('2', { subject: order(9), deadReason: 'other-team' }),
        newMessage('3', { subject: order(3), userId: 'user-2' }),
        newMessage('4', { subject: order(2) }),
        newMessage('5', { subject: order(3), userId: 'user-3' }),
      ]);
      expect(await store.log.latest('order-1')).toEqual({
        version: 3,
        position: third?.position,
        userId: 'user-2',
      });
      expect(await store.log.latest('order-2')).toBeNull();
    });

    test('is known of several subjects at once, in their order', async () => {
      await using store = await open();
      await appendAll(store.log, [newMessage('1', { subject: order(7) })]);
      expect(await store.log.latestOf(['none', 'order-1'])).toMatchObject([null, { version: 7 }]);
      expect(await store.log.latestOf([])).toEqual([]);
    });
  });

  describe('changedSince', () => {
    test('names the subjects of a user that have changed since a time, each once', async () => {
      await using store = await open();
      const since = new Date();
      const receivedAt = await nextMillisecond();
      await appendAll(store.log, [
        newMessage('1', { receivedAt, subject: { id: 'order-old', version: 1 } }),
        newMessage('2', { receivedAt }),
      ]);
      const sinceThen = await nextMillisecond();
      const now = { receivedAt: await nextMillisecond() };
      await appendAll(store.log, [
        newMessage('3', { ...now, subject: order(5) }),
        newMessage('4', { ...now, subject: order(6) }),
        newMessage('5', { ...now, subject: { id: 'order-old', version: 1 } }),
        newMessage('6', { ...now, subject: { id: 'order-dead', version: 1 }, deadReason: 'other-team' }),
        newMessage('7', { ...now, subject: { id: 'order-theirs', version: 1 }, userId: 'user-2' }),
      ]);
      expect(await store.log.changedSince('user-1', sinceThen)).toEqual(['order-1']);
      const all = await store.log.changedSince('user-1', since);
      expect(all.toSorted()).toEqual(['order-1', 'order-old']);
      expect(await store.log.changedSince('nobody', new Date(0))).toEqual([]);
    });
  });

  describe('claim', () => {
    test('reports the owner of a subject before any message of it came', async () => {
      await using store = await open();
      await store.log.claim('report-1', { userId: 'user-1', version: 0 });
      expect(await store.log.latest('report-1')).toEqual({ version: 0, position: 0, userId: 'user-1' });
      expect(await idsOf(store.log, {})).toEqual([]);
    });

    test('gives way to a message that names a user, and outlives one that names none', async () => {
      await using store = await open();
      await store.log.claim('order-1', { userId: 'user-1', version: 0 });
      await store.log.append(newMessage('1', { subject: order(1), userId: null }));
      expect(await store.log.latest('order-1')).toMatchObject({ version: 1, userId: 'user-1' });
      await store.log.append(newMessage('2', { subject: order(2), userId: 'user-2' }));
      expect(await store.log.latest('order-1')).toMatchObject({ version: 2, userId: 'user-2' });
    });

    test('changes nothing about a subject that is known', async () => {
      await using store = await open();
      await store.log.append(newMessage('1', { subject: order(1), userId: 'user-1' }));
      await store.log.claim('order-1', { userId: 'user-2', version: 0 });
      await store.log.claim('order-2', { userId: 'user-1', version: 0 });
      await store.log.claim('order-2', { userId: 'user-2', version: 0 });
      expect(await store.log.latest('order-1')).toMatchObject({ version: 1, userId: 'user-1' });
      expect(await store.log.latest('order-2')).toMatchObject({ version: 0, userId: 'user-1' });
    });
  });

  describe('a claim with a version', () => {
    test('makes older and equal messages history, and newer ones changes', async () => {
      await using store = await open();
      await store.log.claim('order-1', { userId: 'user-1', version: 5 });
      await appendAll(
        store.log,
        [4, 5, 6].map((version) => newMessage(`${version}`, { subject: order(version) })),
      );
      expect(await idsOf(store.log, { changesOnly: true })).toEqual(['6']);
      expect(await store.log.latest('order-1')).toMatchObject({ version: 6 });
    });
  });

  describe('what was found by comparing with the service', () => {
    const found = (id: string, version: number, userId: string) =>
      newMessage(id, { subject: order(version), userId, origin: 'reconciled' });

    test('is a change where it is newer, and makes a webhook that comes late history', async () => {
      await using store = await open();
      await appendAll(store.log, [
        newMessage('1', { subject: order(1) }),
        found('found', 3, 'user-1'),
        newMessage('2', { subject: order(2) }),
        newMessage('3', { subject: order(3) }),
        newMessage('4', { subject: order(4) }),
      ]);
      expect(await idsOf(store.log, { changesOnly: true })).toEqual(['1', 'found', '4']);
    });

    test('is a change at the same version only when the subject moved to another user', async () => {
      await using store = await open();
      await appendAll(store.log, [
        newMessage('1', { subject: order(1), userId: 'user-1' }),
        found('same', 1, 'user-1'),
        found('moved', 1, 'user-2'),
        found('moved-again', 1, 'user-2'),
      ]);
      expect(await idsOf(store.log, { changesOnly: true })).toEqual(['1', 'moved']);
      expect(await store.log.latest('order-1')).toMatchObject({ version: 1, userId: 'user-2' });
    });
  });

  test('marks are stored by name, and the last one wins', async () => {
    await using store = await open();
    expect(await store.log.readMark('reconciled-until')).toBeNull();
    await store.log.writeMark('reconciled-until', 'one');
    await store.log.writeMark('reconciled-until', 'two');
    await store.log.writeMark('other', 'three');
    expect(await store.log.readMark('reconciled-until')).toBe('two');
  });

  test('marks are found by how their names begin, until they are dropped', async () => {
    await using store = await open();
    for (const name of ['task one', 'task two', 'ta', 'other', 'task%'])
      await store.log.writeMark(name, name);
    const found = async (prefix: string) => [...(await store.log.readMarks(prefix))].toSorted();
    expect(await found('task ')).toEqual([
      ['task one', 'task one'],
      ['task two', 'task two'],
    ]);
    await store.log.dropMark('task one');
    await store.log.dropMark('never written');
    expect(await found('task ')).toEqual([['task two', 'task two']]);
    expect(await found('nothing')).toEqual([]);
    expect(await store.log.readMark('other')).toBe('other');
  });

  describe('notices', () => {
    test('are sent once per new message, which is readable by then, and before a waiter is woken', async () => {
      await using store = await open();
      const notified: string[] = [];
      const readable: Promise<readonly string[]>[] = [];
      const stop = store.log.onAppend((notice) => {
        notified.push(`notice of ${notice?.userId}`);
        readable.push(idsOf(store.log, {}));
      });
      const woken = store.log.wake({}, 0, forever()).then(() => notified.push('woken'));
      await store.log.append(newMessage('a', { subject: order(1) }));
      await store.log.append(newMessage('a', { subject: order(1) }));
      await woken;
      stop();
      await store.log.append(newMessage('b'));
      expect(notified).toEqual(['notice of user-1', 'woken']);
      expect(await Promise.all(readable)).toEqual([['a']]);
    });
  });

  test('a single instance does not receive its own message, and catches up at once', async () => {
    await using store = await open();
    const notified: string[] = [];
    const stop = store.log.subscribe((word) => notified.push(word));
    await store.log.publish('word');
    await store.log.catchUp();
    stop();
    expect(notified).toEqual([]);
  });

  describe('wake', () => {
    const scopes: readonly (readonly [string, Scope])[] = [
      ['everything', {}],
      ['the user', { userId: 'user-1' }],
      ['the subject', { subject: 'order-1', changesOnly: true }],
      ['the subject of the user', { userId: 'user-1', subject: 'order-1' }],
      ['the type', { types: ['labtest.order.updated'] }],
    ];

    test.each(scopes)('resolves for one who waits for %s', async (_name, scope) => {
      await using store = await open();
      const { signal } = new AbortController();
      const woken = store.log.wake(scope, 0, signal);
      await store.log.append(newMessage('a', { subject: order(1) }));
      await woken;
      expect(await idsOf(store.log, scope)).toEqual(['a']);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    test('is not lost between a read and the wait', async () => {
      await using store = await open();
      const batch = await store.log.read({}, 0, 10);
      await store.log.append(newMessage('a'));
      await store.log.wake({}, batch.kind === 'gap' ? -1 : batch.through, forever());
      expect(await idsOf(store.log, {})).toEqual(['a']);
    });

    test('wakes all who wait', async () => {
      await using store = await open();
      const waiting = Array.from({ length: 50 }, () => store.log.wake({ userId: 'user-1' }, 0, forever()));
      await store.log.append(newMessage('a'));
      expect(await Promise.all(waiting)).toHaveLength(50);
    });

    test('resolves when the signal aborts, before or during the wait, and leaves no listener', async () => {
      await using store = await open();
      await store.log.wake({}, 0, AbortSignal.abort());
      const leaving = new AbortController();
      const woken = store.log.wake({ userId: 'user-1' }, 0, leaving.signal);
      leaving.abort();
      await woken;
      expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    });

    test('resolves when the log closes', async () => {
      await using store = await open();
      const woken = store.log.wake({}, 0, forever());
      await store.log.close();
      await woken;
      expect(await store.log.close()).toBeUndefined();
    });
  });

  test('an epoch differs from log to log', async () => {
    await using one = await open();
    await using two = await open();
    expect(one.log.epoch()).not.toBe(two.log.epoch());
    expect(one.log.epoch().length).toBeGreaterThan(16);
  });

  test('a working log is writable', async () => {
    await using store = await open();
    expect(await store.log.isWritable()).toBe(true);
  });
});

describe.each(stores)('pruning of the event log in $name', ({ open }) => {
  const at = (day: number) => new Date(Date.UTC(2026, 0, 1) + day * dayMs);

  test('drops what is older, and a place before it is a gap from then on', async () => {
    await using store = await open();
    const [first, second, third] = await appendAll(store.log, [
      newMessage('1', { receivedAt: at(0), subject: order(1) }),
      newMessage('2', { receivedAt: at(1) }),
      newMessage('3', { receivedAt: at(2) }),
    ]);
    if (!first || !second || !third) throw new Error('Three were appended.');

    expect(await store.log.prune(at(2))).toBe(2);

    const gap = { kind: 'gap', reason: 'pruned', through: second.position };
    expect(await store.log.read({}, first.position, 10)).toEqual(gap);
    expect(await idsOf(store.log, {}, second.position)).toEqual(['3']);
    expect(await store.log.position()).toBe(third.position);
    expect(await store.log.latest('order-1')).toMatchObject({ version: 1 });
    expect(await store.log.prune(at(2))).toBe(0);
    expect(await store.log.read({}, first.position, 10)).toEqual(gap);
  });

  test('of everything keeps the position: the next message has a greater one', async () => {
    await using store = await open();
    const { position } = await store.log.append(newMessage('1', { receivedAt: at(0) }));
    expect(await store.log.prune(at(5))).toBe(1);
    expect(await store.log.position()).toBe(position);
    expect(await idsOf(store.log, {}, position)).toEqual([]);
    const next = await store.log.append(newMessage('2', { receivedAt: at(5) }));
    expect(next.position).toBeGreaterThan(position);
  });

  test('with nothing to drop makes no gap', async () => {
    await using store = await open();
    await store.log.append(newMessage('1', { receivedAt: at(1) }));
    expect(await store.log.prune(at(1))).toBe(0);
    expect(await idsOf(store.log, {}, 0)).toEqual(['1']);
  });

  test('drops nothing younger, even where the clock was set back in between', async () => {
    await using store = await open();
    await store.log.append(newMessage('1', { receivedAt: at(5) }));
    await store.log.append(newMessage('2', { receivedAt: at(1) }));
    await store.log.prune(at(3));
    expect(await idsOf(store.log, {}, 0)).toEqual(['1', '2']);
  });

  test('drops a message from a far future with the messages before it, and goes on after it', async () => {
    await using store = await open();
    await store.log.append(newMessage('1', { receivedAt: at(0) }));
    await store.log.append(newMessage('2', { receivedAt: at(365 * 200) }));
    await store.log.append(newMessage('3', { receivedAt: at(1) }));
    await store.log.append(newMessage('4', { receivedAt: at(5) }));
    expect(await store.log.prune(at(3))).toBe(3);
    expect(await store.log.read({}, 0, 10)).toMatchObject({ kind: 'gap', reason: 'pruned' });
    expect(await store.log.prune(at(3))).toBe(0);
  });

  test.each([60, 1100])('drops %i messages from a far future with an old one after them', async (count) => {
    await using store = await open();
    const far = Array.from({ length: count }, (_, id) => newMessage(`${id}`, { receivedAt: at(365 * 200) }));
    await appendAll(store.log, [...far, newMessage('old', { receivedAt: at(1) })]);
    await store.log.append(newMessage('young', { receivedAt: at(5) }));
    expect(await store.log.prune(at(3))).toBe(count + 1);
    expect(await store.log.prune(at(3))).toBe(0);
  });

  test.each([20, 120])(
    'drops nothing of %i messages under a clock that was set back, whether or not others came under it',
    async (count) => {
      await using store = await open();
      const before = new Date(Date.now() - 7 * dayMs);
      const beforehand = { receivedAt: new Date(Date.now() + 30 * dayMs) };
      await appendAll(
        store.log,
        Array.from({ length: count }, (_, id) => newMessage(`${id}`, beforehand)),
      );
      expect(await store.log.prune(before)).toBe(0);
      await store.log.append(newMessage('under it', { receivedAt: new Date() }));
      expect(await store.log.prune(before)).toBe(0);
      await appendAll(
        store.log,
        Array.from({ length: 60 }, (_, id) => newMessage(`later ${id}`, beforehand)),
      );
      expect(await store.log.prune(before)).toBe(0);
    },
  );

  test('remembers the ids of what it dropped for 30 days more', async () => {
    await using store = await open();
    await store.log.append(newMessage('1', { receivedAt: at(0) }));
    await store.log.prune(at(30));
    expect(await store.log.append(newMessage('1', { receivedAt: at(30) }))).toMatchObject({
      duplicate: true,
    });
    await store.log.prune(new Date(at(30).getTime() + 1));
    expect(await store.log.append(newMessage('1', { receivedAt: at(30) }))).toMatchObject({
      duplicate: false,
    });
  });
});
