import type { DatabaseSync } from 'node:sqlite';
import type { Seal } from '../seal.ts';
import { readBytes, readText } from './statements.ts';

/** Rows changed per step; webhooks are written between steps. */
const chunk = 2000;

/**
 * Replaces plain hashes of an earlier version by keyed ones, one step per call. Each step is one transaction, and the
 * migration can be stopped and restarted at any time.
 * @param after the last message id of the step before
 * @returns the last message id of this step; null when no plain hash is left
 */
export function rehashStep(database: DatabaseSync, seal: Seal, after: string): string | null {
  const rows = database
    .prepare(
      `SELECT message_id, body_hash FROM messages
        WHERE message_id > ? AND length(body_hash) = 32 ORDER BY message_id LIMIT ${chunk}`,
    )
    .all(after);
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
  // Nor may they stay readable in old pages of the write-ahead log.
  if (after !== '' || rows.length > 0) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  return null;
}
