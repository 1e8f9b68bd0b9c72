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
  /** What is wrong with the store itself, in sentences; none when it is whole. Reads all of it. */
  readonly checkIntegrity: () => Promise<readonly string[]>;
}

export type EventStoreLocation =
  | { readonly kind: 'memory' }
  | { readonly kind: 'sqlite'; readonly path: string };

/**
 * Opens the event log at its place.
 * @param keys 32 bytes each; the first seals, all open. None: bodies in clear (development)
 * @param access `shared` is for commands that work beside a running gateway: they make no log where there is none
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export async function openEventStore(
  location: EventStoreLocation,
  keys: readonly Buffer[],
  access: 'exclusive' | 'shared' = 'exclusive',
): Promise<EventStore> {
  if (location.kind === 'memory') {
    const log = createMemoryLog();
    const cursors = createCursors(log.epoch, [randomBytes(32)]);
    return { log, replies: createMemoryReplies(), cursors, checkIntegrity: async () => [] };
  }
  const store = openSqliteStore(location.path, { keys, access });
  const [first, ...older] = keys.map(deriveCursorKey);
  const cursorKey = first ?? keepCursorKey(`${location.path}.cursor-key`);
  return { ...store, cursors: createCursors(store.log.epoch, [cursorKey, ...older]) };
}
