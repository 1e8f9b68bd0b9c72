import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { startRedis } from '../../support/redis.ts';
import { endRedis, stores } from './stores.ts';

afterAll(endRedis);

const log = createLog({ level: 'silent' });
const value = { who: 'Jane Deposit', at: ['a', null, 1] };
const inAMinute = () => new Date(Date.now() + 60_000);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(stores)('a one-time value in $name', ({ open }) => {
  test('is given to who comes first, and to nobody after', async () => {
    await using store = await open();
    await store.oneTimeValues.put('key', value, inAMinute());
    expect(await store.oneTimeValues.take('other')).toBeNull();
    expect(await store.oneTimeValues.take('key')).toEqual(value);
    expect(await store.oneTimeValues.take('key')).toBeNull();
  });

  test('is given to one of many who come at once', async () => {
    await using store = await open();
    await store.oneTimeValues.put('key', value, inAMinute());
    const taken = await Promise.all(Array.from({ length: 20 }, () => store.oneTimeValues.take('key')));
    expect(taken.filter((each) => each !== null)).toEqual([value]);
  });

  test('whose time is over is given to nobody', async () => {
    await using store = await open();
    await store.oneTimeValues.put('over', value, new Date(Date.now()));
    await store.oneTimeValues.put('in time', value, inAMinute());
    expect(await store.oneTimeValues.take('over')).toBeNull();
    expect(await store.oneTimeValues.take('in time')).toEqual(value);
  });
});

describe.each(stores.filter(({ name }) => name !== 'Redis'))('time in $name', ({ open }) => {
  test('ends a one-time value to the millisecond', async () => {
    await using store = await open();
    const now = Date.now();
    for (const key of ['early', 'late']) await store.oneTimeValues.put(key, value, new Date(now + 1000));
    vi.setSystemTime(now + 999);
    expect(await store.oneTimeValues.take('early')).toEqual(value);
    vi.setSystemTime(now + 1000);
    expect(await store.oneTimeValues.take('late')).toBeNull();
  });
});

test('a one-time value in SQLite outlives its process, and is sealed in the file', async () => {
  using folder = makeFolder();
  const options = { keys: [randomBytes(32)], access: 'exclusive' } as const;
  const first = await openSqliteStore(folder.file('events.db'), options);
  await first.oneTimeValues.put('key', value, inAMinute());
  const bytes = readdirSync(folder.path).map((name) => readFileSync(join(folder.path, name), 'latin1'));
  await first.log.close();
  const second = await openSqliteStore(folder.file('events.db'), options);
  expect(await second.oneTimeValues.take('key')).toEqual(value);
  await second.log.close();
  expect(bytes.join('')).toContain('deposits');
  expect(bytes.join('')).not.toContain('Jane');
});

test('a one-time value in SQLite that has expired is deleted by the next pruning', async () => {
  using folder = makeFolder();
  const path = folder.file('events.db');
  const { log: events, oneTimeValues } = await openSqliteStore(path, { keys: [], access: 'exclusive' });
  const now = Date.now();
  await oneTimeValues.put('expired', value, new Date(now + 59_000));
  await oneTimeValues.put('valid', value, new Date(now + 60_001));
  vi.setSystemTime(now + 60_000);
  await events.prune(new Date(0));
  await events.close();
  using database = new DatabaseSync(path);
  expect(database.prepare('SELECT key FROM deposits').all()).toEqual([{ key: 'valid' }]);
});

test('a one-time value in Redis is there for another gateway once, after a crash too, sealed and with an end', async () => {
  await using server = await startRedis();
  const url = server.newUrl();
  const options = { keys: [randomBytes(32)], allowWeak: false, log };
  const [one, two] = [await openRedisStore(url, options), await openRedisStore(url, options)];
  await one.oneTimeValues.put('first', value, inAMinute());
  await one.oneTimeValues.put('second', value, inAMinute());
  const stored = await server.command(url, 'GET', '{labgraph}:deposit first');
  expect(String(stored)).not.toContain('Jane');
  const lifeMs = Number(await server.command(url, 'PTTL', '{labgraph}:deposit first'));
  expect(lifeMs).toBeGreaterThan(0);
  expect(lifeMs).toBeLessThanOrEqual(60_000);
  expect(await two.oneTimeValues.take('first')).toEqual(value);
  await Promise.all([one.log.close(), two.log.close()]);

  await server.restart();

  const later = await openRedisStore(url, options);
  expect([await later.oneTimeValues.take('first'), await later.oneTimeValues.take('second')]).toEqual([
    null,
    value,
  ]);
  await later.log.close();
});
