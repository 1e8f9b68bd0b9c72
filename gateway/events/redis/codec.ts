import { z } from 'zod';
import { isGatewayError } from '../../errors.ts';
import { hashFactKey } from '../fact-key.ts';
import { sha256 } from '../keyed-hash.ts';
import type { DeadLetter, FactQuery, NewMessage, Scope, StoredEvent, StoredFact } from '../log.ts';
import { type EventRow, type FactRow, readDeadReason, rowOfEvent, rowOfFact } from '../row.ts';
import type { Seal } from '../seal.ts';
import type { Argument } from './connection.ts';

/** A bulk string as a text. */
export const redisText = z.instanceof(Buffer).transform((bytes) => bytes.toString('utf8'));
/** A position or another whole number, which scripts answer as a text. */
export const redisNumber = redisText.transform(Number);

const maybeText = redisText.transform((text) => (text === '' ? null : text.slice(1)));
const kept = z.tuple([
  redisNumber, // position
  redisText, // message id
  redisNumber, // received at
  redisText, // type
  maybeText, // user
  maybeText, // client user
  maybeText, // team
  maybeText, // subject
  redisText, // version
  redisText, // origin
  maybeText, // dead reason
  z.instanceof(Buffer), // body
]);

/** What `append.lua` takes. Bodies and facts leave this process sealed. */
export function toArguments(message: NewMessage, seal: Seal): readonly Argument[] {
  const { subject, userId, deadReason } = message;
  const clientUserId = seal.closeText(message.clientUserId, rowOfEvent(message, 'client-user-id'));
  return [
    message.messageId,
    seal.hash(sha256(message.body)).toString('hex'),
    String(message.receivedAt.getTime()),
    message.type,
    ...[userId, clientUserId, message.teamId, subject?.id ?? null].map(toMaybe),
    subject === null ? '' : String(subject.version),
    message.origin,
    toMaybe(deadReason),
    seal.close(message.body, rowOfEvent(message, 'body')),
    ...toFacts(message, seal),
  ];
}

function toFacts(
  { userId, deadReason, receivedAt, facts = [] }: NewMessage,
  seal: Seal,
): readonly Argument[] {
  if (userId === null || deadReason !== null) return [];
  return facts.flatMap(({ kind, key, at, value }) => {
    const hashedKey = hashFactKey(key);
    const row = rowOfFact({ userId, kind, hashedKey, at, receivedAt });
    return [factsName(userId, kind), hashedKey, String(at.getTime()), seal.close(Buffer.from(value), row)];
  });
}

/** A text that may be missing: an empty one and none are different things. */
export function toMaybe(text: string | null | undefined): string {
  return text === null || text === undefined ? '' : `=${text}`;
}

/** What `read.lua` takes of a scope: the narrowest index, and what remains to be compared. */
export function toScopeArguments({ userId, subject, types, changesOnly }: Scope): readonly Argument[] {
  const [user, thing] = [toMaybe(userId), toMaybe(subject)];
  const index = thing === '' ? user && `user${user}` : `subject${thing}`;
  const filters = [index, changesOnly ? '1' : '0', user, thing, '0'];
  return types === undefined ? filters : [...filters, 'types', ...types];
}

export function toFactArguments(query: FactQuery, limit: number): readonly Argument[] {
  const { userId, kind, key, from, before } = query;
  return [
    factsName(userId, kind),
    key === undefined ? '' : hashFactKey(key),
    from === undefined ? '' : String(from.getTime()),
    before === undefined ? '' : String(before.getTime()),
    String(limit),
  ];
}

function factsName(userId: string | null, kind: string): string {
  return JSON.stringify([userId, kind]);
}

export interface Opened {
  readonly events: readonly StoredEvent[];
  /** No key opens the one after them. */
  readonly isCut: boolean;
}

/** The events up to the first that no key opens. */
export function openAsFar(rows: readonly unknown[], seal: Seal): Opened {
  const events: StoredEvent[] = [];
  try {
    for (const row of rows) events.push(toEvent(row, seal));
    return { events, isCut: false };
  } catch (error) {
    if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
    return { events, isCut: true };
  }
}

export function toDeadLetter(row: unknown, seal: Seal): DeadLetter {
  const { event, clientUserId, position, sealed } = toParts(row, seal);
  const body = seal.tryOpen(sealed, rowOfEvent(event, 'body'));
  return { ...event, clientUserId, position, deadReason: event.deadReason ?? 'unreadable', body };
}

function toEvent(row: unknown, seal: Seal): StoredEvent {
  const { event, clientUserId, position, sealed } = toParts(row, seal);
  const { deadReason: _, ...head } = event;
  return { ...head, clientUserId, position, body: seal.open(sealed, rowOfEvent(event, 'body')) };
}

interface Parts {
  readonly event: EventRow;
  readonly position: number;
  readonly clientUserId: string | null;
  readonly sealed: Buffer;
}

function toParts(row: unknown, seal: Seal): Parts {
  const [position, messageId, receivedAt, type, userId, clientUserId, teamId, subject, version, ...rest] =
    kept.parse(row);
  const [origin, deadReason, sealed] = rest;
  const event: EventRow = {
    messageId,
    receivedAt: new Date(receivedAt),
    type,
    userId,
    teamId,
    subject: subject === null ? null : { id: subject, version: Number(version) },
    origin: origin === 'reconciled' ? 'reconciled' : 'webhook',
    deadReason: readDeadReason(deadReason),
  };
  const openedId = seal.openText(clientUserId, rowOfEvent(event, 'client-user-id'));
  return { event, position, clientUserId: openedId, sealed };
}

/** A fact as `append.lua` keeps it: `at position receivedAt value`, the value in bytes. */
export function toFact(
  bytes: Buffer,
  seal: Seal,
  place: Pick<FactRow, 'userId' | 'kind' | 'hashedKey'>,
): StoredFact {
  const numbers: number[] = [];
  let start = 0;
  while (numbers.length < 3) {
    const end = bytes.indexOf(' ', start);
    numbers.push(Number(bytes.toString('latin1', start, end)));
    start = end + 1;
  }
  const [at = 0, position = 0, receivedAt = 0] = numbers;
  const when = { at: new Date(at), receivedAt: new Date(receivedAt) };
  return { ...when, position, value: seal.open(bytes.subarray(start), rowOfFact({ ...place, ...when })) };
}
