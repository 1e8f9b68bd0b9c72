import type { DatabaseSync } from 'node:sqlite';
import { hashFactKey } from '../fact-key.ts';
import type { EarlierAttempt } from '../idempotency-records.ts';
import { sha256 } from '../keyed-hash.ts';
import { type Appended, type Claimed, isAdvance, messageIdDays, type NewMessage } from '../log.ts';
import { rowOfEvent, rowOfFact, rowOfIdempotencyRecord } from '../row.ts';
import type { Seal } from '../seal.ts';
import { createRehashing } from './hash-migration.ts';
import { isWhole } from './log-file.ts';
import { createDepositing } from './one-time-values.ts';
import { createReading, markPrefix, type Reading } from './reader.ts';
import { readBytes, readNumber, readText } from './rows.ts';

const dayMs = 86_400_000;
/** Rows dropped per transaction: webhooks are written in between. */
const pruneChunk = 2000;

export interface PruneStep {
  readonly dropped: number;
  readonly isDone: boolean;
}

export interface AppendedGroup {
  /** Where the log ended before. */
  readonly follows: number;
  readonly appended: readonly (Appended | null)[];
}

/** Everything that writes to the log's file; each call is one transaction, durable when it returns. */
export type Writing = ReturnType<typeof createWriting>;

/** @param database a connection of its own, with synchronous=FULL */
export function createWriting(database: DatabaseSync, seal: Seal) {
  const prepare = (sql: string) => database.prepare(sql);
  const reading = createReading(database, seal);
  const setMeta = prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const deleteMeta = prepare('DELETE FROM meta WHERE name = ?');
  const appendOne = createAppend(database, seal, reading);
  const insertClaim = prepare('INSERT INTO subjects VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING');
  const insertReply = prepare(
    'INSERT INTO replies (key, fingerprint, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const selectReply = prepare('SELECT fingerprint, since, answer FROM replies WHERE key = ?');
  const reclaimIdempotent = prepare(
    'UPDATE replies SET since = max(?, since + 1) WHERE key = ? AND since = ? AND answer IS NULL',
  );
  const finishIdempotent = prepare('UPDATE replies SET answer = ? WHERE key = ?');
  const releaseIdempotent = prepare('DELETE FROM replies WHERE key = ? AND answer IS NULL');

  return {
    /** In the order given; null for a message that cannot be stored, which takes no other down with it. */
    append: (messages: readonly NewMessage[]): AppendedGroup =>
      inTransaction(database, () => ({
        follows: reading.head(),
        appended: messages.map((message) => undoing(database, () => appendOne(message))),
      })),
    claim: (subject: string, { userId, version }: Claimed): void => {
      insertClaim.run(subject, version, userId);
    },
    writeMark: (name: string, value: string): void => {
      setMeta.run(`${markPrefix}${name}`, value);
    },
    dropMark: (name: string): void => {
      deleteMeta.run(`${markPrefix}${name}`);
    },
    isWhole: (): boolean => isWhole(database),
    probe: (): void => {
      setMeta.run('probed_at', new Date().toISOString());
    },
    prune: (before: Date): PruneStep => inTransaction(database, () => pruneStep(database, reading, before)),
    beginIdempotent: (key: string, fingerprint: string, now: Date): EarlierAttempt => {
      const hashed = seal.hashText(fingerprint);
      if (insertReply.run(key, hashed, now.getTime()).changes === 1) return { kind: 'first' };
      const row = selectReply.get(key) ?? {};
      if (!seal.isHashOfText(readText(row, 'fingerprint'), fingerprint)) return { kind: 'conflict' };
      if (row.answer === null) return { kind: 'unsettled', since: new Date(readNumber(row, 'since')) };
      const answer = seal.open(readBytes(row, 'answer'), rowOfIdempotencyRecord(key));
      return { kind: 'finished', answer: JSON.parse(answer.toString('utf8')) };
    },
    reclaimIdempotent: (key: string, since: Date, now: Date): boolean =>
      reclaimIdempotent.run(now.getTime(), key, since.getTime()).changes === 1,
    finishIdempotent: (key: string, answer: unknown): void => {
      finishIdempotent.run(seal.close(Buffer.from(JSON.stringify(answer)), rowOfIdempotencyRecord(key)), key);
    },
    releaseIdempotent: (key: string): void => {
      releaseIdempotent.run(key);
    },
    ...createDepositing(database, seal),
    ...createRehashing(database, seal),
    close: (): void => database.close(),
  };
}

function createAppend(
  database: DatabaseSync,
  seal: Seal,
  { latest }: Reading,
): (message: NewMessage) => Appended {
  const selectMessage = database.prepare('SELECT position, body_hash FROM messages WHERE message_id = ?');
  const insertMessage = database.prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
  const insertEvent = database.prepare(
    `INSERT INTO events (position, message_id, received_at, type, user_id, client_user_id, team_id, subject, version,
      origin, advances, dead_reason, body) VALUES (
      max(?, coalesce((SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events'), 1)),
      ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const upsertSubject = database.prepare(
    `INSERT INTO subjects VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE
      SET version = excluded.version, position = excluded.position,
        user_id = coalesce(excluded.user_id, user_id)`,
  );
  const keepFacts = createFactKeeping(database, seal);

  const insert = (message: NewMessage, advances: boolean): number => {
    const { subject, userId, teamId } = message;
    const clientUserId = seal.closeText(message.clientUserId, rowOfEvent(message, 'client-user-id'));
    const { lastInsertRowid } = insertEvent.run(
      // Microseconds: whole numbers below 2^53 for 200 years more.
      Date.now() * 1000,
      ...[message.messageId, message.receivedAt.getTime(), message.type, userId, clientUserId, teamId],
      ...[subject?.id ?? null, subject?.version ?? null, message.origin, advances ? 1 : 0],
      ...[message.deadReason, seal.close(message.body, rowOfEvent(message, 'body'))],
    );
    return Number(lastInsertRowid);
  };

  return (message) => {
    const digest = sha256(message.body);
    const earlier = selectMessage.get(message.messageId);
    if (earlier !== undefined) {
      const altered = !seal.isHashOf(readBytes(earlier, 'body_hash'), digest);
      return { position: readNumber(earlier, 'position'), duplicate: true, altered };
    }
    const { subject } = message;
    const advances = isAdvance(message, subject === null ? null : latest(subject.id));
    const position = insert(message, advances);
    insertMessage.run(message.messageId, position, seal.hash(digest), message.receivedAt.getTime());
    if (advances && subject) upsertSubject.run(subject.id, subject.version, position, message.userId);
    keepFacts(message, position);
    return { position, duplicate: false, altered: false };
  };
}

/** Keys of facts are kept as hashes: they name sources and times, and are only ever compared. */
function createFactKeeping(database: DatabaseSync, seal: Seal) {
  const upsert = database.prepare(
    `INSERT INTO facts (user_id, kind, key, at, position, received_at, value) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (user_id, kind, key) DO UPDATE SET at = excluded.at, position = excluded.position,
      received_at = excluded.received_at, value = excluded.value`,
  );
  return ({ userId, receivedAt, deadReason, facts = [] }: NewMessage, position: number): void => {
    if (userId === null || deadReason !== null) return;
    for (const { kind, key, at, value } of facts) {
      const hashedKey = hashFactKey(key);
      const sealed = seal.close(Buffer.from(value), rowOfFact({ userId, kind, hashedKey, at, receivedAt }));
      upsert.run(userId, kind, hashedKey, at.getTime(), position, receivedAt.getTime(), sealed);
    }
  };
}

/** One step of dropping what was received before a time, with all that belongs to it. */
function pruneStep(database: DatabaseSync, reading: Reading, before: Date): PruneStep {
  const bound = before.getTime();
  const run = (sql: string, ...values: readonly number[]) => database.prepare(sql).run(...values).changes;
  const through = endOfStep(database, reading, bound);
  const oldIds = bound - messageIdDays * dayMs;
  const forgotten = [
    run(
      `DELETE FROM messages WHERE message_id IN
        (SELECT message_id FROM messages WHERE received_at < ? LIMIT ${pruneChunk})`,
      oldIds,
    ),
    run(
      `DELETE FROM replies WHERE key IN (SELECT key FROM replies WHERE since < ? LIMIT ${pruneChunk})`,
      oldIds,
    ),
  ];
  run('DELETE FROM facts WHERE position <= ?', through);
  const dropped = Number(run('DELETE FROM events WHERE position <= ?', through));
  database
    .prepare("INSERT INTO meta VALUES ('pruned_through', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1")
    .run(String(through));
  return { dropped, isDone: [dropped, ...forgotten].every((changes) => Number(changes) < pruneChunk) };
}

/** The log is cut at one place: what stands behind a younger message stays, even if the clock was set back. */
function endOfStep(database: DatabaseSync, reading: Reading, bound: number): number {
  const find = (sql: string, value: number) => {
    const row = database.prepare(sql).get(value);
    return row === undefined ? undefined : readNumber(row, 'position');
  };
  const firstKept = find(
    'SELECT position FROM events WHERE received_at >= ? ORDER BY position LIMIT 1',
    bound,
  );
  const end =
    firstKept === undefined
      ? reading.head()
      : find('SELECT position FROM events WHERE position < ? ORDER BY position DESC LIMIT 1', firstKept);
  if (end === undefined) return reading.prunedThrough();
  const chunk = find(
    `SELECT position FROM events WHERE position <= ? ORDER BY position LIMIT 1 OFFSET ${pruneChunk - 1}`,
    end,
  );
  return Math.max(reading.prunedThrough(), chunk ?? end);
}

/** Runs the work in one transaction, durable when this returns; nothing of it stays when it throws. */
function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Undoes what a failed piece of work did, and null; throws on where the whole transaction is lost (disk full). */
function undoing<T>(database: DatabaseSync, work: () => T): T | null {
  database.exec('SAVEPOINT one');
  try {
    return work();
  } catch (error) {
    if (!database.isTransaction) throw error;
    database.exec('ROLLBACK TO one');
    return null;
  } finally {
    if (database.isTransaction) database.exec('RELEASE one');
  }
}
