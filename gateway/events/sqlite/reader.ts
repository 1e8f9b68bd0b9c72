import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { isGatewayError } from '../../errors.ts';
import { hashFactKey } from '../fact-key.ts';
import type { Batch, DeadLetter, FactQuery, Gap, Latest, Scope, StoredEvent, StoredFact } from '../log.ts';
import { type EventRow, readDeadReason, rowOfEvent, rowOfFact } from '../row.ts';
import type { Seal } from '../seal.ts';
import { type Row, readBytes, readNumber, readOptionalNumber, readOptionalText, readText } from './rows.ts';

/** What marks are called in the table that holds the log's own notes as well. */
export const markPrefix = 'mark ';

/** Everything that reads the log's file. SQLite's own errors come through as they are. */
export type Reading = ReturnType<typeof createReading>;

export function createReading(database: DatabaseSync, seal: Seal) {
  const prepare = createPrepare(database);
  const head = () => {
    const row = prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
    return row === undefined ? 0 : readNumber(row, 'seq');
  };
  const meta = (name: string) => {
    const row = prepare('SELECT value FROM meta WHERE name = ?').get(name);
    return row === undefined ? null : readText(row, 'value');
  };
  const prunedThrough = () => Number(meta('pruned_through') ?? 0);

  return {
    head,
    meta,
    mark: (name: string) => meta(`${markPrefix}${name}`),
    marks: (prefix: string): ReadonlyMap<string, string> => {
      const start = `${markPrefix}${prefix}`;
      const rows = prepare('SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?').all(
        start.length,
        start,
      );
      return new Map(
        rows.map((row) => [readText(row, 'name').slice(markPrefix.length), readText(row, 'value')]),
      );
    },
    prunedThrough,
    integrity: (): readonly string[] =>
      prepare('PRAGMA integrity_check(20)')
        .all()
        .map((row) => readText(row, 'integrity_check'))
        .filter((finding) => finding !== 'ok'),
    /** @param end the end of the log as known: nothing after it is read, whatever is there */
    events: (scope: Scope, after: number, { limit, end }: Stretch): Batch | Gap => {
      const isPlace = after === 0 || prepare(selectPlace).get(after, after + 1) !== undefined;
      const { where, values } = toConditions(scope);
      const sql = `SELECT * FROM events
        WHERE position > ? AND position <= ? AND dead_reason IS NULL${where} ORDER BY position LIMIT ?`;
      const rows = prepare(sql).all(after, end, ...values, limit);
      // Read after the rows: what was pruned while they were read is seen here.
      const pruned = prunedThrough();
      if (after < pruned) return { kind: 'gap', reason: 'pruned' };
      if (!isPlace && after !== pruned) return { kind: 'gap', reason: 'other-epoch' };
      const events = openAsFar(rows, seal);
      const isSealed = events.length < rows.length;
      if (isSealed && events.length === 0) return { kind: 'gap', reason: 'sealed' };
      const isAll = rows.length < limit && !isSealed;
      return { kind: 'events', events, through: isAll ? end : (events.at(-1)?.position ?? after) };
    },
    latest: (subject: string): Latest | null => {
      const row = prepare('SELECT version, position, user_id FROM subjects WHERE subject = ?').get(subject);
      if (row === undefined) return null;
      return {
        version: readNumber(row, 'version'),
        position: readNumber(row, 'position'),
        userId: readOptionalText(row, 'user_id'),
      };
    },
    changedSince: (userId: string, since: Date): readonly string[] =>
      // A position is a time in microseconds, never an earlier one than the message came at.
      prepare(
        `SELECT DISTINCT subject FROM events
          WHERE user_id = ? AND position >= ? AND advances = 1 AND dead_reason IS NULL AND subject IS NOT NULL`,
      )
        .all(userId, since.getTime() * 1000)
        .map((row) => readText(row, 'subject')),
    facts: (query: FactQuery, limit: number): readonly StoredFact[] => {
      const { where, values } = toFactConditions(query);
      const sql = `SELECT key, at, position, received_at, value FROM facts WHERE ${where}
        ORDER BY at DESC, position DESC, key DESC LIMIT ?`;
      return prepare(sql)
        .all(...values, limit)
        .map((row) => toFact(row, seal, query));
    },
    deadLetters: (after: number, limit: number): readonly DeadLetter[] =>
      prepare('SELECT * FROM events WHERE position > ? AND dead_reason IS NOT NULL ORDER BY position LIMIT ?')
        .all(after, limit)
        .map((row) => {
          const event = toEventRow(row);
          const body = seal.tryOpen(readBytes(row, 'body'), rowOfEvent(event, 'body'));
          return {
            ...event,
            ...toRest(row, event, seal),
            deadReason: event.deadReason ?? 'unreadable',
            body,
          };
        }),
  };
}

/**
 * A place is an event's, or the one right before it. One where nothing ever stood belongs to a history that was
 * replaced by an older copy of the file.
 */
const selectPlace = 'SELECT 1 FROM events WHERE position BETWEEN ? AND ? LIMIT 1';

interface Stretch {
  readonly limit: number;
  readonly end: number;
}

/** Prepares each text once. There are few: one per combination of the parts of a scope. */
function createPrepare(database: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** The events up to the first that no key opens. */
function openAsFar(rows: readonly Row[], seal: Seal): readonly StoredEvent[] {
  const events: StoredEvent[] = [];
  try {
    for (const row of rows) events.push(toEvent(row, seal));
  } catch (error) {
    if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
  }
  return events;
}

function toEvent(row: Row, seal: Seal): StoredEvent {
  const event = toEventRow(row);
  const { deadReason: _, ...head } = event;
  const body = seal.open(readBytes(row, 'body'), rowOfEvent(event, 'body'));
  return { ...head, ...toRest(row, event, seal), body };
}

function toRest(row: Row, event: EventRow, seal: Seal): Pick<StoredEvent, 'position' | 'clientUserId'> {
  const clientUserId = readOptionalText(row, 'client_user_id');
  return {
    position: readNumber(row, 'position'),
    clientUserId: seal.openText(clientUserId, rowOfEvent(event, 'client-user-id')),
  };
}

function toEventRow(row: Row): EventRow {
  const subject = readOptionalText(row, 'subject');
  const version = readOptionalNumber(row, 'version');
  return {
    messageId: readText(row, 'message_id'),
    receivedAt: new Date(readNumber(row, 'received_at')),
    type: readText(row, 'type'),
    userId: readOptionalText(row, 'user_id'),
    teamId: readOptionalText(row, 'team_id'),
    subject: subject === null || version === null ? null : { id: subject, version },
    origin: readText(row, 'origin') === 'reconciled' ? 'reconciled' : 'webhook',
    deadReason: readDeadReason(readOptionalText(row, 'dead_reason')),
  };
}

function toFact(row: Row, seal: Seal, { userId, kind }: FactQuery): StoredFact {
  const at = new Date(readNumber(row, 'at'));
  const receivedAt = new Date(readNumber(row, 'received_at'));
  const place = rowOfFact({ userId, kind, hashedKey: readText(row, 'key'), at, receivedAt });
  const value = seal.open(readBytes(row, 'value'), place);
  return { at, position: readNumber(row, 'position'), receivedAt, value };
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
