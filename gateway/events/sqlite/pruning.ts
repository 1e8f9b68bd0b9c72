import type { DatabaseSync } from 'node:sqlite';
import { messageIdDays } from '../log.ts';
import type { LogReader } from './reader.ts';
import { readNumber } from './statements.ts';

const dayMs = 86_400_000;
/** Rows dropped per transaction; webhooks are written between transactions. */
const chunk = 2000;

export interface PruneStep {
  readonly dropped: number;
  readonly isDone: boolean;
}

/** Drops a chunk of what was received before a time: events with their facts, old message ids, old idempotency records. */
export function pruneStep(database: DatabaseSync, reader: LogReader, before: Date): PruneStep {
  const bound = before.getTime();
  const through = endOfStep(database, reader, bound);
  const run = (sql: string, value: number) => Number(database.prepare(sql).run(value).changes);
  const runChunk = (table: string, key: string, time: string) =>
    run(
      `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${time} < ? LIMIT ${chunk})`,
      bound - messageIdDays * dayMs,
    );
  const forgotten = [runChunk('messages', 'message_id', 'received_at'), runChunk('replies', 'key', 'since')];
  run('DELETE FROM facts WHERE position <= ?', through);
  const dropped = run('DELETE FROM events WHERE position <= ?', through);
  database
    .prepare("INSERT INTO meta VALUES ('pruned_through', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1")
    .run(String(through));
  return { dropped, isDone: [dropped, ...forgotten].every((changes) => changes < chunk) };
}

/** The log is cut at one position: events after a younger one stay, even if the clock was set back. */
function endOfStep(database: DatabaseSync, reader: LogReader, bound: number): number {
  const find = (sql: string, value: number) => {
    const row = database.prepare(sql).get(value);
    return row === undefined ? undefined : readNumber(row, 'position');
  };
  const firstYoung = find(
    'SELECT position FROM events WHERE received_at >= ? ORDER BY position LIMIT 1',
    bound,
  );
  const end =
    firstYoung === undefined
      ? reader.head()
      : find('SELECT position FROM events WHERE position < ? ORDER BY position DESC LIMIT 1', firstYoung);
  if (end === undefined) return reader.prunedThrough();
  const endOfChunk = find(
    `SELECT position FROM events WHERE position <= ? ORDER BY position LIMIT 1 OFFSET ${chunk - 1}`,
    end,
  );
  return Math.max(reader.prunedThrough(), endOfChunk ?? end);
}
