import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Log } from '../log.ts';
import { type Cursors, createCursors, keepCursorKey } from './cursor.ts';
import type { IdempotencyRecords } from './idempotency-records.ts';
import type { EventLog } from './log.ts';
import { createMemoryIdempotencyRecords, createMemoryLog } from './memory/log.ts';
import { createMemoryOneTimeValues } from './memory/one-time-values.ts';
import type { OneTimeValues } from './one-time-values.ts';
import type { RedisStore } from './redis/store.ts';
import { deriveCursorKey } from './seal.ts';
import { openSqliteStore } from './sqlite/store.ts';

/** Everything the gateway keeps: the log, idempotency records and one-time values beside it, and the cursors into it. */
export interface EventStore {
  readonly log: EventLog;
  readonly idempotencyRecords: IdempotencyRecords;
  readonly oneTimeValues: OneTimeValues;
  readonly cursors: Cursors;
  /** What is wrong with the store itself, in sentences; none when it is whole. Reads all of it. */
  readonly checkIntegrity: () => Promise<readonly string[]>;
  /** Runs a script where all gateways of this store count together; null when it has only one. */
  readonly runShared: RedisStore['runShared'] | null;
}

export type EventStoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly allowWeak: boolean };

export interface OpenOptions {
  /** 32 bytes each; the first seals, all open. None: bodies in clear (development). */
  readonly keys: readonly Buffer[];
  /** Told when a store behind the network goes and comes back. */
  readonly log: Log;
  /** `shared` is for commands that work beside a running gateway: they make no log where there is none. */
  readonly access?: 'exclusive' | 'shared';
}

/**
 * Opens the event log at its place.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED, EVENT_LOG_WEAK or EVENT_LOG_UNAVAILABLE
 */
export async function openEventStore(
  location: EventStoreLocation,
  { keys, log, access = 'exclusive' }: OpenOptions,
): Promise<EventStore> {
  const wholeByNature = { checkIntegrity: async () => [] };
  const ofOne = { runShared: null };
  if (location.kind === 'memory') {
    const beside = {
      idempotencyRecords: createMemoryIdempotencyRecords(),
      oneTimeValues: createMemoryOneTimeValues(),
    };
    return withCursors({ log: createMemoryLog(), ...beside, ...wholeByNature, ...ofOne }, [randomBytes(32)]);
  }
  // A key kept from the time before EVENT_LOG_KEY was given still reads the cursors of that time.
  const derived = keys.map(deriveCursorKey);
  if (location.kind === 'redis') {
    const { url, allowWeak } = location;
    // 650 modules, and every start waits for what it imports: only where they are used.
    const { openRedisStore } = await import('./redis/store.ts');
    const store = await openRedisStore(url, { keys, allowWeak, log });
    return withCursors({ ...store, ...wholeByNature }, [
      ...derived,
      ...(store.cursorKey === null ? [] : [store.cursorKey]),
    ]);
  }
  const store = await openSqliteStore(location.path, { keys, access });
  const place = `${location.path}.cursor-key`;
  const kept = derived.length === 0 || existsSync(place) ? [keepCursorKey(place)] : [];
  return withCursors({ ...store, ...ofOne }, [...derived, ...kept]);
}

function withCursors(store: Omit<EventStore, 'cursors'>, keys: readonly Buffer[]): EventStore {
  const { log, idempotencyRecords, oneTimeValues, checkIntegrity, runShared } = store;
  return {
    log,
    idempotencyRecords,
    oneTimeValues,
    checkIntegrity,
    runShared,
    cursors: createCursors(log.epoch, keys),
  };
}
