import { readFileSync } from 'node:fs';
import { vi } from 'vitest';
import type { IdempotencyRecords } from '../../../gateway/events/idempotency.ts';
import type { EventLog, OneTimeValues } from '../../../gateway/events/log.ts';
import { openRedisStore } from '../../../gateway/events/redis/store.ts';
import { openSqliteStore } from '../../../gateway/events/sqlite/store.ts';
import { createLog } from '../../../gateway/log.ts';
import { makeFolder } from '../../support/folder.ts';
import { openMemoryStore } from '../../support/memory-store.ts';
import { type RedisServer, startRedis } from '../../support/redis.ts';

export interface OpenStore extends AsyncDisposable {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  /** Moves the clock by which claims on keys of idempotency grow old. */
  readonly passTime: (ms: number) => Promise<unknown>;
}

/** One server for all tests of a file: each log has a database of its own. */
let redis: Promise<RedisServer> | null = null;

/** A server whose user `labgraph` has only the rights that docs/events.md lists. */
export async function startWithUser(): Promise<RedisServer> {
  const server = await startRedis();
  const events = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8');
  const rights = /^user labgraph on >\S+ (.*)$/m.exec(events)?.[1] ?? '';
  await server.command(server.newUrl(), 'ACL', 'SETUSER', 'labgraph', 'on', '>secret', ...rights.split(' '));
  return server;
}

/** To be called after the tests of a file: the next file in the same worker starts a server of its own. */
export async function endRedis(): Promise<void> {
  const ended = redis;
  redis = null;
  await (await ended)?.[Symbol.asyncDispose]();
}

/** The clock of a Redis server cannot be moved, so its claims are made older. */
const ageClaims = `
  for _, name in ipairs(redis.call('KEYS', '*reply *')) do redis.call('HINCRBY', name, 'claimed', -ARGV[1] * 1000) end`;

/** Moves the clock of this process, which a test has replaced. */
async function passOwnTime(ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
}

/** A log of its own on the server of the file. */
export async function openRedis(): Promise<OpenStore> {
  redis ??= startWithUser();
  const log = createLog({ level: 'silent' });
  const server = await redis;
  const plainUrl = server.newUrl();
  const url = plainUrl.replace('redis://', 'redis://labgraph:secret@');
  const store = await openRedisStore(url, { keys: [], allowWeak: false, log });
  return {
    ...store,
    passTime: (ms) => server.command(plainUrl, 'EVAL', ageClaims, '0', String(ms)),
    [Symbol.asyncDispose]: () => store.log.close(),
  };
}

/** Every store that promises what `EventLog`, `IdempotencyRecords` and `OneTimeValues` promise. */
export const stores: readonly { readonly name: string; readonly open: () => Promise<OpenStore> }[] = [
  {
    name: 'memory',
    open: async () => {
      const store = await openMemoryStore();
      return { ...store, passTime: passOwnTime, [Symbol.asyncDispose]: () => store.log.close() };
    },
  },
  {
    name: 'SQLite',
    open: async () => {
      const folder = makeFolder();
      const store = await openSqliteStore(folder.file('events.db'), { keys: [], access: 'exclusive' });
      return {
        ...store,
        passTime: passOwnTime,
        [Symbol.asyncDispose]: async () => {
          await store.log.close();
          folder[Symbol.dispose]();
        },
      };
    },
  },
  { name: 'Redis', open: openRedis },
];
