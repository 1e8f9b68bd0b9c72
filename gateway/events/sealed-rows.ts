import type { EarlierAttempt } from './idempotency.ts';
import type {
  Batch,
  DeadLetter,
  DeadReason,
  FactQuery,
  Gap,
  NewMessage,
  StoredEvent,
  StoredFact,
} from './log.ts';
import { type Seal, sha256 } from './seal.ts';

// How the stores seal and open what they store. A sealed value is bound to the name of its row: it does not open after it
// was moved to another row, or after its row was changed, for instance to another user.

/** The columns of an event as a store returns them; `clientUserId` and `body` are sealed. */
export interface EventColumns {
  readonly position: number;
  readonly messageId: string;
  readonly receivedAt: number;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  readonly subject: string | null;
  readonly version: number | null;
  readonly origin: string;
  readonly deadReason: string | null;
  readonly body: Buffer;
}

/**
 * The column of the origin. It also has the trace, after a space, so that logs need no other column; earlier versions
 * read it as `webhook`.
 */
export function toOriginColumn({ origin, trace }: Pick<NewMessage, 'origin' | 'trace'>): string {
  return trace ? `${origin} ${trace}` : origin;
}

/** The clear columns of a row of the log; all of them are known before it is appended. */
type EventRow = Omit<StoredEvent, 'position' | 'body' | 'clientUserId' | 'trace'> &
  Pick<NewMessage, 'deadReason'>;

/** The sealed columns of a message's row. */
export function sealEvent(message: NewMessage, seal: Seal) {
  return {
    clientUserId: seal.closeText(message.clientUserId, rowOfEvent(message, 'client-user-id')),
    body: seal.close(message.body, rowOfEvent(message, 'body')),
  };
}

/**
 * Decrypts the events of a read, up to the first one that no key decrypts. A read that begins with such events is a gap,
 * which ends with the last of them.
 * @param through how far the read came
 */
export function openBatch(rows: readonly EventColumns[], through: number, seal: Seal): Batch | Gap {
  const opened = rows.map((row) => openEvent(row, seal));
  const events: StoredEvent[] = [];
  for (const event of opened) {
    if (event === null) break;
    events.push(event);
  }
  if (events.length === rows.length) return { kind: 'events', events, through };
  const last = events.at(-1);
  if (last !== undefined) return { kind: 'events', events, through: last.position };
  const next = opened.findIndex((event) => event !== null);
  return { kind: 'gap', reason: 'sealed', through: rows[next - 1]?.position ?? through };
}

/** Null when no key decrypts it. */
function openEvent(columns: EventColumns, seal: Seal): StoredEvent | null {
  const { row, position, clientUserId } = openHead(columns, seal);
  const { deadReason: _, ...event } = row;
  const body = seal.tryOpen(columns.body, rowOfEvent(row, 'body'));
  return body === null ? null : { ...event, trace: readTrace(columns), clientUserId, position, body };
}

export function openDeadLetter(columns: EventColumns, seal: Seal): DeadLetter {
  const { row, position, clientUserId } = openHead(columns, seal);
  const body = seal.tryOpen(columns.body, rowOfEvent(row, 'body'));
  return {
    ...row,
    trace: readTrace(columns),
    clientUserId,
    position,
    deadReason: row.deadReason ?? 'unreadable',
    body,
  };
}

function openHead(columns: EventColumns, seal: Seal) {
  const { position, messageId, receivedAt, type, userId, teamId, subject, version, origin } = columns;
  const row: EventRow = {
    messageId,
    receivedAt: new Date(receivedAt),
    type,
    userId,
    teamId,
    subject: subject === null || version === null ? null : { id: subject, version },
    origin: origin === 'reconciled' ? 'reconciled' : 'webhook',
    deadReason: readDeadReason(columns.deadReason),
  };
  const clientUserId = seal.openText(columns.clientUserId, rowOfEvent(row, 'client-user-id'));
  return { row, position, clientUserId };
}

function readTrace({ origin }: EventColumns): string | null {
  return origin.split(' ', 2)[1] ?? null;
}

function readDeadReason(stored: string | null): DeadReason | null {
  if (stored === null) return null;
  return stored === 'other-team' ? 'other-team' : 'unreadable';
}

/** The key of a fact as a store has it: equal for equal keys, and without their content. Keys are only ever compared. */
export function hashFactKey(key: string): string {
  return sha256(key).toString('hex');
}

/**
 * The keys of a message's content, beside the message ids: the first is stored, each may be the one of a copy. No
 * message id contains a space.
 */
export function contentKeysOf({ content }: NewMessage, seal: Seal): readonly string[] {
  if (content === undefined) return [];
  return seal.hashesOfText(content.digest).map((hash) => `content ${hash}`);
}

interface SealedFact {
  readonly userId: string;
  readonly kind: string;
  readonly hashedKey: string;
  readonly at: Date;
  readonly receivedAt: Date;
  readonly value: Buffer;
}

/** The facts of a message, sealed. A dead letter states none. */
export function sealFacts(message: NewMessage, seal: Seal): readonly SealedFact[] {
  const { userId, receivedAt, deadReason, facts = [] } = message;
  if (userId === null || deadReason !== null) return [];
  return facts.map(({ kind, key, at, value }) => {
    const row = { userId, kind, hashedKey: hashFactKey(key), at, receivedAt };
    return { ...row, value: seal.close(Buffer.from(value), rowOfFact(row)) };
  });
}

/** The columns of a fact as a store returns them; `value` is sealed. */
export interface FactColumns {
  readonly hashedKey: string;
  readonly at: number;
  readonly position: number;
  readonly receivedAt: number;
  readonly value: Buffer;
}

export function openFact(columns: FactColumns, { userId, kind }: FactQuery, seal: Seal): StoredFact {
  const { hashedKey, position } = columns;
  const [at, receivedAt] = [new Date(columns.at), new Date(columns.receivedAt)];
  const row = rowOfFact({ userId, kind, hashedKey, at, receivedAt });
  return { at, position, receivedAt, value: seal.open(columns.value, row) };
}

/** An idempotency record as a store returns it; `answer` is sealed. */
interface RecordColumns {
  readonly fingerprint: string;
  readonly since: number;
  readonly answer: Buffer | null;
  readonly ageMs: number;
}

/** The state of an earlier attempt under the key, for an attempt with this fingerprint. */
export function openRecord(
  { fingerprint, since, answer, ageMs }: RecordColumns,
  attempt: { readonly key: string; readonly fingerprint: string },
  seal: Seal,
): EarlierAttempt {
  if (!seal.isHashOfText(fingerprint, attempt.fingerprint)) return { kind: 'conflict' };
  if (answer === null) return { kind: 'unsettled', since: new Date(since), ageMs: Math.max(0, ageMs) };
  return { kind: 'finished', answer: seal.openJson(answer, rowOfIdempotencyRecord(attempt.key)) };
}

export function rowOfIdempotencyRecord(key: string): string {
  return rowName('reply', key);
}

export function rowOfOneTimeValue(key: string): string {
  return rowName('deposit', key);
}

function rowOfEvent(event: EventRow, column: 'body' | 'client-user-id'): string {
  const { messageId, receivedAt, type, userId, teamId, subject, origin, deadReason } = event;
  const message = [messageId, receivedAt.getTime(), type, userId, teamId];
  const [subjectId, version] = [subject?.id ?? null, subject?.version ?? null];
  return rowName('event', column, ...message, subjectId, version, origin, deadReason);
}

function rowOfFact({ userId, kind, hashedKey, at, receivedAt }: Omit<SealedFact, 'value'>): string {
  return rowName('fact', userId, kind, hashedKey, at.getTime(), receivedAt.getTime());
}

/** Stores change unpaired surrogates, so they are replaced here before the row's name is used. */
function rowName(...parts: readonly (string | number | null)[]): string {
  return JSON.stringify(parts.map((part) => (typeof part === 'string' ? part.toWellFormed() : part)));
}
