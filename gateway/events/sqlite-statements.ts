import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { z } from 'zod';
import { type Latest, messageIdDays, type NewMessage, type Scope } from './log.ts';

const dayMs = 86_400_000;

const tables = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS messages (
  message_id TEXT PRIMARY KEY, position INTEGER NOT NULL, body_hash BLOB NOT NULL, received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL, received_at INTEGER NOT NULL, type TEXT NOT NULL,
  user_id TEXT, client_user_id TEXT, team_id TEXT, subject TEXT, version INTEGER,
  origin TEXT NOT NULL, advances INTEGER NOT NULL, dead_reason TEXT, body BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS events_of_user ON events (user_id, position);
CREATE INDEX IF NOT EXISTS events_of_subject ON events (subject, position);
CREATE TABLE IF NOT EXISTS subjects (
  subject TEXT PRIMARY KEY, version INTEGER NOT NULL, position INTEGER NOT NULL, user_id TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS replies (
  key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, since INTEGER NOT NULL, answer BLOB
) STRICT, WITHOUT ROWID;
`;

const eventRow = z.object({
  position: z.number(),
  message_id: z.string(),
  received_at: z.number(),
  type: z.string(),
  user_id: z.string().nullable(),
  client_user_id: z.string().nullable(),
  team_id: z.string().nullable(),
  subject: z.string().nullable(),
  version: z.number().nullable(),
  origin: z.string(),
  body: z.instanceof(Uint8Array),
});
export type EventRow = z.infer<typeof eventRow>;

const latestRow = z.object({ version: z.number(), position: z.number(), user_id: z.string().nullable() });
const knownRow = z.object({ position: z.number(), body_hash: z.instanceof(Uint8Array) });

export interface Statements {
  readonly head: () => number;
  readonly prunedThrough: () => number;
  readonly readOrSetMeta: (name: string, value: string) => string;
  readonly knownMessage: (id: string) => { readonly position: number; readonly bodyHash: Buffer } | null;
  readonly insert: (message: NewMessage, kept: Kept) => number;
  readonly readEvents: (scope: Scope, after: number, limit: number) => readonly EventRow[];
  readonly latest: (subject: string) => Latest | null;
  readonly claim: (subject: string, userId: string) => void;
  readonly prune: (before: Date) => number;
  readonly probeWrite: () => boolean;
}

interface Kept {
  readonly advances: boolean;
  readonly bodyHash: Buffer;
  readonly sealed: Buffer;
}

/**
 * The SQL of the event log, prepared once.
 * @param pruneFacts drops what else belongs to the events up to a position, in the same transaction
 */
export function createStatements(database: DatabaseSync, pruneFacts: (through: number) => void): Statements {
  database.exec(tables);
  const prepare = (sql: string) => database.prepare(sql);
  const setMeta = prepare(
    'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  const getMeta = prepare('SELECT value FROM meta WHERE name = ?');
  const selectHead = prepare(
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS head",
  );
  const selectFirstSince = prepare(
    'SELECT position AS first FROM events WHERE received_at >= ? ORDER BY position LIMIT 1',
  );
  const selectMessage = prepare('SELECT position, body_hash FROM messages WHERE message_id = ?');
  const insertMessage = prepare('INSERT INTO messages VALUES (?, ?, ?, ?)');
  const insertEvent = prepare(
    `INSERT INTO events (message_id, received_at, type, user_id, client_user_id, team_id, subject, version, origin,
      advances, dead_reason, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const upsertSubject = prepare(
    `INSERT INTO subjects VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE
      SET version = excluded.version, position = excluded.position,
        user_id = coalesce(excluded.user_id, user_id)`,
  );
  const insertClaim = prepare('INSERT INTO subjects VALUES (?, 0, 0, ?) ON CONFLICT DO NOTHING');
  const selectLatest = prepare('SELECT version, position, user_id FROM subjects WHERE subject = ?');

  const metaText = (name: string) =>
    z.object({ value: z.string() }).safeParse(getMeta.get(name)).data?.value ?? null;
  let prunedThrough = Number(metaText('pruned_through') ?? 0);
  const head = () => z.object({ head: z.number() }).parse(selectHead.get()).head;
  // The log is cut at one place: what stands behind a younger message stays, even if the clock was set back.
  const lastBefore = (bound: number) => {
    const row = z.object({ first: z.number() }).safeParse(selectFirstSince.get(bound)).data;
    return Math.max(prunedThrough, row === undefined ? head() : row.first - 1);
  };

  return {
    head,
    prunedThrough: () => prunedThrough,
    readOrSetMeta: (name, value) => {
      const existing = metaText(name);
      if (existing === null) setMeta.run(name, value);
      return existing ?? value;
    },
    knownMessage: (id) => {
      const row = knownRow.safeParse(selectMessage.get(id)).data;
      return row ? { position: row.position, bodyHash: Buffer.from(row.body_hash) } : null;
    },
    insert: (message, { advances, bodyHash, sealed }) => {
      const receivedAt = message.receivedAt.getTime();
      const { subject, userId, clientUserId, teamId } = message;
      const { lastInsertRowid } = insertEvent.run(
        ...[message.messageId, receivedAt, message.type, userId, clientUserId, teamId],
        ...[subject?.id ?? null, subject?.version ?? null, message.origin, advances ? 1 : 0],
        ...[message.deadReason, sealed],
      );
      const position = Number(lastInsertRowid);
      insertMessage.run(message.messageId, position, bodyHash, receivedAt);
      if (advances && subject) upsertSubject.run(subject.id, subject.version, position, userId);
      return position;
    },
    readEvents: (scope, after, limit) => {
      const { where, values } = toConditions(scope);
      const sql = `SELECT * FROM events WHERE position > ? AND dead_reason IS NULL${where} ORDER BY position LIMIT ?`;
      return prepare(sql)
        .all(after, ...values, limit)
        .map((row) => eventRow.parse(row));
    },
    latest: (subject) => {
      const row = latestRow.safeParse(selectLatest.get(subject)).data;
      return row ? { version: row.version, position: row.position, userId: row.user_id } : null;
    },
    claim: (subject, userId) => void insertClaim.run(subject, userId),
    prune: (before) => {
      const bound = before.getTime();
      const oldIds = bound - messageIdDays * dayMs;
      const through = lastBefore(bound);
      const changes = inTransaction(database, () => {
        prepare('DELETE FROM messages WHERE received_at < ?').run(oldIds);
        prepare('DELETE FROM replies WHERE since < ?').run(oldIds);
        setMeta.run('pruned_through', String(through));
        pruneFacts(through);
        return prepare('DELETE FROM events WHERE position <= ?').run(through).changes;
      });
      prunedThrough = through;
      return Number(changes);
    },
    probeWrite: () => {
      try {
        setMeta.run('probed_at', new Date().toISOString());
        return true;
      } catch {
        return false;
      }
    },
  };
}

/** Runs the work in one transaction, durable when this returns; nothing of it stays when it throws. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
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

function toConditions(scope: Scope): { readonly where: string; readonly values: readonly SQLInputValue[] } {
  const parts: string[] = [];
  const values: SQLInputValue[] = [];
  if (scope.userId !== undefined) {
    parts.push('user_id = ?');
    values.push(scope.userId);
  }
  if (scope.subject !== undefined) {
    parts.push('subject = ?');
    values.push(scope.subject);
  }
  if (scope.types !== undefined) {
    parts.push(`type IN (${scope.types.map(() => '?').join(', ')})`);
    values.push(...scope.types);
  }
  if (scope.changesOnly) parts.push('advances = 1');
  return { where: parts.map((part) => ` AND ${part}`).join(''), values };
}
