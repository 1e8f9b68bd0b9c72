import { z } from 'zod';
import {
  type AppendNotice,
  contentDays,
  type FactQuery,
  type Latest,
  type NewMessage,
  type Scope,
  type StoredFact,
} from '../log.ts';
import { type Seal, sha256 } from '../seal.ts';
import {
  contentKeysOf,
  type EventColumns,
  type FactColumns,
  hashFactKey,
  openFact,
  sealEvent,
  sealFacts,
  toOriginColumn,
} from '../sealed-rows.ts';
import type { Argument } from './client.ts';

/** Prefix of all keys. The braces put them into one slot, as a script over several keys needs. */
export const keyPrefix = '{labgraph}:';

const dayMs = 86_400_000;

/** A bulk string as a text. */
export const redisText = z.instanceof(Buffer).transform((bytes) => bytes.toString('utf8'));
/** A position or another whole number, which scripts answer as a text. */
export const redisNumber = redisText.transform(Number);

const optionalText = redisText.transform((text) => (text === '' ? null : text.slice(1)));
const rowShape = z.tuple([
  redisNumber, // position
  redisText, // message id
  redisNumber, // received at
  redisText, // type
  optionalText, // user
  optionalText, // client user
  optionalText, // team
  optionalText, // subject
  redisText, // version
  redisText, // origin
  optionalText, // dead reason
  z.instanceof(Buffer), // body
]);

/** The arguments of `append.lua`. Bodies and facts leave this process sealed. */
export function toAppendArguments(message: NewMessage, seal: Seal): readonly Argument[] {
  const { subject, userId, deadReason, content, receivedAt } = message;
  const contentKeys = contentKeysOf(message, seal);
  const { clientUserId, body } = sealEvent(message, seal);
  return [
    message.messageId,
    message.isNewId === true ? '' : seal.hash(sha256(message.body)).toString('hex'),
    String(message.receivedAt.getTime()),
    message.type,
    ...[userId, clientUserId, message.teamId, subject?.id ?? null].map(encodeOptional),
    subject === null ? '' : String(subject.version),
    toOriginColumn(message),
    encodeOptional(deadReason),
    body,
    content?.hasMessageId === true ? '1' : '0',
    String(receivedAt.getTime() - contentDays * dayMs),
    String(contentKeys.length),
    ...contentKeys,
    ...sealFacts(message, seal).flatMap(({ kind, hashedKey, at, value }) => [
      factsName(userId, kind),
      hashedKey,
      String(at.getTime()),
      value,
    ]),
  ];
}

/** A text that may be missing, so that an empty text and none are different. */
export function encodeOptional(text: string | null | undefined): string {
  return text === null || text === undefined ? '' : `=${text}`;
}

/** The arguments of `read.lua` for a scope: the narrowest index, and the filters. */
export function toScopeArguments({ userId, subject, types, changesOnly }: Scope): readonly Argument[] {
  const [user, thing] = [encodeOptional(userId), encodeOptional(subject)];
  const index = thing === '' ? user && `user${user}` : `subject${thing}`;
  const filters = [index, changesOnly ? '1' : '0', user, thing, '0'];
  return types === undefined ? filters : [...filters, 'types', ...types];
}

/** The arguments of `facts.lua`. */
export function toFactQueryArguments(query: FactQuery, limit: number): readonly Argument[] {
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

/** A row of `read.lua`. */
export function toEventColumns(row: unknown): EventColumns {
  const [position, messageId, receivedAt, type, userId, clientUserId, teamId, subject, version, ...rest] =
    rowShape.parse(row);
  const [origin, deadReason, body] = rest;
  const message = { position, messageId, receivedAt, type, userId, clientUserId, teamId };
  return { ...message, subject, version: Number(version), origin, deadReason, body };
}

/** @param keysAndFacts hashed keys and facts, alternating */
export function toFacts(
  keysAndFacts: readonly Buffer[],
  query: FactQuery,
  seal: Seal,
): readonly StoredFact[] {
  const facts: StoredFact[] = [];
  for (let index = 0; index + 1 < keysAndFacts.length; index += 2) {
    const [key, fact] = keysAndFacts.slice(index, index + 2);
    if (key && fact) facts.push(openFact(toFactColumns(key, fact), query, seal));
  }
  return facts;
}

/** A fact as `append.lua` stores it: `at position receivedAt value`, the value in bytes. */
function toFactColumns(key: Buffer, bytes: Buffer): FactColumns {
  const numbers: number[] = [];
  let start = 0;
  while (numbers.length < 3) {
    const end = bytes.indexOf(' ', start);
    numbers.push(Number(bytes.toString('latin1', start, end)));
    start = end + 1;
  }
  const [at = 0, position = 0, receivedAt = 0] = numbers;
  return { hashedKey: key.toString('latin1'), at, position, receivedAt, value: bytes.subarray(start) };
}

/** A subject as `append.lua` stores it: `version position user`. */
export function toLatest(value: unknown): Latest | null {
  const text = redisText.nullable().parse(value);
  if (text === null) return null;
  const [version, position] = text.split(' ', 2);
  const user = text.slice(`${version} ${position} `.length);
  return {
    version: Number(version),
    position: Number(position),
    userId: user === '' ? null : user.slice(1),
  };
}

/** @param answer names and values of all marks, alternating; there are few */
export function toMarks(answer: unknown, prefix: string): ReadonlyMap<string, string> {
  const texts = z.array(redisText).parse(answer);
  const marks = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const [name = '', value = ''] = texts.slice(index, index + 2);
    if (name.startsWith(prefix)) marks.set(name, value);
  }
  return marks;
}

/** An entry of a Redis stream: its id, and name, value, name, value. */
export const entryShape = z.tuple([redisText, z.array(redisText)]);
export type StreamEntry = z.infer<typeof entryShape>;

/** One entry of the bus. */
export interface BusEntry {
  readonly position: number;
  /** The end of the log before it. If it is not the last entry read, entries were lost. */
  readonly previous: number;
  /** Null for a dead letter. */
  readonly notice: AppendNotice | null;
}

/** Fields as `append.lua` wrote them. */
export function toBusEntry([id, fields]: StreamEntry): BusEntry {
  const [, previous = '', , user = '', , subject = '', , version = '', , deadReason = ''] = fields;
  const notice: AppendNotice = {
    userId: user === '' ? null : user.slice(1),
    subject: subject === '' ? null : { id: subject.slice(1), version: Number(version) },
  };
  return {
    position: Number(id.split('-')[0]),
    previous: Number(previous),
    notice: deadReason === '' ? notice : null,
  };
}
