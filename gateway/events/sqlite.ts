import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../errors.ts';
import type { Appended, EventLog, NewMessage, StoredEvent } from './log.ts';
import type { Replies } from './replies.ts';
import type { Seal } from './seal.ts';
import { createFactStatements, type FactStatements } from './sqlite-facts.ts';
import { createSqliteReplies } from './sqlite-replies.ts';
import { createStatements, type EventRow, inTransaction, type Statements } from './sqlite-statements.ts';
import { createWakers } from './wakers.ts';

interface Pending {
  readonly message: NewMessage;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

export interface SqliteStore {
  readonly log: EventLog;
  readonly replies: Replies;
}

/**
 * The event log in one SQLite file (WAL, synchronous=FULL). Appends of one turn of the event loop share one
 * transaction and are acknowledged after its COMMIT, which fsyncs: what was acknowledged survives kill -9 and
 * power loss. An exclusive lock keeps a second process out.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export function openSqliteStore(path: string, seal: Seal): SqliteStore {
  const database = openDatabase(path);
  const facts = createFactStatements(database, seal);
  const statements = createStatements(database, facts.prune);
  const epoch = statements.readOrSetMeta('epoch', randomUUID());
  const wakers = createWakers();
  let pending: Pending[] = [];
  let head = statements.head();

  const commit = () => {
    const batch = pending;
    pending = [];
    try {
      const appended = inTransaction(database, () =>
        batch.map(({ message }) => appendOne({ statements, facts, seal }, message)),
      );
      head = statements.head();
      for (const [index, { message, resolve }] of batch.entries()) {
        const result = appended[index];
        if (result === undefined) continue;
        resolve(result);
        if (!result.duplicate && message.deadReason === null) wakers.wake(message);
      }
    } catch (cause) {
      const error = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event could not be made durable.', {
        cause,
      });
      for (const { reject } of batch) reject(error);
    }
  };

  const log: EventLog = {
    epoch,
    append: (message) =>
      new Promise((resolve, reject) => {
        if (pending.length === 0) setImmediate(commit);
        pending.push({ message, resolve, reject });
      }),
    read: async (scope, after, limit) => {
      if (after > head) return { kind: 'gap', reason: 'beyond-end' };
      if (after < statements.prunedThrough()) return { kind: 'gap', reason: 'pruned' };
      const events = statements.readEvents(scope, after, limit).map((row) => toEvent(row, seal));
      return {
        kind: 'events',
        events,
        through: events.length < limit ? head : (events.at(-1)?.position ?? after),
      };
    },
    position: async () => head,
    wake: async (scope, after, signal) => {
      if (head <= after) await wakers.wait(scope, signal);
    },
    latest: async (subject) => statements.latest(subject),
    facts: async (query, limit) => facts.read(query, limit),
    claim: async (subject, userId) => {
      try {
        statements.claim(subject, userId);
      } catch (cause) {
        throw new GatewayError('EVENT_LOG_UNAVAILABLE', 'The owner could not be made durable.', { cause });
      }
    },
    prune: async (before) => statements.prune(before),
    isWritable: async () => statements.probeWrite(),
    close: async () => {
      if (pending.length > 0) commit();
      wakers.wakeAll();
      if (database.isOpen) database.close();
    },
  };
  return { log, replies: createSqliteReplies(database, seal) };
}

interface Tables {
  readonly statements: Statements;
  readonly facts: FactStatements;
  readonly seal: Seal;
}

function appendOne({ statements, facts, seal }: Tables, message: NewMessage): Appended {
  const bodyHash = createHash('sha256').update(message.body).digest();
  const earlier = statements.knownMessage(message.messageId);
  if (earlier) {
    return { position: earlier.position, duplicate: true, altered: !earlier.bodyHash.equals(bodyHash) };
  }
  const isChange = message.deadReason === null && message.subject !== null;
  const latest = message.subject === null ? null : statements.latest(message.subject.id);
  const advances = isChange && message.subject.version > (latest?.version ?? Number.NEGATIVE_INFINITY);
  const position = statements.insert(message, { advances, bodyHash, sealed: seal.close(message.body) });
  if (message.deadReason === null) facts.keep(message, message.facts ?? [], position);
  return { position, duplicate: false, altered: false };
}

function toEvent(row: EventRow, seal: Seal): StoredEvent {
  return {
    position: row.position,
    messageId: row.message_id,
    receivedAt: new Date(row.received_at),
    type: row.type,
    userId: row.user_id,
    clientUserId: row.client_user_id,
    teamId: row.team_id,
    subject: row.subject === null || row.version === null ? null : { id: row.subject, version: row.version },
    origin: row.origin === 'reconciled' ? 'reconciled' : 'webhook',
    body: seal.open(Buffer.from(row.body)),
  };
}

function openDatabase(path: string): DatabaseSync {
  const isNew = !existsSync(path);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    database = new DatabaseSync(path, { timeout: 0 });
    chmodSync(path, 0o600);
    // Exclusive mode takes the file lock with the first access and keeps it until the process ends.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
    if (!isNew) checkIntegrity(database, path);
    return database;
  } catch (cause) {
    database?.close();
    throw describeOpenFailure(cause, path);
  }
}

function checkIntegrity(database: DatabaseSync, path: string): void {
  const [row] = database.prepare('PRAGMA quick_check(1)').all();
  if (row?.quick_check === 'ok') return;
  throw new GatewayError(
    'EVENT_LOG_DAMAGED',
    `The event log ${path} is damaged. Restore it or move it away; it is never replaced silently.`,
  );
}

function describeOpenFailure(cause: unknown, path: string): GatewayError {
  if (cause instanceof GatewayError) return cause;
  const code = resultCodeOf(cause);
  if (code === 5) {
    return new GatewayError(
      'EVENT_LOG_LOCKED',
      `Another process holds the event log ${path}. Stop it, or give this one its own EVENT_LOG.`,
      { cause },
    );
  }
  if (code === 11 || code === 26) {
    return new GatewayError(
      'EVENT_LOG_DAMAGED',
      `The event log ${path} is damaged. Restore it or move it away; it is never replaced silently.`,
      { cause },
    );
  }
  return new GatewayError('EVENT_LOG_UNAVAILABLE', `The event log ${path} cannot be opened.`, { cause });
}

/** SQLite's primary result code: the low byte of the extended ones that its errors carry. */
function resultCodeOf(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'errcode' in cause ? cause.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}
