import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { GatewayError, isGatewayError } from '../../errors.ts';
import {
  type Batch,
  type DeadLetter,
  type Extent,
  type FactQuery,
  firstPositionOf,
  type Gap,
  type Latest,
  type Scope,
  type StoredFact,
} from '../log.ts';
import type { Seal } from '../seal.ts';
import { type EventColumns, hashFactKey, openBatch, openDeadLetter, openFact } from '../sealed-rows.ts';

/** Prefix of the names of marks in the table `meta`, which also holds the log's own entries. */
export const markPrefix = 'mark ';

/** The most bytes of bodies that a read gives, as over Redis: a stream holds its batch until the client has taken it. */
const maxBatchBytes = 4 * 1024 * 1024;

/** The most events that a read examines for the types or changes that are asked for; they are read on the main thread. */
const maxExamined = 1000;

interface Stretch {
  readonly limit: number;
  /** The known end of the log: nothing after it is read. */
  readonly end: number;
}

/** All reads of the log's file. SQLite's own errors are thrown as they are. */
export class LogReader {
  readonly #sql: Statements;
  readonly #seal: Seal;

  constructor(database: DatabaseSync, seal: Seal) {
    this.#sql = new Statements(database);
    this.#seal = seal;
  }

  head(): number {
    const row = this.#sql.get("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
    return row === undefined ? 0 : readNumber(row, 'seq');
  }

  measure(): Extent {
    const pages =
      this.#sql.get('SELECT page_count, page_size FROM pragma_page_count, pragma_page_size').get() ?? {};
    const first = this.#sql.get('SELECT position FROM events ORDER BY position LIMIT 1').get();
    return {
      bytes: readNumber(pages, 'page_count') * readNumber(pages, 'page_size'),
      oldestAt: first === undefined ? null : toDate(readNumber(first, 'position')),
    };
  }

  meta(name: string): string | null {
    const row = this.#sql.get('SELECT value FROM meta WHERE name = ?').get(name);
    return row === undefined ? null : readText(row, 'value');
  }

  mark(name: string): string | null {
    return this.meta(`${markPrefix}${name}`);
  }

  marks(prefix: string): ReadonlyMap<string, string> {
    const start = `${markPrefix}${prefix}`;
    const rows = this.#sql
      .get('SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?')
      .all(start.length, start);
    return new Map(
      rows.map((row) => [readText(row, 'name').slice(markPrefix.length), readText(row, 'value')]),
    );
  }

  prunedThrough(): number {
    return Number(this.meta('pruned_through') ?? 0);
  }

  integrity(): readonly string[] {
    return this.#sql
      .get('PRAGMA integrity_check(20)')
      .all()
      .map((row) => readText(row, 'integrity_check'))
      .filter((finding) => finding !== 'ok');
  }

  events(scope: Scope, after: number, stretch: Stretch): Batch | Gap {
    const { limit } = stretch;
    const isPosition = after === 0 || this.#sql.get(selectPosition).get(after, after + 1) !== undefined;
    const end = this.#endOfExamined(scope, after, stretch.end);
    const { where, values } = toConditions(scope);
    const found = this.#sql
      .get(
        `SELECT * FROM events
          WHERE position > ? AND position <= ? AND dead_reason IS NULL${where} ORDER BY position LIMIT ?`,
      )
      .iterate(after, end, ...values, limit);
    const rows: EventColumns[] = [];
    let bytes = 0;
    for (const row of found) {
      const columns = toEventColumns(row);
      rows.push(columns);
      bytes += columns.body.length;
      if (bytes >= maxBatchBytes) break;
    }
    // Read after the rows, so that events pruned meanwhile are noticed.
    const pruned = this.prunedThrough();
    if (after < pruned) return { kind: 'gap', reason: 'pruned', through: pruned };
    if (!isPosition && after !== pruned) return { kind: 'gap', reason: 'other-epoch' };
    const isAll = rows.length < limit && bytes < maxBatchBytes;
    const through = isAll ? end : (rows.at(-1)?.position ?? after);
    return openBatch(rows, through, this.#seal);
  }

  /** The end of a read: of one that may skip many events before it finds one, the end of what it examines. */
  #endOfExamined({ types, changesOnly, ...whose }: Scope, after: number, endOfLog: number): number {
    if (types === undefined && changesOnly !== true) return endOfLog;
    const { where, values } = toConditions(whose);
    const row = this.#sql
      .get(
        `SELECT position FROM events WHERE position > ? AND position <= ?${where} ORDER BY position LIMIT 1 OFFSET ?`,
      )
      .get(after, endOfLog, ...values, maxExamined - 1);
    return row === undefined ? endOfLog : readNumber(row, 'position');
  }

  latest(subject: string): Latest | null {
    const row = this.#sql
      .get('SELECT version, position, user_id FROM subjects WHERE subject = ?')
      .get(subject);
    return row === undefined ? null : toLatest(row);
  }

  /** The newest version of each of these subjects that the log has. One statement, because each is a transaction. */
  latestOf(subjects: readonly string[]): ReadonlyMap<string, Latest> {
    const rows = this.#sql
      .get(
        `SELECT subject, version, position, user_id FROM subjects
          WHERE subject IN (SELECT value FROM json_each(?))`,
      )
      .all(JSON.stringify(subjects));
    return new Map(rows.map((row) => [readText(row, 'subject'), toLatest(row)]));
  }

  changedSince(userId: string, since: Date): readonly string[] {
    return this.#sql
      .get(
        `SELECT DISTINCT subject FROM events
          WHERE user_id = ? AND position >= ? AND advances = 1 AND dead_reason IS NULL AND subject IS NOT NULL`,
      )
      .all(userId, firstPositionOf(since))
      .map((row) => readText(row, 'subject'));
  }

  facts(query: FactQuery, limit: number): readonly StoredFact[] {
    const { where, values } = toFactConditions(query);
    return this.#sql
      .get(
        `SELECT key, at, position, received_at, value FROM facts WHERE ${where}
          ORDER BY at DESC, position DESC, key DESC LIMIT ?`,
      )
      .all(...values, limit)
      .map((row) => {
        const columns = {
          hashedKey: readText(row, 'key'),
          at: readNumber(row, 'at'),
          position: readNumber(row, 'position'),
          receivedAt: readNumber(row, 'received_at'),
          value: readBytes(row, 'value'),
        };
        return openFact(columns, query, this.#seal);
      });
  }

  deadLetters(after: number, limit: number): readonly DeadLetter[] {
    return this.#sql
      .get('SELECT * FROM events WHERE position > ? AND dead_reason IS NOT NULL ORDER BY position LIMIT ?')
      .all(after, limit)
      .map((row) => openDeadLetter(toEventColumns(row), this.#seal));
  }
}

/**
 * A valid position is an event's, or the one right before an event. Any other position belongs to a history that was
 * replaced by an older copy of the file.
 */
const selectPosition = 'SELECT 1 FROM events WHERE position BETWEEN ? AND ? LIMIT 1';

function toEventColumns(row: Row): EventColumns {
  return {
    position: readNumber(row, 'position'),
    messageId: readText(row, 'message_id'),
    receivedAt: readNumber(row, 'received_at'),
    type: readText(row, 'type'),
    userId: readOptionalText(row, 'user_id'),
    clientUserId: readOptionalText(row, 'client_user_id'),
    teamId: readOptionalText(row, 'team_id'),
    subject: readOptionalText(row, 'subject'),
    version: readOptionalNumber(row, 'version'),
    origin: readText(row, 'origin'),
    deadReason: readOptionalText(row, 'dead_reason'),
    body: readBytes(row, 'body'),
  };
}

/** A position is the time of its append in microseconds. */
function toDate(position: number): Date {
  return new Date(Math.floor(position / 1000));
}

interface Conditions {
  readonly where: string;
  readonly values: readonly SQLInputValue[];
}

function toConditions({ userId, subject, types, changesOnly }: Scope): Conditions {
  const parts: (readonly [string, SQLInputValue])[] = [];
  if (userId !== undefined) parts.push(['user_id = ?', userId]);
  if (subject !== undefined) parts.push(['subject = ?', subject]);
  if (types !== undefined) {
    parts.push(['type IN (SELECT value FROM json_each(?))', JSON.stringify(types)]);
  }
  if (changesOnly) parts.push(['advances = ?', 1]);
  return {
    where: parts.map(([part]) => ` AND ${part}`).join(''),
    values: parts.map(([, value]) => value),
  };
}

function toFactConditions({ userId, kind, key, from, before }: FactQuery): Conditions {
  const parts: (readonly [string, SQLInputValue])[] = [
    ['user_id = ?', userId],
    ['kind = ?', kind],
  ];
  if (key !== undefined) parts.push(['key = ?', hashFactKey(key)]);
  if (from !== undefined) parts.push(['at >= ?', from.getTime()]);
  if (before !== undefined) parts.push(['at < ?', before.getTime()]);
  return { where: parts.map(([part]) => part).join(' AND '), values: parts.map(([, value]) => value) };
}

/** Prepares each SQL text once. There are few texts: at most one per combination of the parts of a scope. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/**
 * Readers of rows. The tables are STRICT, so another type than the table's means a damaged file. No schema library here:
 * loading one would double the start time of the writer thread.
 */
export type Row = Readonly<Record<string, SQLOutputValue>>;

export function readNumber(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw unexpected(column);
  return value;
}

export function readText(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

function readOptionalText(row: Row, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

function readOptionalNumber(row: Row, column: string): number | null {
  return row[column] === null ? null : readNumber(row, column);
}

export function readBytes(row: Row, column: string): Buffer {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

function unexpected(column: string): Error {
  return new Error(`The column ${column} of the event log has a value that its table does not allow.`);
}

function toLatest(row: Row): Latest {
  return {
    version: readNumber(row, 'version'),
    position: readNumber(row, 'position'),
    userId: readOptionalText(row, 'user_id'),
  };
}

/** @throws GatewayError EVENT_LOG_UNAVAILABLE for an error of SQLite */
export function read<T>(ask: () => T): T {
  try {
    return ask();
  } catch (cause) {
    if (isGatewayError(cause)) throw cause;
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event log could not be read.', { cause });
  }
}
