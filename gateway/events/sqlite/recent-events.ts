import { copyAlone } from '../../parse/bytes.ts';
import type { Batch, NewMessage, Scope, StoredEvent } from '../log.ts';

/** More than two groups of appends, and at most this many bytes of bodies. A reader that is further behind reads the file. */
const maxEvents = 1000;
const maxBytes = 4 * 1024 * 1024;

interface Entry {
  readonly position: number;
  /** Null for a dead letter, which no scope matches. */
  readonly event: StoredEvent | null;
  readonly advances: boolean;
}

/**
 * The newest durable events of a log, as they were appended. Waiters take them from here, so that an event is not read,
 * decrypted and parsed once for each. It has at most the last two seconds; the file has everything.
 */
export class RecentEvents {
  #entries: Entry[] = [];
  #bytes = 0;
  /** Every event after this position is here. */
  #start: number;

  /** @param end the end of the log */
  constructor(end: number) {
    this.#start = end;
  }

  /** Takes the next message of the log, after its commit. */
  add(message: NewMessage, { position, advances }: Pick<Entry, 'position' | 'advances'>): void {
    const event = message.deadReason === null ? toStoredEvent(message, position) : null;
    this.#entries.push({ position, event, advances });
    this.#bytes += event?.body.length ?? 0;
    if (this.#entries.length > maxEvents || this.#bytes > maxBytes) this.dropThrough(position);
  }

  /** Drops the events up to a position. */
  dropThrough(position: number): void {
    if (position <= this.#start) return;
    this.#start = position;
    this.#entries = this.#entries.filter((entry) => entry.position > position);
    this.#bytes = this.#entries.reduce((sum, { event }) => sum + (event?.body.length ?? 0), 0);
  }

  /**
   * As `EventLog.read`; null where only the file can tell.
   * @param end the end of the log
   */
  read(
    scope: Scope,
    after: number,
    { limit, end }: { readonly limit: number; readonly end: number },
  ): Batch | null {
    const before = this.#entries.findLastIndex(({ position }) => position <= after);
    const known = this.#entries[before]?.position ?? this.#start;
    if (known !== after) return null;
    const events: StoredEvent[] = [];
    for (const { event, advances } of this.#entries.slice(before + 1)) {
      if (event === null || !matches(scope, event, advances)) continue;
      events.push(event);
      if (events.length === limit) return { kind: 'events', events, through: event.position };
    }
    return { kind: 'events', events, through: end };
  }
}

function matches(
  { userId, subject, types, changesOnly }: Scope,
  event: StoredEvent,
  advances: boolean,
): boolean {
  if (userId !== undefined && event.userId !== userId) return false;
  if (subject !== undefined && event.subject?.id !== subject) return false;
  if (types !== undefined && !types.includes(event.type)) return false;
  return changesOnly !== true || advances;
}

/** As it would be read from the file, which changes unpaired surrogates. */
function toStoredEvent(message: NewMessage, position: number): StoredEvent {
  const { messageId, receivedAt, type, userId, clientUserId, teamId, subject, origin, trace, body } = message;
  return {
    position,
    messageId: messageId.toWellFormed(),
    receivedAt,
    type: type.toWellFormed(),
    userId: userId?.toWellFormed() ?? null,
    clientUserId: clientUserId?.toWellFormed() ?? null,
    teamId: teamId?.toWellFormed() ?? null,
    subject: subject === null ? null : { id: subject.id.toWellFormed(), version: subject.version },
    origin,
    trace: trace ?? null,
    // A received body is a part of a larger block.
    body: copyAlone(body),
  };
}
