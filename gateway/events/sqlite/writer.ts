import type { DatabaseSync } from 'node:sqlite';
import type { EarlierAttempt } from '../idempotency.ts';
import { type Appended, type Claimed, contentDays, isAdvance, type NewMessage } from '../log.ts';
import { type Seal, sha256 } from '../seal.ts';
import {
  contentKeysOf,
  openRecord,
  rowOfIdempotencyRecord,
  rowOfOneTimeValue,
  sealEvent,
  sealFacts,
  toOriginColumn,
} from '../sealed-rows.ts';
import { isWhole } from './log-file.ts';
import { type PruneStep, pruneStep, rehashStep } from './maintenance.ts';
import { LogReader, markPrefix, readBytes, readNumber, readText, Statements } from './reader.ts';

export interface AppendedGroup {
  /** The end of the log before the group. */
  readonly follows: number;
  readonly written: readonly (Written | null)[];
}

export interface Written {
  readonly appended: Appended;
  /** Whether the message is a change of its subject. */
  readonly advances: boolean;
}

/** All writes to the log's file, durable when they return. */
export class LogWriter {
  readonly #database: DatabaseSync;
  readonly #seal: Seal;
  readonly #sql: Statements;
  readonly #reader: LogReader;

  /** @param database a connection of its own, with synchronous=FULL */
  constructor(database: DatabaseSync, seal: Seal) {
    this.#database = database;
    this.#seal = seal;
    this.#sql = new Statements(database);
    this.#reader = new LogReader(database, seal);
  }

  /** Appends in the given order. The result is null for a message that cannot be stored; the others are stored. */
  append(messages: readonly NewMessage[]): AppendedGroup {
    return inTransaction(this.#database, () => ({
      follows: this.#reader.head(),
      written: messages.map((message) => inSavepoint(this.#database, () => this.#appendOne(message))),
    }));
  }

  claim(subject: string, { userId, version }: Claimed): void {
    this.#sql
      .get('INSERT INTO subjects VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING')
      .run(subject, version, userId);
  }

  writeMark(name: string, value: string): void {
    this.#setMeta(`${markPrefix}${name}`, value);
  }

  dropMark(name: string): void {
    this.#sql.get('DELETE FROM meta WHERE name = ?').run(`${markPrefix}${name}`);
  }

  isWhole(): boolean {
    return isWhole(this.#database);
  }

  probe(): void {
    this.#setMeta('probed_at', new Date().toISOString());
  }

  prune(before: Date, now: Date): PruneStep {
    return inTransaction(this.#database, () => {
      this.#dropExpiredValues(now);
      return pruneStep(this.#database, this.#reader, { before, now });
    });
  }

  rehash(after: string): string | null {
    return rehashStep(this.#database, this.#seal, after);
  }

  beginIdempotent(key: string, fingerprint: string, now: Date): EarlierAttempt {
    const inserted = this.#sql
      .get('INSERT INTO replies (key, fingerprint, since) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(key, this.#seal.hashText(fingerprint), now.getTime());
    if (inserted.changes === 1) return { kind: 'first' };
    const row = this.#sql.get('SELECT fingerprint, since, answer FROM replies WHERE key = ?').get(key) ?? {};
    const since = readNumber(row, 'since');
    const record = {
      fingerprint: readText(row, 'fingerprint'),
      since,
      ageMs: now.getTime() - since,
      answer: row.answer === null ? null : readBytes(row, 'answer'),
    };
    return openRecord(record, { key, fingerprint }, this.#seal);
  }

  isIdempotentOfAnother(key: string, fingerprint: string): boolean {
    const row = this.#sql.get('SELECT fingerprint FROM replies WHERE key = ?').get(key);
    return row !== undefined && !this.#seal.isHashOfText(readText(row, 'fingerprint'), fingerprint);
  }

  reclaimIdempotent(key: string, since: Date, now: Date): boolean {
    const updated = this.#sql
      .get('UPDATE replies SET since = max(?, since + 1) WHERE key = ? AND since = ? AND answer IS NULL')
      .run(now.getTime(), key, since.getTime());
    return updated.changes === 1;
  }

  finishIdempotent(key: string, answer: unknown): void {
    const sealed = this.#seal.closeJson(answer, rowOfIdempotencyRecord(key));
    this.#sql.get('UPDATE replies SET answer = ? WHERE key = ?').run(sealed, key);
  }

  releaseIdempotent(key: string): void {
    this.#sql.get('DELETE FROM replies WHERE key = ? AND answer IS NULL').run(key);
  }

  putOneTimeValue(
    key: string,
    value: unknown,
    { until, now }: { readonly until: Date; readonly now: Date },
  ): void {
    const sealed = this.#seal.closeJson(value, rowOfOneTimeValue(key));
    this.#dropExpiredValues(now);
    this.#sql
      .get('INSERT INTO deposits (key, until, value) VALUES (?, ?, ?)')
      .run(key, until.getTime(), sealed);
  }

  takeOneTimeValue(key: string, now: Date): unknown {
    const row = this.#sql.get('DELETE FROM deposits WHERE key = ? RETURNING until, value').get(key);
    if (row === undefined || readNumber(row, 'until') <= now.getTime()) return null;
    return this.#seal.openJson(readBytes(row, 'value'), rowOfOneTimeValue(key));
  }

  close(): void {
    this.#database.close();
  }

  #dropExpiredValues(now: Date): void {
    this.#sql.get('DELETE FROM deposits WHERE until <= ?').run(now.getTime());
  }

  #setMeta(name: string, value: string): void {
    this.#sql
      .get(
        'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      )
      .run(name, value);
  }

  #appendOne(message: NewMessage): Written {
    const repeated = this.#findRepeated(message);
    if (repeated !== null) return { appended: repeated, advances: false };
    const copied = this.#findCopied(message);
    if (copied !== null) {
      this.#insertId(message, copied);
      return { appended: { position: copied, duplicate: true, altered: false }, advances: false };
    }
    const { subject } = message;
    const advances = isAdvance(message, subject === null ? null : this.#reader.latest(subject.id));
    const position = this.#insertEvent(message, advances);
    this.#insertId(message, position);
    this.#insertContent(message, position);
    if (advances && subject) {
      this.#sql.get(upsertSubject).run(subject.id, subject.version, position, message.userId);
    }
    this.#storeFacts(message, position);
    return { appended: { position, duplicate: false, altered: false }, advances };
  }

  /** What was appended under the same message id. */
  #findRepeated({ messageId, isNewId, body }: NewMessage): Appended | null {
    if (isNewId === true) return null;
    const earlier = this.#sql
      .get('SELECT position, body_hash FROM messages WHERE message_id = ?')
      .get(messageId);
    if (earlier === undefined) return null;
    const altered = !this.#seal.isHashOf(readBytes(earlier, 'body_hash'), sha256(body));
    return { position: readNumber(earlier, 'position'), duplicate: true, altered };
  }

  #insertId(message: NewMessage, position: number): void {
    if (message.isNewId === true) return;
    const { messageId: key, body } = message;
    this.#insertKey(message, { position, key, hash: this.#seal.hash(sha256(body)) });
  }

  /** The position of the event that the message is a copy of (`Content`); notes that its webhook came. */
  #findCopied(message: NewMessage): number | null {
    const { content, receivedAt } = message;
    const since = receivedAt.getTime() - contentDays * dayMs;
    for (const key of contentKeysOf(message, this.#seal)) {
      const row = this.#sql
        .get('SELECT position, body_hash FROM messages WHERE message_id = ? AND received_at > ?')
        .get(key, since);
      if (row === undefined) continue;
      if (content?.hasMessageId === true) {
        if (readBytes(row, 'body_hash').equals(webhookCame)) return null;
        this.#sql.get('UPDATE messages SET body_hash = ? WHERE message_id = ?').run(webhookCame, key);
      }
      return readNumber(row, 'position');
    }
    return null;
  }

  #insertContent(message: NewMessage, position: number): void {
    const [key] = contentKeysOf(message, this.#seal);
    if (key === undefined) return;
    const hash = message.content?.hasMessageId === true ? webhookCame : noWebhook;
    this.#insertKey(message, { position, key, hash });
  }

  #insertKey({ receivedAt }: NewMessage, { position, key, hash }: IdempotencyKey): void {
    this.#sql
      .get('INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?)')
      .run(key, position, hash, receivedAt.getTime());
  }

  #insertEvent(message: NewMessage, advances: boolean): number {
    const { subject, userId, teamId } = message;
    const { clientUserId, body } = sealEvent(message, this.#seal);
    const { lastInsertRowid } = this.#sql.get(insertEvent).run(
      // Microseconds: whole numbers below 2^53 for 200 years more.
      Date.now() * 1000,
      ...[message.messageId, message.receivedAt.getTime(), message.type, userId, clientUserId, teamId],
      ...[subject?.id ?? null, subject?.version ?? null, toOriginColumn(message), advances ? 1 : 0],
      ...[message.deadReason, body],
    );
    return Number(lastInsertRowid);
  }

  #storeFacts(message: NewMessage, position: number): void {
    for (const { userId, kind, hashedKey, at, receivedAt, value } of sealFacts(message, this.#seal)) {
      this.#sql
        .get(upsertFact)
        .run(userId, kind, hashedKey, at.getTime(), position, receivedAt.getTime(), value);
    }
  }
}

interface IdempotencyKey {
  readonly position: number;
  readonly key: string;
  readonly hash: Buffer;
}

const dayMs = 86_400_000;

/** In place of a body's hash, in the row of a content: whether a webhook with this content came. */
const webhookCame = Buffer.of(1);
const noWebhook = Buffer.of(0);

const insertEvent = `INSERT INTO events (position, message_id, received_at, type, user_id, client_user_id, team_id, subject,
    version, origin, advances, dead_reason, body) VALUES (
    max(?, coalesce((SELECT seq + 1 FROM sqlite_sequence WHERE name = 'events'), 1)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const upsertSubject = `INSERT INTO subjects VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE
  SET version = excluded.version, position = excluded.position, user_id = coalesce(excluded.user_id, user_id)`;

const upsertFact = `INSERT INTO facts (user_id, kind, key, at, position, received_at, value) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (user_id, kind, key) DO UPDATE SET at = excluded.at, position = excluded.position,
  received_at = excluded.received_at, value = excluded.value`;

/** Runs the work in one transaction, durable when this returns; rolls back when the work throws. */
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

/** Rolls back only this work and returns null when it throws. Throws when the whole transaction is lost (disk full). */
function inSavepoint<T>(database: DatabaseSync, work: () => T): T | null {
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
