import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createStream, follow } from '../../../gateway/events/follow.ts';
import type { AppendNotice, EventLog } from '../../../gateway/events/log.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createRedisClient } from '../../../gateway/events/redis/client.ts';
import { toRedisServer } from '../../../gateway/events/redis/server.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { replaceMembers } from '../../support/members.ts';
import { newMessage, storedEvent } from '../../support/messages.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

const order = (version: number) => ({ id: 'order-1', version });
const forever = () => new AbortController().signal;
const isUnavailable = expect.objectContaining({ code: 'EVENT_LOG_UNAVAILABLE' });
const prefix = '{labgraph}:';

interface OpenOptions {
  readonly keys?: readonly Buffer[];
  readonly allowWeak?: boolean;
}

/** An instance over a log, with the names and reasons of what it logged. */
async function openInstance(url: string, { keys = [], allowWeak = false }: OpenOptions = {}) {
  const logged: string[] = [];
  const log = createLog({
    level: 'info',
    destination: { write: (line) => void logged.push(JSON.parse(line).event) },
  });
  const store = await openRedisStore(url, { keys, allowWeak, log });
  return replaceMembers(store.log, {
    idempotencyRecords: store.idempotencyRecords,
    logged,
    [Symbol.asyncDispose]: () => store.log.close(),
  });
}

/** Collects the ids of a scope as they come, however the store behaves meanwhile. */
function collect(log: EventLog, after: number) {
  const seen: string[] = [];
  const stream = createStream(forever(), (signal) => follow(log, {}, { after, signal }));
  const done = (async () => {
    for await (const item of stream) seen.push(item.kind === 'gap' ? item.reason : item.event.messageId);
  })();
  return {
    seen,
    [Symbol.asyncDispose]: async () => {
      await stream.return(undefined);
      await done;
    },
  };
}

async function idsOf(log: EventLog): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after = 0; after < (await log.position()); ) {
    const batch = await log.read({}, after, 1000);
    if (batch.kind === 'gap') throw new Error(batch.reason);
    ids.push(...batch.events.map(({ messageId }) => messageId));
    after = batch.through;
  }
  return ids;
}

/** Like the real sender: again, after a pause, until it is acknowledged. */
async function deliver(log: EventLog, id: string): Promise<void> {
  for (;;) {
    try {
      await log.append(newMessage(id));
      return;
    } catch {
      await setTimeout(10);
    }
  }
}

test('clients of several addresses share one class: the library would build one for each attempt', () => {
  const [one, other] = [7001, 7002].map((port) => createRedisClient(`redis://127.0.0.1:${port}`, 1000));
  expect(one?.constructor).toBe(other?.constructor);
  const secure = createRedisClient('rediss://user:word@127.0.0.1:7003/4', 1000);
  expect(secure.constructor).toBe(one?.constructor);
});

test('the servers of an address are named without its credentials', () => {
  const server = toRedisServer('redis+sentinel://user:secret@one,two:5000/main?replicas=2');
  expect(server).toMatchObject({ name: 'one:26379,two:5000/main', replicas: 2 });
  expect(toRedisServer('redis://user:secret@one/3')).toMatchObject({ name: 'one:6379', replicas: 0 });
});

describe('the log in Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('has everything it had after the server was killed: epoch, events, ids, versions, idempotency records', async () => {
    await using own = await startRedis();
    const url = own.newUrl();
    const first = await openInstance(url);
    const epoch = first.epoch();
    const { position } = await first.append(newMessage('a', { subject: order(2) }));
    await first.idempotencyRecords.begin('key', 'print');
    await first.idempotencyRecords.finish('key', { id: 1 });
    await first.close();
    await own.restart();

    await using log = await openInstance(url);

    expect(log.epoch()).toBe(epoch);
    expect(await log.read({}, 0, 10)).toMatchObject({
      events: [storedEvent(newMessage('a', { subject: order(2) }), position)],
    });
    expect(await log.append(newMessage('a'))).toEqual({ position, duplicate: true, altered: false });
    expect(await log.latest('order-1')).toMatchObject({ version: 2, position });
    expect(await log.idempotencyRecords.begin('key', 'print')).toEqual({
      kind: 'finished',
      answer: { id: 1 },
    });
  });

  test('lists a dead letter that no key opens without its body, and hides no other', async () => {
    const url = server.newUrl();
    const [lost, current] = [randomBytes(32), randomBytes(32)];
    for (const [id, key] of [['lost-key', lost] as const, ['readable', current] as const]) {
      await using writer = await openInstance(url, { keys: [key] });
      await writer.append(newMessage(id, { deadReason: 'unreadable' }));
    }
    await using log = await openInstance(url, { keys: [current] });
    expect(await log.deadLetters(0, 10)).toMatchObject([
      { messageId: 'lost-key', deadReason: 'unreadable', body: null },
      { messageId: 'readable', body: newMessage('readable').body },
    ]);
  });

  test('of several instances notifies each of them once of each message, whichever appended it', async () => {
    const url = server.newUrl();
    await using one = await openInstance(url);
    await using two = await openInstance(url);
    const received: [string[], string[]] = [[], []];
    const note = (list: string[]) => (notice: AppendNotice | null) => list.push(notice?.userId ?? 'anything');
    one.onAppend(note(received[0]));
    two.onAppend(note(received[1]));
    const ids = Array.from({ length: 200 }, (_, index) => `${index}`);

    await Promise.all(
      ids.map((id) => (Number(id) % 3 === 0 ? one : two).append(newMessage(id, { userId: `user-${id}` }))),
    );

    await expect.poll(() => received.map(({ length }) => length)).toEqual([200, 200]);
    const expected = ids.map((id) => `user-${id}`).toSorted();
    expect(received.map((list) => list.toSorted())).toEqual([expected, expected]);
  });

  test('that has caught up has delivered everything the other instances had appended or published, and nothing twice', async () => {
    const url = server.newUrl();
    await using one = await openInstance(url);
    await using two = await openInstance(url);
    const received: string[] = [];
    two.onAppend((notice) => received.push(notice?.userId ?? 'anything'));
    two.subscribe((word) => received.push(word));
    one.subscribe(() => received.push('its own word'));
    const expected: string[] = [];
    for (let index = 0; index < 30; index += 1) {
      await one.append(newMessage(`${index}`, { userId: `user-${index}` }));
      await one.publish(`word ${index}`);
      expected.push(`user-${index}`, `word ${index}`);
      await Promise.all([two.catchUp(), two.catchUp(), one.catchUp()]);
      expect(received.toSorted()).toEqual(expected.toSorted());
    }
  });

  test('says that it cannot catch up while the server is away', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    await server.kill();
    await expect(log.catchUp()).rejects.toEqual(isUnavailable);
    await expect(log.publish('word')).rejects.toEqual(isUnavailable);
    await server.restart();
    await expect.poll(() => log.catchUp()?.then(() => 'caught up', String)).toBe('caught up');
  });

  test('stores a message once when two instances append it at once', async () => {
    const url = server.newUrl();
    await using one = await openInstance(url);
    await using two = await openInstance(url);
    const appended = await Promise.all([one, two, one, two].map((log) => log.append(newMessage('a'))));
    expect(appended.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await idsOf(two)).toEqual(['a']);
  });

  test('lets one of several instances claim a key', async () => {
    const url = server.newUrl();
    await using one = await openInstance(url);
    await using two = await openInstance(url);
    const begun = await Promise.all(
      [one, two].map(({ idempotencyRecords }) => idempotencyRecords.begin('key', 'print')),
    );
    expect(begun.map(({ kind }) => kind).toSorted()).toEqual(['first', 'unsettled']);
  });

  test('wakes every waiter when a pub/sub message is lost', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const notices: (AppendNotice | null)[] = [];
    log.onAppend((item) => notices.push(item));
    const woken = log.wake({ userId: 'user-1' }, 0, forever());
    // The end of a log moves, and no pub/sub message reports it.
    await server.command(url, 'SET', `${prefix}head`, '42');
    await woken;
    expect(notices).toEqual([null]);
  });

  test('wakes everybody when the bus has dropped what was not read yet', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const notices: (AppendNotice | null)[] = [];
    log.onAppend((item) => notices.push(item));
    const { position } = await log.append(newMessage('a'));
    await server.command(url, 'SET', `${prefix}head`, String(position + 2));
    await server.command(
      url,
      ...['XADD', `${prefix}bus`, `${position + 2}-0`, 'previous', `${position + 1}`],
      ...['user', '=user-1', 'subject', '', 'version', '', 'dead', ''],
    );
    await expect.poll(() => notices.length).toBe(2);
    expect(notices[1]).toBeNull();
  });

  test('that lost its newest messages with a failed server says so, and never gives their places again', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const { position: first } = await log.append(newMessage('a'));
    await using reader = collect(log, 0);
    const { position: lost } = await log.append(newMessage('b'));
    await expect.poll(() => reader.seen).toEqual(['a', 'b']);

    // The state of a replica that was promoted before it received the second. At once, because the gateway asks meanwhile.
    const lose = `redis.call('XDEL', KEYS[1] .. 'log', '${lost}-0')
      redis.call('HDEL', KEYS[1] .. 'ids', 'b')
      redis.call('SET', KEYS[1] .. 'head', '${first}')`;
    await server.command(url, 'EVAL', lose, '1', prefix);

    expect(await log.read({}, lost, 10)).toMatchObject({ kind: 'gap' });
    expect(await log.position()).toBeGreaterThan(lost);
    const { position: next } = await log.append(newMessage('b'));
    expect(next).toBeGreaterThan(lost);
    // Readers before the lost place, who could not know of it, are told as well.
    await expect.poll(() => log.read({}, first, 10)).toEqual({ kind: 'gap', reason: 'other-epoch' });
    expect(log.logged).toContain('events.store_lost_its_end');
  });

  test('reads a bounded stretch at once, and a follower goes on to what it looks for', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const large = Buffer.alloc(1024 * 1024, 'x');
    for (let index = 0; index < 6; index += 1)
      await log.append(newMessage(`large-${index}`, { type: 'other', body: large }));
    const { position } = await log.append(newMessage('wanted', { type: 'wanted' }));

    const batch = await log.read({ userId: 'user-1', types: ['wanted'] }, 0, 100);
    expect(batch).toMatchObject({ kind: 'events', events: [] });
    expect(batch.kind === 'gap' ? position : batch.through).toBeLessThan(position);

    const stream = createStream(forever(), (signal) =>
      follow(log, { userId: 'user-1', types: ['wanted'] }, { after: 0, signal }),
    );
    expect((await stream.next()).value).toMatchObject({ event: { messageId: 'wanted' } });
    await stream.return(undefined);
  });

  test('lets appends through while it prunes, and leaves nothing of what it dropped', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const old = Array.from({ length: 3000 }, (_, index) =>
      newMessage(`old-${index}`, {
        receivedAt: new Date(0),
        userId: `user-${index}`,
        deadReason: index % 10 === 0 ? 'unreadable' : null,
        facts: [{ kind: 'sample', key: 'one', at: new Date(0), value: Buffer.from('1') }],
      }),
    );
    // Not all at once: on a busy machine the last would wait longer than a command may take.
    for (let at = 0; at < old.length; at += 300)
      await Promise.all(old.slice(at, at + 300).map((message) => log.append(message)));
    const done: string[] = [];
    const pruning = log.prune(new Date(31 * 86_400_000)).then((dropped) => done.push(`dropped ${dropped}`));
    await log
      .append(newMessage('new', { receivedAt: new Date(), userId: null }))
      .then(() => done.push('appended'));
    await pruning;
    expect(done).toEqual(['appended', 'dropped 3000']);
    const keys = await server.command(url, 'KEYS', '*');
    expect(Array.isArray(keys) ? keys.toSorted() : keys).toEqual(
      ['birth', 'bus', 'cursor-key', 'epoch', 'head', 'ids', 'ids-by-time', 'log', 'pruned'].map(
        (name) => prefix + name,
      ),
    );
    expect(await server.command(url, 'HKEYS', `${prefix}ids`)).toEqual(['new']);
  });

  test('that is full refuses appends, lets reads go on, and needs no restart', async () => {
    await using own = await startRedis();
    const url = own.newUrl();
    await using log = await openInstance(url);
    await log.append(newMessage('a', { subject: order(1), receivedAt: new Date(0) }));
    await own.command(url, 'CONFIG', 'SET', 'maxmemory', '1');
    await expect(log.append(newMessage('b', { subject: order(2) }))).rejects.toEqual(isUnavailable);
    expect(await log.isWritable()).toBe(false);
    expect(await idsOf(log)).toEqual(['a']);
    expect(await log.latest('order-1')).toMatchObject({ version: 1 });
    expect(await log.prune(new Date(1))).toBe(1);
    await own.command(url, 'CONFIG', 'SET', 'maxmemory', '0');
    expect(await log.isWritable()).toBe(true);
    expect(await log.append(newMessage('b', { subject: order(2) }))).toMatchObject({ duplicate: false });
  });

  test('returns any text as it was', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url);
    const text = fc.string({ unit: 'grapheme' });
    const some = fc.record({
      type: text,
      userId: fc.option(text),
      clientUserId: fc.option(text),
      teamId: fc.option(text),
      subject: fc.option(fc.record({ id: text, version: fc.maxSafeNat() })),
      body: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(some, async (more) => {
        count += 1;
        const message = newMessage(`m-${count}`, more);
        const { position } = await log.append(message);
        const scope = { ...(more.userId === null ? {} : { userId: more.userId }), types: [more.type] };
        expect(await log.read(scope, position - 1, 1)).toEqual({
          kind: 'events',
          events: [storedEvent(message, position)],
          through: position,
        });
      }),
    );
  });

  test('has no body, reference of a user, fact or answer in clear when it has a key', async () => {
    const url = server.newUrl();
    await using log = await openInstance(url, { keys: [randomBytes(32)] });
    const secret = 'Jane Doe, 7.9';
    const facts = [{ kind: 'sample', key: 'clinic-of-jane', at: new Date(0), value: Buffer.from(secret) }];
    await log.append(newMessage('a', { body: Buffer.from(secret), facts, clientUserId: 'Jane Doe' }));
    await log.idempotencyRecords.begin('key', 'print');
    await log.idempotencyRecords.finish('key', { secret });
    const text = readdirSync(server.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1'))
      .join('');
    expect(text).toContain('labtest.order.updated');
    expect(text).not.toContain('Jane Doe');
    expect(text).not.toContain('clinic-of-jane');
    expect(await log.read({}, 0, 1)).toMatchObject({ events: [{ clientUserId: 'Jane Doe' }] });
    expect((await log.facts({ userId: 'user-1', kind: 'sample' }, 1))[0]?.value.toString()).toBe(secret);
    expect(await log.idempotencyRecords.begin('key', 'print')).toEqual({
      kind: 'finished',
      answer: { secret },
    });
  });
});

describe('while the server is gone', () => {
  test('every call is refused; waiters keep waiting, and continue when it is back', async () => {
    await using server = await startRedis();
    await using log = await openInstance(server.newUrl());
    await log.append(newMessage('a'));
    await using reader = collect(log, 0);
    await expect.poll(() => reader.seen).toEqual(['a']);

    await server.kill();
    await expect.poll(() => log.logged).toEqual(['events.store_gone']);
    const refused = await Promise.allSettled([
      log.append(newMessage('b')),
      log.read({}, 0, 10),
      log.position(),
      log.latest('order-1'),
      log.writeMark('mark', 'here'),
      log.readMarks('mark'),
      log.dropMark('mark'),
      log.claim('order-1', { userId: null, version: 0 }),
      log.idempotencyRecords.begin('key', 'print'),
    ]);
    expect(refused.map((item) => item.status === 'rejected' && item.reason.code)).toEqual(
      refused.map(() => 'EVENT_LOG_UNAVAILABLE'),
    );
    expect(await log.isWritable()).toBe(false);

    await server.restart();
    await expect.poll(() => log.logged).toEqual(['events.store_gone', 'events.store_back']);
    await log.append(newMessage('b'));
    await expect.poll(() => reader.seen).toEqual(['a', 'b']);
  });

  test('a server that answers nothing is refused in time, and what it did meanwhile is a duplicate', async () => {
    await using server = await startRedis();
    await using log = await openInstance(server.newUrl());
    await log.append(newMessage('a'));
    server.freeze();
    await expect(log.append(newMessage('b'))).rejects.toEqual(isUnavailable);
    await expect(log.read({}, 0, 10)).rejects.toEqual(isUnavailable);
    server.thaw();
    await expect.poll(() => log.isWritable()).toBe(true);
    await log.append(newMessage('b'));
    expect(await idsOf(log)).toEqual(['a', 'b']);
    expect(log.logged).toEqual(['events.store_gone', 'events.store_back']);
  });

  test('nothing that was acknowledged is lost, repeated or out of order, however often it is killed', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await using one = await openInstance(url);
    await using two = await openInstance(url);
    await using reader = collect(two, 0);
    const acknowledged: string[] = [];
    const stopping = new AbortController();
    const send = async (log: EventLog, sender: string) => {
      for (let number = 0; !stopping.signal.aborted; number += 1) {
        const id = `${sender}-${number}`;
        await deliver(log, id);
        acknowledged.push(id);
      }
    };
    const senders = [send(one, 'a'), send(one, 'b'), send(two, 'c'), send(two, 'd')];
    for (let kills = 1; kills <= 4; kills += 1) {
      await expect.poll(() => acknowledged.length).toBeGreaterThan(kills * 100);
      await server.restart();
    }
    stopping.abort();
    await expect.poll(() => one.isWritable()).toBe(true);
    await Promise.all(senders);

    await expect.poll(() => reader.seen.length).toBe(acknowledged.length);
    expect(reader.seen.toSorted()).toEqual(acknowledged.toSorted());
    // Its connection for reads may still be on its way back.
    await expect.poll(() => idsOf(one)).toEqual(reader.seen);
  });
});

describe('a server that comes back empty', () => {
  const place = { position: 1, shown: {} };

  test('has another log: every reader meets a gap, also one that reads after new messages', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await using log = await openInstance(url);
    const epoch = log.epoch();
    const { position } = await log.append(newMessage('a'));
    await using waiting = collect(log, 0);
    await expect.poll(() => waiting.seen).toEqual(['a']);

    await server.restart('empty');

    await expect.poll(() => waiting.seen).toEqual(['a', 'other-epoch']);
    expect(log.epoch()).not.toBe(epoch);
    const { position: next } = await log.append(newMessage('b'));
    expect(next).toBeGreaterThan(position);
    expect(await log.read({}, position, 10)).toEqual({ kind: 'gap', reason: 'other-epoch' });
    expect(await idsOf(log)).toEqual(['b']);
  });

  test('gives back the very message that made the new log, by the place before it', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await using log = await openInstance(url);
    await server.command(url, 'FLUSHDB');
    const { position } = await log.append(newMessage('a'));
    expect(await log.read({}, position - 1, 1)).toMatchObject({ events: [{ messageId: 'a' }] });
  });

  test.each([
    ['with EVENT_LOG_KEY', [randomBytes(32)]],
    ['without a key', []],
  ])('lets old cursors end in RESYNC and not in BAD_CURSOR (%s)', async (_name, keys) => {
    await using server = await startRedis();
    const url = server.newUrl();
    const log = createLog({ level: 'silent' });
    const maker = await openEventStore({ kind: 'redis', url, allowWeak: false }, { keys, log });
    await maker.log.close();
    const one = await openEventStore({ kind: 'redis', url, allowWeak: false }, { keys, log });
    const cursor = one.cursors.issue('scope', place);
    await server.restart('empty');
    // It may still think that it has its connection, and then loses it.
    await expect.poll(() => one.log.position().catch(() => null)).not.toBeNull();

    const two = await openEventStore({ kind: 'redis', url, allowWeak: false }, { keys, log });

    expect(one.cursors.read('scope', cursor)).toBe('other-epoch');
    expect(two.cursors.read('scope', cursor)).toBe('other-epoch');
    await Promise.all([one.log.close(), two.log.close()]);
  });

  test('a log that was made with a key has a key for cursors without it too', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    const options = { allowWeak: false, log: createLog({ level: 'silent' }) };
    const keyed = await openRedisStore(url, { ...options, keys: [randomBytes(32)] });
    await keyed.log.close();
    const bare = await openRedisStore(url, { ...options, keys: [] });
    expect(bare.cursorKey).toHaveLength(32);
    await bare.log.close();
  });

  test('cursors of one instance are good at another', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    const log = createLog({ level: 'silent' });
    const [one, two] = await Promise.all(
      [1, 2].map(() => openEventStore({ kind: 'redis', url, allowWeak: false }, { keys: [], log })),
    );
    const cursor = one?.cursors.issue('scope', place) ?? '';
    expect(two?.cursors.read('scope', cursor)).toEqual(place);
    await Promise.all([one?.log.close(), two?.log.close()]);
  });
});

describe('with a replica', () => {
  test('nothing is acknowledged before the replica has it, and no duplicate either', async () => {
    await using server = await startRedis();
    await using replica = await startRedis();
    await replica.command(replica.newUrl(), 'REPLICAOF', '127.0.0.1', `${server.port}`);
    const url = server.newUrl();
    await expect.poll(() => server.command(url, 'INFO', 'replication')).toMatch(/slave0:.*state=online/);
    await using log = await openInstance(url);
    await log.append(newMessage('a'));

    replica.freeze();
    await expect(log.append(newMessage('b'))).rejects.toEqual(isUnavailable);
    // Another connection has written nothing yet that WAIT could wait for.
    await using later = await openInstance(url);
    await expect(later.append(newMessage('b'))).rejects.toEqual(isUnavailable);
    await expect(later.idempotencyRecords.begin('key', 'print')).rejects.toEqual(isUnavailable);
    expect(await log.isWritable()).toBe(false);

    replica.thaw();
    await expect.poll(() => log.isWritable()).toBe(true);
    expect(await log.append(newMessage('b'))).toMatchObject({ duplicate: true });
    expect(await Promise.all(['c', 'd', 'e'].map((id) => log.append(newMessage(id))))).toHaveLength(3);
  });
});

describe('a server that is made weak while the gateway runs', () => {
  const weaken = (server: RedisServer, url: string) =>
    server.command(url, 'CONFIG', 'SET', 'appendonly', 'no');

  test('is found out with the next connection: nothing is acknowledged until it is mended', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await using log = await openInstance(url);
    await log.append(newMessage('a'));
    await weaken(server, url);
    await server.command(url, 'CLIENT', 'KILL', 'TYPE', 'normal');

    await expect
      .poll(() => log.append(newMessage('probe')).catch(() => log.logged))
      .toContain('events.store_weak');
    expect(await log.isWritable()).toBe(false);
    await expect(log.append(newMessage('b'))).rejects.toEqual(isUnavailable);
    await expect(log.writeMark('place', 'here')).rejects.toEqual(isUnavailable);
    expect(await idsOf(log)).toEqual(['a']);
    expect(log.logged.filter((event) => event === 'events.store_weak')).toHaveLength(1);

    await server.command(url, 'CONFIG', 'SET', 'appendonly', 'yes');
    expect(await log.isWritable()).toBe(true);
    expect(await log.append(newMessage('b'))).toMatchObject({ duplicate: false });
  });

  test('is detected within a minute over an open connection', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await using log = await openInstance(url);
    await weaken(server, url);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    try {
      await expect(log.append(newMessage('a'))).rejects.toEqual(isUnavailable);
      expect(await log.isWritable()).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  test('goes on being used where that is allowed', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await weaken(server, url);
    await using log = await openInstance(url, { allowWeak: true });
    await server.command(url, 'CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => log.isWritable()).toBe(true);
    expect(log.logged.filter((event) => event === 'events.store_weak')).toHaveLength(1);
  });
});

describe('at the start', () => {
  test.each([
    ['appendonly', 'no', 'CONFIG SET appendonly yes'],
    ['appendfsync', 'everysec', 'CONFIG SET appendfsync always'],
    ['maxmemory-policy', 'allkeys-lru', 'CONFIG SET maxmemory-policy noeviction'],
  ])('a server with %s %s is refused with what mends it, unless it is allowed', async (name, value, mend) => {
    await using server = await startRedis();
    const url = server.newUrl();
    await server.command(url, 'CONFIG', 'SET', name, value);
    await expect(openInstance(url)).rejects.toMatchObject({
      code: 'EVENT_LOG_WEAK',
      message: expect.stringContaining(mend),
    });
    await using log = await openInstance(url, { allowWeak: true });
    expect(log.logged).toEqual(['events.store_weak']);
    await log.append(newMessage('a'));
    expect(await idsOf(log)).toEqual(['a']);
  });

  test('a server that does not show its settings is refused, unless it is allowed', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await server.command(url, 'ACL', 'SETUSER', 'managed', 'on', '>secret', '~*', '&*', '+@all', '-config');
    const managed = url.replace('redis://', 'redis://managed:secret@');
    await expect(openInstance(managed)).rejects.toMatchObject({
      code: 'EVENT_LOG_WEAK',
      message: expect.stringContaining('appendfsync always'),
    });
    await using log = await openInstance(managed, { allowWeak: true });
    expect(await log.append(newMessage('a'))).toMatchObject({ duplicate: false });
  });

  test('a server that is not there, or refuses the login, is named without its credentials', async () => {
    await using server = await startRedis();
    const url = server.newUrl();
    await server.command(url, 'CONFIG', 'SET', 'requirepass', 'right');
    const wrong = url.replace('redis://', 'redis://default:wrong-secret@');
    const failures = [
      await openInstance(wrong).catch((error: unknown) => error),
      await openInstance('redis://default:wrong-secret@127.0.0.1:1').catch((error: unknown) => error),
    ];
    expect(failures).toMatchObject([
      { code: 'EVENT_LOG_UNAVAILABLE', message: expect.stringContaining(`127.0.0.1:${server.port}`) },
      { code: 'EVENT_LOG_UNAVAILABLE', message: expect.stringContaining('127.0.0.1:1 ') },
    ]);
    expect(JSON.stringify(failures.map(String))).not.toContain('wrong-secret');
  });
});
