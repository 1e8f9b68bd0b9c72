import { randomBytes } from 'node:crypto';
import type { Log } from '../log.ts';
import { type Cursors, createCursors, keepCursorKey } from './cursor.ts';
import type { EventLog } from './log.ts';
import { createMemoryLog, createMemoryReplies } from './memory/log.ts';
import { openRedisStore } from './redis/store.ts';
import type { Replies } from './replies.ts';
import { deriveCursorKey } from './seal.ts';
import { openSqliteStore } from './sqlite/store.ts';

/** Everything the gateway keeps: the log, the replies beside it, and the cursors into it. */
export interface EventStore {
  readonly log: EventLog;
  readonly replies: Replies;
  readonly cursors: Cursors;
}

export type EventStoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'redis'; readonly url: string; readonly allowWeak: boolean };

/**
 * Opens the event log at its place.
 * @param keys 32 bytes each; the first seals, all open. None: bodies in clear (development)
 * @param log told when a store behind the network goes and comes back
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED, EVENT_LOG_WEAK or EVENT_LOG_UNAVAILABLE
 */
export async function openEventStore(
  location: EventStoreLocation,
  keys: readonly Buffer[],
  log: Log,
): Promise<EventStore> {
  if (location.kind === 'memory') {
    return withCursors({ log: createMemoryLog(), replies: createMemoryReplies() }, [randomBytes(32)]);
  }
  const [first, ...older] = keys.map(deriveCursorKey);
  if (location.kind === 'redis') {
    const { url, allowWeak } = location;
    const store = await openRedisStore(url, { keys, allowWeak, log });
    return withCursors(store, [first ?? store.cursorKey, ...older]);
  }
  const store = openSqliteStore(location.path, { keys, access: 'exclusive' });
  return withCursors(store, [first ?? keepCursorKey(`${location.path}.cursor-key`), ...older]);
}

function withCursors(store: Omit<EventStore, 'cursors'>, keys: readonly [Buffer, ...Buffer[]]): EventStore {
  return { log: store.log, replies: store.replies, cursors: createCursors(store.log.epoch, keys) };
}
