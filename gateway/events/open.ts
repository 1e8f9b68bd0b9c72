import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Log } from '../log.ts';
import { type Cursors, createCursors, loadCursorKey } from './cursor.ts';
import type { IdempotencyRecords } from './idempotency.ts';
import type { EventLog, OneTimeValues } from './log.ts';
import type { RedisStore } from './redis/store.ts';
import { deriveCursorKey } from './seal.ts';
import { inMemory } from './sqlite/log-file.ts';
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
  // A key that was stored before EVENT_LOG_KEY was set still reads the cursors of that time.
  const derived = keys.map(deriveCursorKey);
  if (location.kind === 'redis') {
    const { url, allowWeak } = location;
    // Loaded on demand, because it has 650 modules.
    const { openRedisStore } = await import('./redis/store.ts');
    const { cursorKey, ...store } = await openRedisStore(url, { keys, allowWeak, log });
    const cursors = createCursors(() => store.log.epoch(), [...derived, ...(cursorKey ? [cursorKey] : [])]);
    if (access === 'exclusive') await warnOfOtherKey(store.log, log);
    return { ...store, cursors, checkIntegrity: async () => [] };
  }
  const path = location.kind === 'memory' ? inMemory : location.path;
  const { isChecked, ...store } = await openSqliteStore(path, { keys, access });
  if (!isChecked)
    log.info('events.check_skipped', { advice: 'npm run events -- verify checks a large file.' });
  if (access === 'exclusive') await warnOfOtherKey(store.log, log);
  const cursors = createCursors(() => store.log.epoch(), [...derived, ...loadCursorKeys(path, derived)]);
  return { ...store, cursors, runShared: null };
}

/** With a wrong key the gateway works, and all clients that come back lose their place: only this line says why. */
async function warnOfOtherKey(events: EventLog, log: Log): Promise<void> {
  const end = await events.position();
  if (end === 0) return;
  // A log that cannot be read takes webhooks nevertheless.
  const newest = await events.read({}, end - 1, 1).catch(() => null);
  if (newest?.kind !== 'gap' || newest.reason !== 'sealed') return;
  log.warn('events.other_key', {
    advice:
      'No key in EVENT_LOG_KEY decrypts the newest event. Add the key that it was stored with: until then, readers of it get RESYNC.',
  });
}

/** The stored key of cursors, where there is one or no other key. */
function loadCursorKeys(path: string, derived: readonly Buffer[]): readonly Buffer[] {
  if (path === inMemory) return derived.length === 0 ? [randomBytes(32)] : [];
  const keyPath = `${path}.cursor-key`;
  return derived.length === 0 || existsSync(keyPath) ? [loadCursorKey(keyPath)] : [];
}
