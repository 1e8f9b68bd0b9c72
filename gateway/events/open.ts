import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Log } from '../log.ts';
import { type Cursors, createCursors, loadCursorKey } from './cursor.ts';
import type { IdempotencyRecords } from './idempotency.ts';
import type { EventLog } from './log.ts';
import { MemoryIdempotencyRecords, MemoryLog, MemoryOneTimeValues } from './memory/store.ts';
import type { OneTimeValues } from './one-time-values.ts';
import type { RedisStore } from './redis/store.ts';
import { deriveCursorKey } from './seal.ts';
import { openSqliteStore } from './sqlite/store.ts';

/** Everything that the gateway stores: the log, idempotency records and one-time values, and the cursors into the log. */
export interface EventStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  readonly cursors: Cursors;
  /** The faults of the store itself, in sentences. Reads all of it. */
  readonly checkIntegrity: () => Promise<readonly string[]>;
  /** Runs a script where all gateways of this store count together; null when only one gateway uses it. */
  readonly runShared: RedisStore['runShared'] | null;
}

export type EventStoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly allowWeak: boolean };

export interface OpenOptions {
  /** 32 bytes each; the first seals, all open. Without keys bodies are stored in clear (development). */
  readonly keys: readonly Buffer[];
  /** Gets a line when a store behind the network goes away and when it is back. */
  readonly log: Log;
  /** `shared` is for commands that run beside a gateway: they make no log where there is none. */
  readonly access?: 'exclusive' | 'shared';
}

/**
 * Opens the event log at its location.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED, EVENT_LOG_WEAK or EVENT_LOG_UNAVAILABLE
 */
export async function openEventStore(
  location: EventStoreLocation,
  { keys, log, access = 'exclusive' }: OpenOptions,
): Promise<EventStore> {
  if (location.kind === 'memory') return openMemoryStore();
  // A key that was stored before EVENT_LOG_KEY was set still reads the cursors of that time.
  const derived = keys.map(deriveCursorKey);
  if (location.kind === 'redis') {
    const { url, allowWeak } = location;
    // Loaded on demand, because it has 650 modules.
    const { openRedisStore } = await import('./redis/store.ts');
    const { cursorKey, ...store } = await openRedisStore(url, { keys, allowWeak, log });
    const cursors = createCursors(() => store.log.epoch(), [...derived, ...(cursorKey ? [cursorKey] : [])]);
    return { ...store, cursors, checkIntegrity: async () => [] };
  }
  const store = await openSqliteStore(location.path, { keys, access });
  const keyPath = `${location.path}.cursor-key`;
  const stored = derived.length === 0 || existsSync(keyPath) ? [loadCursorKey(keyPath)] : [];
  const cursors = createCursors(() => store.log.epoch(), [...derived, ...stored]);
  return { ...store, cursors, runShared: null };
}

function openMemoryStore(): EventStore {
  const log = new MemoryLog();
  return {
    log,
    idempotencyRecords: new MemoryIdempotencyRecords(),
    oneTimeValues: new MemoryOneTimeValues(),
    cursors: createCursors(() => log.epoch(), [randomBytes(32)]),
    checkIntegrity: async () => [],
    runShared: null,
  };
}
