import { randomBytes } from 'node:crypto';
import { type Cursors, createCursors, keepCursorKey } from './cursor.ts';
import type { EventLog } from './log.ts';
import { createMemoryLog, createMemoryReplies } from './memory/log.ts';
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
  | { readonly kind: 'sqlite'; readonly path: string };

/**
 * Opens the event log at its place.
 * @param keys 32 bytes each; the first seals, all open. None: bodies in clear (development)
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export async function openEventStore(
  location: EventStoreLocation,
  keys: readonly Buffer[],
): Promise<EventStore> {
  if (location.kind === 'memory') {
    const log = createMemoryLog();
    return { log, replies: createMemoryReplies(), cursors: createCursors(log.epoch, [randomBytes(32)]) };
  }
  const { log, replies } = openSqliteStore(location.path, { keys, access: 'exclusive' });
  const [first, ...older] = keys.map(deriveCursorKey);
  const cursorKey = first ?? keepCursorKey(`${location.path}.cursor-key`);
  return { log, replies, cursors: createCursors(log.epoch, [cursorKey, ...older]) };
}
