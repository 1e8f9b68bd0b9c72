/**
 * The contract of the durable event log. Three stores stand behind it (memory, SQLite, Redis) and one suite
 * runs on each of them.
 *
 * The log knows no concept of the service. A `subject` is whatever a message is a new version of (an order),
 * `version` the number that grows with it (the order's last event id).
 */
export interface EventLog {
  /**
   * Differs for every log ever made: a cursor of another epoch points into another history. It changes while
   * the gateway runs when a store behind the network comes back empty.
   */
  readonly epoch: () => string;
  /**
   * Keeps a message, once per message id. Resolves only when it is durable.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE when it could not be made durable
   */
  readonly append: (message: NewMessage) => Promise<Appended>;
  /**
   * Up to `limit` events of the scope after `after`, oldest first. `through` is how far the log was looked
   * at: the place to go on from even when nothing matched. `gap` says that history after `after` is gone or
   * cannot be opened, or that `after` lies beyond the end of this log.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE while the store cannot be read
   */
  readonly read: (scope: Scope, after: number, limit: number) => Promise<Batch | Gap>;
  /** The position of the newest message, 0 in an empty log. */
  readonly position: () => Promise<number>;
  /**
   * Resolves when there may be something of the scope after `after`, or when the signal aborts. Never rejects. A
   * lost hint costs a second: the end of the log is looked at that often.
   */
  readonly wake: (scope: Scope, after: number, signal: AbortSignal) => Promise<void>;
  /** The highest version of a subject that the log has seen; version 0 for one that was only claimed. */
  readonly latest: (subject: string) => Promise<Latest | null>;
  /** The subjects of a user that messages have changed since this time, each once, in any order. */
  readonly changedSince: (userId: string, since: Date) => Promise<readonly string[]>;
  /**
   * Up to `limit` facts: latest time first, then latest position, then greatest hash of the key. Of each key only
   * the fact of the message that stands last in the log is there.
   */
  readonly facts: (query: FactQuery, limit: number) => Promise<readonly StoredFact[]>;
  /**
   * Notes whose a subject is, and at which version, before any message of it came, durably; one that is known
   * already stays as it is.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly claim: (subject: string, known: Claimed) => Promise<void>;
  /** Up to `limit` dead letters after a position, oldest first: what nobody was told, and why. */
  readonly deadLetters: (after: number, limit: number) => Promise<readonly DeadLetter[]>;
  /** A small text kept under a name, durably: how far a routine has come. Null when none was kept. */
  readonly readMark: (name: string) => Promise<string | null>;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly writeMark: (name: string, value: string) => Promise<void>;
  /** All marks whose names begin so, by their names. */
  readonly readMarks: (prefix: string) => Promise<ReadonlyMap<string, string>>;
  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  readonly dropMark: (name: string) => Promise<void>;
  /**
   * Calls the listener for each message that became readable, wherever it was appended, before anyone who waits
   * is woken. `null` says that hints may have been lost: anything may be new.
   * @returns stops it
   */
  readonly onAppend: (listener: (news: AppendNotice | null) => void) => () => void;
  /**
   * Resolves once the listeners of `onAppend` and `subscribe` have heard all that anybody can have heard when it was
   * called, at any gateway over this log.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE while that cannot be known
   */
  readonly catchUp: () => Promise<void>;
  /**
   * A word to the other gateways over this log, which is nowhere kept as an event. Each has heard it when it has
   * caught up after this resolved.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE
   */
  readonly publish: (word: string) => Promise<void>;
  /** @returns stops it */
  readonly subscribe: (listener: (word: string) => void) => () => void;
  /**
   * Drops bodies received before this time, and their facts; message ids are remembered longer (30 days).
   * @returns how many it dropped
   */
  readonly prune: (before: Date) => Promise<number>;
  /** Whether a write would succeed now. */
  readonly isWritable: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** A message on its way into the log. */
export interface NewMessage {
  /** The sender's id of the message: the same over all its retries. */
  readonly messageId: string;
  readonly receivedAt: Date;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  /** What this is a new version of; null for messages that stand alone. */
  readonly subject: { readonly id: string; readonly version: number } | null;
  readonly origin: Origin;
  /** Why nobody is to be told: a dead letter, kept for people to look at. */
  readonly deadReason: DeadReason | null;
  /** What it says of its user's things; kept with it or not at all. Dead letters state nothing. */
  readonly facts?: readonly NewFact[];
  /** The raw bytes, as they were signed. */
  readonly body: Buffer;
}

/**
 * Something a message states of its user: of several facts of one user, kind and key the one appended last
 * stands, whatever their times. The log knows neither what kinds there are nor what values mean.
 */
export interface NewFact {
  readonly kind: string;
  readonly key: string;
  /** What facts are found by, such as when it was measured. */
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
  /** The message id was known: nothing was stored. */
  readonly duplicate: boolean;
  /** The message id was known with another body: the first one stands. */
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
  readonly body: Buffer;
}

/** A message that nobody is told, kept for people to look at. */
export interface DeadLetter extends Omit<StoredEvent, 'body'> {
  readonly deadReason: DeadReason;
  /** Null when no key opens it: it is listed all the same. */
  readonly body: Buffer | null;
}

/** Whom and what a message is about: all that those who wait need to know. */
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

export interface Gap {
  readonly kind: 'gap';
  readonly reason: GapReason;
}

/** `sealed`: no key opens what comes next. */
export type GapReason = 'pruned' | 'beyond-end' | 'other-epoch' | 'sealed';

export interface Latest {
  readonly version: number;
  readonly position: number;
  readonly userId: string | null;
}

/**
 * Whether a message is a change of its subject: a higher version than any before it. What was found by comparing
 * with the service also counts at the same version when the subject has moved to another user.
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

/** For how long a message id is remembered, in days (the sender retries for about 28 hours). */
export const messageIdDays = 30;
