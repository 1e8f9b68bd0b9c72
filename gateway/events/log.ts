/**
 * The contract of the durable event log. Two stores implement it, SQLite (in a file or in memory) and Redis, and one
 * suite runs on both. The log knows no concept of the service. A `subject` is a thing that messages are versions of,
 * such as an order. `version` is a number that grows with each version, such as the order's last event id.
 */
export interface EventLog {
  /**
   * Differs for every log ever made: a cursor of another epoch points into another history. It changes while
   * the gateway runs when a store behind the network comes back empty.
   */
  readonly epoch: () => string;
  /**
   * Stores a message, once per message id and, where it has one, per content. Resolves only when it is durable.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
   */
  readonly append: (message: NewMessage) => Promise<Appended>;
  /**
   * Up to `limit` events of the scope after `after`, oldest first, and no more after 4 MiB of bodies. `through` is how far
   * the log was read: continue from there, even when nothing matched. `gap` means that history after `after` is gone or
   * cannot be opened, or that `after` is no position of this log.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE while the store cannot be read
   */
  readonly read: (scope: Scope, after: number, limit: number) => Promise<Batch | Gap>;
  /** The end of the log: the position of the newest message, or of a later cut (decision 0123). 0 in an empty log. */
  readonly position: () => Promise<number>;
  /**
   * Resolves when the scope may have something after `after`, or when the signal aborts. Never rejects. A lost notice
   * delays it by a second at most, because the end of the log is checked that often. Gives the position to read after:
   * `after`, or a later one up to which the scope has nothing.
   */
  readonly wake: (scope: Scope, after: number, signal: AbortSignal) => Promise<number>;
  /** The highest version of a subject in the log; version 0 for a subject that was only claimed. */
  readonly latest: (subject: string) => Promise<Latest | null>;
  /**
   * The same of several subjects, in their order.
   * @param changedSince of a subject without a change since then it may be null, which is cheaper
   */
  readonly latestOf: (
    subjects: readonly string[],
    changedSince?: Date,
  ) => Promise<readonly (Latest | null)[]>;
  /** The subjects of a user that messages have changed since this time, each once, in any order. */
  readonly changedSince: (userId: string, since: Date) => Promise<readonly string[]>;
  /**
   * Up to `limit` facts: latest time first, then latest position, then greatest hash of the key. For each key only the fact
   * of the last message in the log is stored.
   */
  readonly facts: (query: FactQuery, limit: number) => Promise<readonly StoredFact[]>;
  /**
   * Stores the owner and version of a subject before any message of it came. A known subject stays unchanged.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly claim: (subject: string, known: Claimed) => Promise<void>;
  /** Up to `limit` dead letters after a position, oldest first. */
  readonly deadLetters: (after: number, limit: number) => Promise<readonly DeadLetter[]>;
  /** A small text that is stored under a name, such as how far a routine has come. Null when there is none. */
  readonly readMark: (name: string) => Promise<string | null>;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly writeMark: (name: string, value: string) => Promise<void>;
  /** All marks whose names begin with the prefix, by name. */
  readonly readMarks: (prefix: string) => Promise<ReadonlyMap<string, string>>;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly dropMark: (name: string) => Promise<void>;
  /**
   * Calls the listener for each message that became readable, whichever process appended it, before any waiter is
   * woken. `null` means that notices may have been lost: anything may be new.
   * @returns removes the listener
   */
  readonly onAppend: (listener: (notice: AppendNotice | null) => void) => () => void;
  /**
   * Resolves once the listeners of `onAppend` and `subscribe` have been called for everything that was appended or published
   * at any gateway over this log before the call. Null where they have been already.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE while that cannot be known
   */
  readonly catchUp: () => Promise<void> | null;
  /**
   * Sends a message to the other gateways over this log; it is not stored as an event. After this has resolved, a gateway
   * that catches up has received it.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly publish: (message: string) => Promise<void>;
  /** Listens to the messages of other gateways. @returns removes the listener */
  readonly subscribe: (listener: (message: string) => void) => () => void;
  /**
   * Deletes messages received before this time, and their facts; message ids are stored longer (30 days).
   * @returns how many messages it deleted
   */
  readonly prune: (before: Date) => Promise<number>;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly measure: () => Promise<Extent>;
  /** Whether a write would succeed now. */
  readonly isWritable: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** The size of a log. */
export interface Extent {
  /** Of its file, or of its stream in Redis. */
  readonly bytes: number;
  /** When its oldest event was stored; null for an empty log. */
  readonly oldestAt: Date | null;
}

/** A message to append. */
export interface NewMessage {
  /** The sender's id of the message: the same over all its retries. */
  readonly messageId: string;
  /** Set where the id was made for this message alone. It cannot come again, so it is not stored for comparison. */
  readonly isNewId?: boolean;
  readonly receivedAt: Date;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  /** The subject that this is a new version of; null when there is none. */
  readonly subject: { readonly id: string; readonly version: number } | null;
  readonly origin: Origin;
  /** Set for a dead letter: it is stored for people to examine, and delivered to nobody. */
  readonly deadReason: DeadReason | null;
  /** The facts that it states, stored in the same transaction. Dead letters have none. */
  readonly facts?: readonly NewFact[];
  /** Set where copies of an event may come over two routes: as a webhook and through a broker. */
  readonly content?: Content;
  /** The `traceparent` of its append, where it is traced. */
  readonly trace?: string | null;
  /** The raw bytes, as they were signed. */
  readonly body: Buffer;
}

/**
 * A second idempotency key. A broker gives no message id, so its message is a copy if the same content came before,
 * over either route. Message ids tell webhooks of the same content apart: only the first one after a broker's message is
 * its copy.
 */
export interface Content {
  /** SHA-256 in hexadecimal digits: equal for equal events. The log stores it keyed. */
  readonly digest: string;
  readonly hasMessageId: boolean;
}

/**
 * A statement of a message about its user. Of several facts of one user, kind and key the one appended last is valid,
 * whatever their times. The log knows neither the kinds nor the meaning of values.
 */
export interface NewFact {
  readonly kind: string;
  readonly key: string;
  /** The time for queries, such as when it was measured. */
  readonly at: Date;
  /** Sealed like a body. */
  readonly value: Buffer;
}

/** Which facts; all given parts must match. */
export interface FactQuery {
  readonly userId: string;
  readonly kind: string;
  readonly key?: string;
  /** Included. */
  readonly from?: Date;
  /** Not included. */
  readonly before?: Date;
}

export interface StoredFact {
  readonly at: Date;
  readonly value: Buffer;
  /** Of the message that stated it. */
  readonly position: number;
  readonly receivedAt: Date;
}

/** `webhook` came signed from the service; `reconciled` was found by comparing with it. */
export type Origin = 'webhook' | 'reconciled';
export type DeadReason = 'unreadable' | 'other-team';

export interface Appended {
  readonly position: number;
  /** The message id or the content was known: no event was stored. */
  readonly duplicate: boolean;
  /** The message id was known with another body: the first body stays. */
  readonly altered: boolean;
}

/** Which events a reader wants. All given parts must match; dead letters match nothing. */
export interface Scope {
  readonly userId?: string;
  readonly subject?: string;
  readonly types?: readonly string[];
  /**
   * Only messages that took a subject to a higher version than any before them: a late, older message and
   * a repeated one are history, not changes.
   */
  readonly changesOnly?: boolean;
}

export interface StoredEvent {
  readonly position: number;
  readonly messageId: string;
  readonly receivedAt: Date;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  readonly subject: { readonly id: string; readonly version: number } | null;
  readonly origin: Origin;
  /** The `traceparent` of its append; null where it was not traced. */
  readonly trace: string | null;
  readonly body: Buffer;
}

/** A message that is delivered to nobody and stored for people to examine. */
export interface DeadLetter extends Omit<StoredEvent, 'body'> {
  readonly deadReason: DeadReason;
  /** Null when no key opens it. */
  readonly body: Buffer | null;
}

/** The user and subject of a message that was appended. */
export type AppendNotice = Pick<NewMessage, 'userId' | 'subject'>;

export interface Claimed {
  readonly userId: string | null;
  /** 0 when only the owner is known. */
  readonly version: number;
}

export interface Batch {
  readonly kind: 'events';
  readonly events: readonly StoredEvent[];
  readonly through: number;
}

export type Gap =
  | {
      readonly kind: 'gap';
      /** `sealed`: no key decrypts the next events. */
      readonly reason: 'pruned' | 'sealed';
      /** The last position that cannot be read: continue after it. */
      readonly through: number;
    }
  /** The log does not know the position `after`, so a reader can only continue at the end of the log. */
  | { readonly kind: 'gap'; readonly reason: 'beyond-end' | 'other-epoch' };

export type GapReason = Gap['reason'];

export interface Latest {
  readonly version: number;
  readonly position: number;
  readonly userId: string | null;
}

/** A position is a time in microseconds, never earlier than the message was received: messages since then are not before this one. */
export function firstPositionOf(since: Date): number {
  return since.getTime() * 1000;
}

/**
 * Whether a message is a change of its subject: a higher version than any before it. A reconciled message also counts
 * at the same version if the subject has moved to another user.
 */
export function isAdvance(
  message: Pick<NewMessage, 'subject' | 'userId' | 'origin' | 'deadReason'>,
  latest: Latest | null,
): boolean {
  const { subject, userId, origin, deadReason } = message;
  if (subject === null || deadReason !== null) return false;
  if (latest === null || subject.version > latest.version) return true;
  const hasMoved = userId !== null && userId !== latest.userId;
  return origin === 'reconciled' && subject.version === latest.version && hasMoved;
}

/** How long a message id is stored, in days (the sender retries for about 28 hours). */
export const messageIdDays = 30;

/** How long equal content is a copy, in days: longer than the sender retries a webhook. Later it is a new event. */
export const contentDays = 2;

/** The newest versions that the log has of its subjects. */
export interface Versions {
  /** The highest version of each subject; it may be null where the last change was longer ago than this. */
  readonly changedOf: (subjects: readonly string[], maxAgeMs: number) => Promise<readonly (Latest | null)[]>;
  /** The event of the highest version; null where it was received longer ago than this, or cannot be read. */
  readonly readLatest: (subject: string, latest: Latest, maxAgeMs: number) => Promise<StoredEvent | null>;
}

export function createVersions(log: EventLog): Versions {
  return {
    changedOf: (subjects, maxAgeMs) => log.latestOf(subjects, new Date(Date.now() - maxAgeMs)),
    readLatest: async (subject, { position }, maxAgeMs) => {
      const batch = await log.read({ subject, changesOnly: true }, position - 1, 1);
      const event = batch.kind === 'events' ? batch.events[0] : undefined;
      if (event?.position !== position) return null;
      return event.receivedAt.getTime() >= Date.now() - maxAgeMs ? event : null;
    },
  };
}

/**
 * Small values that are stored beside the event log, as durable, until they are taken: the content of single-use tickets.
 * All gateways over one log share them.
 */
export interface OneTimeValues {
  /**
   * Stores a value, sealed like a body, until it is taken or expires. A key is used once.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
   */
  readonly put: (key: string, value: unknown, until: Date) => Promise<void>;
  /**
   * Returns the value to the first caller before it expires; null to every other caller, and for an unknown key. When it
   * resolves it is durable that the value was taken.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE; the value may be taken nevertheless
   */
  readonly take: (key: string) => Promise<unknown>;
}
