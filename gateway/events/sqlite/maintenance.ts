import type { DatabaseSync } from 'node:sqlite';
import { messageIdDays } from '../log.ts';
import type { Seal } from '../seal.ts';
import { type LogReader, readBytes, readNumber, readText } from './reader.ts';

const dayMs = 86_400_000;
/** Rows changed per step. Each step is one transaction; webhooks are written between steps. */
const chunk = 500;
/** Message ids that a step looks at for plain hashes. There are millions, and nearly all have a keyed hash. */
const examinedIds = 1000;

export interface PruneStep {
  readonly dropped: number;
  readonly isDone: boolean;
}

/** Drops a chunk of what was received before a time: events with their facts, old message ids, old idempotency records. */
export function pruneStep(
  database: DatabaseSync,
  reader: LogReader,
  { before, now }: { readonly before: Date; readonly now: Date },
): PruneStep {
  const bound = before.getTime();
  const { through, isLast } = findCut(database, { bound, future: 2 * now.getTime() - bound });
  const run = (sql: string, value: number) => Number(database.prepare(sql).run(value).changes);
  const runChunk = (table: string, key: string, time: string) =>
    run(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${time} < ? LIMIT ${chunk})`,
      bound - messageIdDays * dayMs,
    );
  const forgotten = [runChunk('messages', 'message_id', 'received_at'), runChunk('replies', 'key', 'since')];
  const prunedThrough = Math.max(reader.prunedThrough(), through);
  run('DELETE FROM facts WHERE position <= ?', prunedThrough);
  const dropped = run('DELETE FROM events WHERE position <= ?', prunedThrough);
  database
    .prepare("INSERT INTO meta VALUES ('pruned_through', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1")
    .run(String(prunedThrough));
  return { dropped, isDone: isLast && forgotten.every((changes) => changes < chunk) };
}

interface Cut {
  /** Where this step cuts the log; 0 when nothing is old. */
  readonly through: number;
  readonly isLast: boolean;
}

/**
 * The log is cut at one position, after an old event and before the first young one, even if the clock was set back. An event
 * further ahead of now than the bound is behind it is neither old nor young. With an old event after it, it came under a wrong
 * clock and is deleted. Otherwise the clock may be wrong now.
 *
 * It reads one chunk after the other from the start of the log, and stops in the first one that has an old or a young event.
 */
function findCut(database: DatabaseSync, times: Times): Cut {
  let endOfFirst = 0;
  for (let after = 0; ; ) {
    const { lastOld, last, isEnd } = examineChunk(database, after, times);
    if (lastOld > 0 && endOfFirst > 0) return { through: endOfFirst, isLast: false };
    if (lastOld > 0 || isEnd) return { through: lastOld, isLast: isEnd };
    if (endOfFirst === 0) endOfFirst = last;
    after = last;
  }
}

interface Times {
  /** What was received before it is old. */
  readonly bound: number;
  /** What was received after it is neither old nor young. */
  readonly future: number;
}

interface ExaminedChunk {
  /** The position of its last old event before the first young one; 0 when there is none. */
  readonly lastOld: number;
  readonly last: number;
  /** Whether it has a young event, or is the end of the log. */
  readonly isEnd: boolean;
}

function examineChunk(database: DatabaseSync, after: number, { bound, future }: Times): ExaminedChunk {
  const rows = database
    .prepare(`SELECT position, received_at FROM events WHERE position > ? ORDER BY position LIMIT ${chunk}`)
    .iterate(after);
  let [lastOld, last, count] = [0, after, 0];
  for (const row of rows) {
    const receivedAt = readNumber(row, 'received_at');
    if (receivedAt >= bound && receivedAt <= future) return { lastOld, last, isEnd: true };
    last = readNumber(row, 'position');
    if (receivedAt < bound) lastOld = last;
    count += 1;
  }
  return { lastOld, last, isEnd: count < chunk };
}

/**
 * Replaces plain hashes of an earlier version by keyed ones, one step per call. Each step is one transaction, and the
 * migration can be stopped and restarted at any time.
 * @param after the last message id of the step before
 * @returns the last message id of this step; null when no plain hash is left
 */
export function rehashStep(database: DatabaseSync, seal: Seal, after: string): string | null {
  const end = database
    .prepare(
      `SELECT message_id FROM messages WHERE message_id > ? ORDER BY message_id LIMIT 1 OFFSET ${examinedIds - 1}`,
    )
    .get(after);
  const through = end === undefined ? null : readText(end, 'message_id');
  const rows = database
    .prepare(
      `SELECT message_id, body_hash FROM messages
        WHERE message_id > ?1 AND (?2 IS NULL OR message_id <= ?2) AND length(body_hash) = 32
        ORDER BY message_id LIMIT ${chunk}`,
    )
    .all(after, through);
  if (rows.length > 0) {
    const update = database.prepare('UPDATE messages SET body_hash = ? WHERE message_id = ?');
    // The old hashes must not stay readable in free pages of the file.
    database.exec('PRAGMA secure_delete = ON; BEGIN IMMEDIATE');
    try {
      for (const row of rows) update.run(seal.hash(readBytes(row, 'body_hash')), readText(row, 'message_id'));
      database.exec('COMMIT');
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
      database.exec('PRAGMA secure_delete = OFF');
    }
  }
  const last = rows.at(-1);
  if (last !== undefined && rows.length === chunk) return readText(last, 'message_id');
  if (through !== null) return through;
  // Nor may they stay readable in old pages of the write-ahead log.
  if (after !== '' || rows.length > 0) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return null;
}
