import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { DeadReason, NewFact, NewMessage } from '../events/log.ts';
import { isRecord, parseJson } from '../parse/json.ts';

/** Reads which subject an event is a new version of; null when there is none. The concepts provide it. */
export type SubjectOf = (eventType: string, payload: unknown) => Versioned | null;

export interface Versioned {
  readonly id: string;
  readonly version: number;
  /** The current owner, where the payload is more exact than the envelope. */
  readonly userId: string | null;
}

/** Tries several readers and takes the first result. */
export function firstSubject(readers: readonly SubjectOf[]): SubjectOf {
  return (eventType, payload) => {
    for (const reader of readers) {
      const versioned = reader(eventType, payload);
      if (versioned !== null) return versioned;
    }
    return null;
  };
}

/**
 * Reads the facts that an event states about its user. The concepts provide it; it must not throw. Facts may be made one by
 * one, because not all of them may be wanted.
 */
export type FactsOf = (eventType: string, payload: unknown) => Iterable<Stated>;

export interface Stated {
  readonly kind: string;
  readonly key: string;
  /** Null where the payload gives no time: then that of the receipt. */
  readonly at: Date | null;
  /** A JSON value. */
  readonly value: unknown;
}

const text = z.string().nullable().catch(null);

/** Specification, Events: the top-level structure of every event. */
const envelopeShape = z.object({
  event_type: z.string().min(1).max(200),
  // Optional, because zod 4 otherwise refuses an envelope without it. Such an event has no payload.
  data: z.unknown().optional(),
  team_id: text,
  user_id: text,
  client_user_id: text,
});

export interface EnvelopeReading {
  /** Null where the sender gives none, as through a broker. */
  readonly messageId: string | null;
  readonly receivedAt: Date;
  readonly body: Buffer;
  /** False for bytes that are known to be no envelope, such as those in an unknown encoding. */
  readonly isDecoded?: boolean;
}

export interface EnvelopeOptions {
  readonly subjectOf: SubjectOf;
  readonly factsOf?: FactsOf | undefined;
  /** The team whose events are delivered; null while it is not known. */
  readonly teamId: string | null;
  /** Whether copies may come over another route, so that events are also compared by their content. */
  readonly comparesContent?: boolean;
}

/** A message for the log. */
export interface MessageReading extends NewMessage {
  /** How many facts it states that are not stored, because all of them together are too large. */
  readonly factsLeftOut: number;
}

/** The most bytes of facts for each byte of a body, so that what is stored grows with what was sent, and those of any body. */
const maxFactBytes = { perByte: 16, ofAny: 64 * 1024 } as const;

/** Prefix of the id that is made for a message without one. */
export const brokerIdPrefix = 'broker:';

/**
 * Turns verified bytes into a message for the log. Never throws: a verified message that is unreadable or of another team
 * becomes a dead letter, because a retry would not help.
 */
export function readEnvelope(reading: EnvelopeReading, options: EnvelopeOptions): MessageReading {
  const parsed = reading.isDecoded === false ? undefined : readBody(reading.body);
  const message = readParsed(reading, parsed, options);
  if (options.comparesContent !== true) return message;
  const content = { digest: digestOf(message, parsed), hasMessageId: reading.messageId !== null };
  return { ...message, content };
}

function readParsed(reading: EnvelopeReading, parsed: unknown, options: EnvelopeOptions): MessageReading {
  const envelope = envelopeShape.safeParse(parsed).data;
  if (envelope === undefined) return { ...emptyMessage(reading), deadReason: 'unreadable' };

  const teamId = lower(envelope.team_id);
  const versioned = options.subjectOf(envelope.event_type, envelope.data);
  return {
    ...emptyMessage(reading),
    type: envelope.event_type,
    userId: lower(versioned?.userId ?? envelope.user_id ?? readDataUserId(envelope.data)),
    clientUserId: envelope.client_user_id,
    teamId,
    subject: versioned === null ? null : { id: versioned.id, version: versioned.version },
    ...toFacts(options.factsOf?.(envelope.event_type, envelope.data) ?? [], reading),
    deadReason: deadReasonOf(teamId, options.teamId),
  };
}

/** Equal events have equal digests: the same version of the same subject, else the same values in any order of keys. */
function digestOf({ body, type, userId, teamId, subject, deadReason }: NewMessage, parsed: unknown): string {
  const hash = createHash('sha256').update(JSON.stringify([type, userId, teamId, deadReason, subject]));
  if (subject === null) hash.update(parsed === undefined ? body : JSON.stringify(parsed, sortKeys));
  return hash.digest('hex');
}

function sortKeys(_: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [two]) => (one < two ? -1 : 1)));
}

/** The first facts that are not too large together. */
function toFacts(
  stated: Iterable<Stated>,
  { body, receivedAt }: EnvelopeReading,
): Required<Pick<MessageReading, 'facts' | 'factsLeftOut'>> {
  const facts: NewFact[] = [];
  let factsLeftOut = 0;
  let bytesLeft = maxFactBytes.ofAny + maxFactBytes.perByte * body.length;
  for (const one of stated) {
    const fact = bytesLeft < 0 ? null : toFact(one, receivedAt);
    if (fact !== null) bytesLeft -= fact.kind.length + fact.key.length + fact.value.length;
    if (fact !== null && bytesLeft >= 0) facts.push(fact);
    else factsLeftOut += 1;
  }
  return { facts, factsLeftOut };
}

function toFact({ kind, key, at, value }: Stated, receivedAt: Date): NewFact {
  return { kind, key, at: at ?? receivedAt, value: Buffer.from(JSON.stringify(value)) };
}

function emptyMessage({ messageId, receivedAt, body }: EnvelopeReading): MessageReading {
  return {
    ...(messageId === null
      ? { messageId: `${brokerIdPrefix}${randomUUID()}`, isNewId: true }
      : { messageId }),
    receivedAt,
    body,
    type: 'unreadable',
    userId: null,
    clientUserId: null,
    teamId: null,
    subject: null,
    origin: 'webhook',
    deadReason: null,
    factsLeftOut: 0,
  };
}

function deadReasonOf(teamId: string | null, ownTeamId: string | null): DeadReason | null {
  return teamId !== null && ownTeamId !== null && teamId !== ownTeamId ? 'other-team' : null;
}

/** Wearable events also carry the user inside `data` (specification, Wearable data events). */
function readDataUserId(payload: unknown): string | null {
  return z.object({ user_id: text }).safeParse(payload).data?.user_id ?? null;
}

function lower(value: string | null): string | null {
  return value === null ? null : value.toLowerCase();
}

function readBody(body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
