import { createCipheriv, createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '../../../gateway/events/follow.ts';
import type { IdempotencyRecords } from '../../../gateway/events/idempotency.ts';
import type { EventLog, NewMessage } from '../../../gateway/events/log.ts';
import { type EventStoreLocation, openEventStore } from '../../../gateway/events/open.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { Seal } from '../../../gateway/events/seal.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { newMessage, storedEvent } from '../../support/messages.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

/** The machine may be busy with other things. */
const key = randomBytes(32);
const log = createLog({ level: 'silent' });
let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

interface Place extends Disposable {
  readonly location: EventStoreLocation;
  readonly open: (keys: readonly Buffer[]) => Promise<OpenStore>;
  /** A change by anyone who can write the store, in SQL or Lua. */
  readonly spoil: (how: Spoilt) => Promise<void>;
  /** Everything in the store's files and its memory. */
  readonly readAll: () => Promise<string>;
}

interface OpenStore extends AsyncDisposable {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
}

interface Spoilt {
  readonly sql: string;
  readonly lua: string;
}

function placeInSqlite(): Place {
  const folder = makeFolder();
  const path = folder.file('events.db');
  return {
    location: { kind: 'sqlite', path },
    open: async (keys) => {
      const store = await openSqliteStore(path, { keys, access: 'exclusive' });
      return { ...store, [Symbol.asyncDispose]: () => store.log.close() };
    },
    spoil: async ({ sql }) => {
      const database = new DatabaseSync(path);
      database.exec(sql);
      database.close();
    },
    readAll: async () =>
      readdirSync(folder.path)
        .map((name) => readFileSync(`${folder.path}/${name}`, 'latin1'))
        .join(''),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

function placeInRedis(): Place {
  const url = server.newUrl();
  return {
    location: { kind: 'redis', url, allowWeak: false },
    open: async (keys) => {
      const store = await openRedisStore(url, { keys, allowWeak: false, log });
      return { ...store, [Symbol.asyncDispose]: () => store.log.close() };
    },
    spoil: async ({ lua }) => {
      await server.command(url, 'EVAL', lua, '0');
    },
    readAll: async () => JSON.stringify(await server.command(url, 'HGETALL', '{labgraph}:ids')),
    [Symbol.dispose]: () => undefined,
  };
}

const digestOf = ({ body }: NewMessage) => createHash('sha256').update(body).digest();

/** Whether the text contains the SHA-256 of a message's body, in bytes or digits. */
const reveals = (text: string, message: NewMessage) =>
  text.includes(digestOf(message).toString('latin1')) || text.includes(digestOf(message).toString('hex'));

/** Writes the whole log again, with its entries changed by `change`. */
const rewriteLog = (change: string) => `
  local log = '{labgraph}:log'
  local entries = redis.call('XRANGE', log, '-', '+')
  redis.call('DEL', log)
  ${change}
  for _, entry in ipairs(entries) do redis.call('XADD', log, entry[1], unpack(entry[2])) end`;

const swapBodies: Spoilt = {
  sql: `CREATE TEMP TABLE was AS SELECT position, body FROM events;
    UPDATE events SET body = (SELECT body FROM was WHERE was.position <> events.position)`,
  lua: rewriteLog('entries[1][2][24], entries[2][2][24] = entries[2][2][24], entries[1][2][24]'),
};
const giveToAnother: Spoilt = {
  sql: "UPDATE events SET user_id = 'user-2'",
  lua: rewriteLog("for _, entry in ipairs(entries) do entry[2][8] = '=user-2' end"),
};
const reviveDead: Spoilt = {
  sql: 'UPDATE events SET dead_reason = NULL',
  lua: rewriteLog("for _, entry in ipairs(entries) do entry[2][20] = '' end"),
};

describe.each([
  ['SQLite', placeInSqlite],
  ['Redis', placeInRedis],
])('in %s', (_name, openPlace) => {
  test.each([
    ['bodies that were swapped', {}, swapBodies],
    ["a body that was made another user's", {}, giveToAnother],
    ['a dead letter that was brought back', { deadReason: 'other-team' } as const, reviveDead],
  ])('nothing is decrypted of %s', async (_case, more, how) => {
    using place = openPlace();
    {
      await using store = await place.open([key]);
      await store.log.append(newMessage('a', more));
      await store.log.append(newMessage('b', more));
    }
    await place.spoil(how);
    await using store = await place.open([key]);
    const through = await store.log.position();
    expect(await store.log.read({}, 0, 10)).toEqual({ kind: 'gap', reason: 'sealed', through });
  });

  test('events that no key decrypts are one gap to a stream, which gets all others', async () => {
    using place = openPlace();
    const append = async (keys: readonly Buffer[], ids: readonly string[]) => {
      await using store = await place.open(keys);
      for (const id of ids) await store.log.append(newMessage(id));
      return await store.log.position();
    };
    const lost = Array.from({ length: 250 }, (_, index) => `lost-${index}`);
    await append([key], ['a']);
    await append([randomBytes(32)], lost);
    const next = await append([key], ['b']);
    await append([key], ['c']);

    await using store = await place.open([key]);
    const seen: unknown[] = [];
    const { signal } = new AbortController();
    for await (const item of follow(store.log, {}, { after: 0, signal })) {
      seen.push(item.kind === 'gap' ? item : item.event.messageId);
      if (seen.length === 4) break;
    }
    expect(seen).toEqual(['a', { kind: 'gap', reason: 'sealed', position: next - 1 }, 'b', 'c']);
  });

  test("a fact or answer that was moved is not opened, and a user's reference is not shown", async () => {
    using place = openPlace();
    const factsOf = (value: string) => [
      { kind: 'sample', key: value, at: new Date(5), value: Buffer.from(value) },
    ];
    {
      await using store = await place.open([key]);
      await store.log.append(newMessage('a', { facts: factsOf('1'), clientUserId: 'c-1' }));
      await store.log.append(newMessage('b', { facts: factsOf('2'), clientUserId: 'c-2', userId: 'user-2' }));
      for (const name of ['one', 'two']) {
        await store.idempotencyRecords.begin(name, 'print');
        await store.idempotencyRecords.finish(name, { name });
      }
    }
    await place.spoil({
      sql: `CREATE TEMP TABLE was AS SELECT position, client_user_id FROM events;
        UPDATE events SET client_user_id = (SELECT client_user_id FROM was WHERE was.position <> events.position);
        UPDATE facts SET user_id = 'user-3' WHERE user_id = 'user-2';
        UPDATE replies SET answer = (SELECT answer FROM replies WHERE key = 'one')`,
      lua: `${rewriteLog('entries[1][2][10], entries[2][2][10] = entries[2][2][10], entries[1][2][10]')}
        for _, part in ipairs({ 'facts ', 'facts-by-time ' }) do
          redis.call('RENAME', '{labgraph}:' .. part .. '["user-2","sample"]',
            '{labgraph}:' .. part .. '["user-3","sample"]')
        end
        local answer = redis.call('HGET', '{labgraph}:reply one', 'answer')
        redis.call('HSET', '{labgraph}:reply two', 'answer', answer)`,
    });
    await using store = await place.open([key]);
    const unavailable = expect.objectContaining({ code: 'EVENT_LOG_UNAVAILABLE' });
    await expect(store.log.facts({ userId: 'user-3', kind: 'sample' }, 1)).rejects.toEqual(unavailable);
    expect(await store.log.facts({ userId: 'user-1', kind: 'sample' }, 1)).toHaveLength(1);
    await expect(store.idempotencyRecords.begin('two', 'print')).rejects.toEqual(unavailable);
    expect(await store.idempotencyRecords.begin('one', 'print')).toMatchObject({ kind: 'finished' });
    expect(await store.log.read({}, 0, 10)).toMatchObject({
      events: [{ clientUserId: null }, { clientUserId: null }],
    });
  });

  test('a value opens although the store changed the text of its row', async () => {
    using place = openPlace();
    await using store = await place.open([key]);
    const odd = { type: 'a\ud800b\0c', userId: '\udfff', teamId: '\0', clientUserId: 'é' };
    const { position } = await store.log.append(newMessage('a', odd));
    const stored = { ...odd, type: 'a\ufffdb\0c', userId: '\ufffd' };
    expect(await store.log.read({}, 0, 10)).toMatchObject({
      events: [storedEvent(newMessage('a', stored), position)],
    });
  });

  test('no stored hash lets a body or an input be guessed', async () => {
    using place = openPlace();
    await using store = await place.open([key]);
    const message = newMessage('a', { body: Buffer.from('{"data":{"glucose":97}}') });
    await store.log.append(message);
    await store.idempotencyRecords.begin('key', 'f1a9');
    expect(reveals(await place.readAll(), message)).toBe(false);
    expect(await place.readAll()).not.toContain('f1a9');
    expect(await store.idempotencyRecords.begin('key', 'f1a9')).toMatchObject({ kind: 'unsettled' });
    expect(await store.idempotencyRecords.begin('key', 'another')).toEqual({ kind: 'conflict' });
    expect(await store.log.append(message)).toMatchObject({ duplicate: true, altered: false });
    expect(await store.log.append(newMessage('a'))).toMatchObject({ duplicate: true, altered: true });
  });

  test('plain hashes of an earlier version are keyed, even if a start was interrupted', async () => {
    using place = openPlace();
    const messages = Array.from({ length: 4500 }, (_, index) => newMessage(`m-${index}`));
    {
      // Without a key a log stores the hashes that every log stored before.
      await using before = await place.open([]);
      for (let at = 0; at < messages.length; at += 100)
        await Promise.all(messages.slice(at, at + 100).map((message) => before.log.append(message)));
    }
    const [first, last] = [messages[0], messages.at(-1)];
    if (first === undefined || last === undefined) throw new Error('There are messages.');
    expect(reveals(await place.readAll(), first)).toBe(true);
    for (let start = 0; start < 3; start += 1) await (await place.open([key])).log.close();

    await using store = await place.open([key]);
    const meanwhile = newMessage('meanwhile');
    expect(await store.log.append(meanwhile)).toMatchObject({ duplicate: false });
    const countPlain = async () => {
      const text = await place.readAll();
      // Each costs a look through all of it.
      return messages.filter((message, index) => index % 150 === 0 && reveals(text, message)).length;
    };
    await expect.poll(countPlain, { interval: 200 }).toBe(0);
    for (const message of [first, last, meanwhile]) {
      expect(await store.log.append(message)).toMatchObject({ duplicate: true, altered: false });
      const other = { ...message, body: Buffer.from('{}') };
      expect(await store.log.append(other)).toMatchObject({ duplicate: true, altered: true });
    }
  });

  test('hashes under an older key are compared, and without that key no message counts as altered', async () => {
    using place = openPlace();
    const newKey = randomBytes(32);
    const other = newMessage('a', { body: Buffer.from('{}') });
    {
      await using store = await place.open([key]);
      await store.log.append(newMessage('a'));
    }
    {
      await using rotated = await place.open([newKey, key]);
      expect(await rotated.log.append(newMessage('a'))).toMatchObject({ altered: false });
      expect(await rotated.log.append(other)).toMatchObject({ duplicate: true, altered: true });
    }
    await using without = await place.open([newKey]);
    expect(await without.log.append(other)).toMatchObject({ duplicate: true, altered: false });
  });

  test('a start with another key than that of the newest event says so, and one with both keys does not', async () => {
    using place = openPlace();
    const newKey = randomBytes(32);
    {
      await using store = await place.open([key]);
      await store.log.append(newMessage('a'));
    }
    const linesOfStart = async (keys: readonly Buffer[]) => {
      const lines: string[] = [];
      const destination = { write: (line: string) => void lines.push(line) };
      const store = await openEventStore(place.location, {
        keys,
        log: createLog({ level: 'warn', destination }),
      });
      await store.log.close();
      return lines.map((line) => JSON.parse(line));
    };
    expect(await linesOfStart([newKey, key])).toEqual([]);
    expect(await linesOfStart([newKey])).toMatchObject([
      { event: 'events.other_key', advice: expect.stringContaining('EVENT_LOG_KEY') },
    ]);
  });
});

test('bodies that an earlier version sealed, bound to no row, are still opened', async () => {
  using place = placeInSqlite();
  const message = newMessage('a');
  {
    await using store = await place.open([key]);
    await store.log.append(message);
  }
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(message.body), cipher.final()]);
  const unbound = Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), sealed]);
  await place.spoil({ sql: `UPDATE events SET body = x'${unbound.toString('hex')}'`, lua: '' });
  await using store = await place.open([key]);
  expect(await store.log.read({}, 0, 10)).toMatchObject({ events: [{ body: message.body }] });
});

test('the hash of any text is compared, and one of a log without a key unsealed', () => {
  const [keyed, plain] = [new Seal([key]), new Seal([])];
  expect(plain.hashText('print')).toBe('print');
  expect(keyed.isHashOfText('print', 'print')).toBe(true);
  expect(keyed.isHashOfText(keyed.hashText('print'), 'print')).toBe(true);
  expect(keyed.isHashOfText(keyed.hashText('print'), 'other')).toBe(false);
});
