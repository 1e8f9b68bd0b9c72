import { randomUUID } from 'node:crypto';
import type { EarlierAttempt, IdempotencyRecords } from '../idempotency.ts';
import { hashFactKey, sha256 } from '../keyed-hash.ts';
import {
  type Appended,
  type AppendNotice,
  type Batch,
  type Claimed,
  type DeadLetter,
  type DeadReason,
  type EventLog,
  type FactQuery,
  type Gap,
  isAdvance,
  type Latest,
  messageIdDays,
  type NewMessage,
  type Scope,
  type StoredEvent,
  type StoredFact,
} from '../log.ts';
import type { OneTimeValues } from '../one-time-values.ts';
import { Waiters } from '../waiters.ts';

const dayMs = 86_400_000;

interface StoredMessage {
  readonly event: StoredEvent;
  readonly deadReason: DeadReason | null;
  readonly advances: boolean;
}

interface KnownId {
  readonly position: number;
  readonly bodyHash: string;
  readonly receivedAt: Date;
}

/** The event log in memory, for tests and trials. Nothing survives the process. */
export class MemoryLog implements EventLog {
  readonly #messages: StoredMessage[] = [];
  readonly #ids = new Map<string, KnownId>();
  readonly #latest = new Map<string, Latest>();
  readonly #marks = new Map<string, string>();
  readonly #facts = new MemoryFacts();
  readonly #waiters = new Waiters();
  readonly #epoch = randomUUID();
  #head = 0;
  #prunedThrough = 0;

  epoch(): string {
    return this.#epoch;
  }

  async append(message: NewMessage): Promise<Appended> {
    const bodyHash = sha256(message.body).toString('hex');
    const earlier = this.#ids.get(message.messageId);
    if (earlier) {
      return { position: earlier.position, duplicate: true, altered: earlier.bodyHash !== bodyHash };
    }
    this.#head += 1;
    const position = this.#head;
    this.#ids.set(message.messageId, { position, bodyHash, receivedAt: message.receivedAt });
    const { deadReason, facts: _, ...event } = message;
    this.#messages.push({ event: { ...event, position }, deadReason, advances: this.#advance(message) });
    if (deadReason === null) {
      this.#facts.store(message, position);
      this.#waiters.wake(message);
    }
    return { position, duplicate: false, altered: false };
  }

  async read(scope: Scope, after: number, limit: number): Promise<Batch | Gap> {
    if (after > this.#head) return { kind: 'gap', reason: 'beyond-end' };
    if (after < this.#prunedThrough) return { kind: 'gap', reason: 'pruned' };
    const events = this.#messages
      .filter((message) => message.event.position > after && isInScope(message, scope))
      .slice(0, limit)
      .map(({ event }) => event);
    const through = events.length < limit ? this.#head : (events.at(-1)?.position ?? after);
    return { kind: 'events', events, through };
  }

  async position(): Promise<number> {
    return this.#head;
  }

  async wake(scope: Scope, after: number, signal: AbortSignal): Promise<void> {
    if (this.#head <= after) await this.#waiters.wait(scope, signal);
  }

  async latest(subject: string): Promise<Latest | null> {
    return this.#latest.get(subject) ?? null;
  }

  async changedSince(userId: string, since: Date): Promise<readonly string[]> {
    const changes = this.#messages.filter(
      ({ advances, event }) => advances && event.userId === userId && event.receivedAt >= since,
    );
    return [...new Set(changes.flatMap(({ event }) => event.subject?.id ?? []))];
  }

  async facts(query: FactQuery, limit: number): Promise<readonly StoredFact[]> {
    return this.#facts.read(query, limit);
  }

  async claim(subject: string, known: Claimed): Promise<void> {
    if (!this.#latest.has(subject)) this.#latest.set(subject, { ...known, position: 0 });
  }

  async deadLetters(after: number, limit: number): Promise<readonly DeadLetter[]> {
    return this.#messages
      .flatMap(({ event, deadReason }) => (deadReason === null ? [] : [{ ...event, deadReason }]))
      .filter(({ position }) => position > after)
      .slice(0, limit);
  }

  async readMark(name: string): Promise<string | null> {
    return this.#marks.get(name) ?? null;
  }

  async writeMark(name: string, value: string): Promise<void> {
    this.#marks.set(name, value);
  }

  async readMarks(prefix: string): Promise<ReadonlyMap<string, string>> {
    return new Map([...this.#marks].filter(([name]) => name.startsWith(prefix)));
  }

  async dropMark(name: string): Promise<void> {
    this.#marks.delete(name);
  }

  onAppend(listener: (notice: AppendNotice | null) => void): () => void {
    return this.#waiters.onAppend(listener);
  }

  /** No other process appends. */
  async catchUp(): Promise<void> {}

  /** No other gateway uses this log. */
  async publish(): Promise<void> {}

  subscribe(): () => void {
    return () => {};
  }

  async prune(before: Date): Promise<number> {
    const firstYoung = this.#messages.findIndex(({ event }) => event.receivedAt >= before);
    const dropped = this.#messages.splice(0, firstYoung === -1 ? this.#messages.length : firstYoung);
    this.#prunedThrough = dropped.at(-1)?.event.position ?? this.#prunedThrough;
    this.#facts.prune(this.#prunedThrough);
    for (const [id, { receivedAt }] of this.#ids) {
      if (receivedAt.getTime() < before.getTime() - messageIdDays * dayMs) this.#ids.delete(id);
    }
    return dropped.length;
  }

  async isWritable(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {
    this.#waiters.wake(null);
  }

  /** Stores the version of a message that advances its subject. @returns whether it does */
  #advance(message: NewMessage): boolean {
    const { subject, userId } = message;
    if (subject === null) return false;
    const latest = this.#latest.get(subject.id) ?? null;
    if (!isAdvance(message, latest)) return false;
    this.#latest.set(subject.id, {
      version: subject.version,
      position: this.#head,
      userId: userId ?? latest?.userId ?? null,
    });
    return true;
  }
}

function isInScope({ event, deadReason, advances }: StoredMessage, scope: Scope): boolean {
  return (
    deadReason === null &&
    (scope.userId === undefined || event.userId === scope.userId) &&
    (scope.subject === undefined || event.subject?.id === scope.subject) &&
    (scope.types === undefined || scope.types.includes(event.type)) &&
    (!scope.changesOnly || advances)
  );
}

interface KeyedFact extends StoredFact {
  readonly userId: string;
  readonly kind: string;
  readonly key: string;
}

class MemoryFacts {
  readonly #facts = new Map<string, KeyedFact>();

  store({ userId, receivedAt, facts = [] }: NewMessage, position: number): void {
    if (userId === null) return;
    for (const fact of facts) {
      const { kind, at, value } = fact;
      const key = hashFactKey(fact.key);
      const stored = { userId, kind, key, at, position, receivedAt, value };
      this.#facts.set(JSON.stringify([userId, kind, key]), stored);
    }
  }

  read(query: FactQuery, limit: number): readonly StoredFact[] {
    return [...this.#facts.values()]
      .filter((fact) => isAskedFor(fact, query))
      .sort(newestFirst)
      .slice(0, limit)
      .map(({ at, position, receivedAt, value }) => ({ at, position, receivedAt, value }));
  }

  prune(through: number): void {
    for (const [name, { position }] of this.#facts) if (position <= through) this.#facts.delete(name);
  }
}

function isAskedFor(fact: KeyedFact, query: FactQuery): boolean {
  return (
    fact.userId === query.userId &&
    fact.kind === query.kind &&
    (query.key === undefined || fact.key === hashFactKey(query.key)) &&
    (query.from === undefined || fact.at >= query.from) &&
    (query.before === undefined || fact.at < query.before)
  );
}

function newestFirst(one: KeyedFact, two: KeyedFact): number {
  return (
    two.at.getTime() - one.at.getTime() ||
    two.position - one.position ||
    (one.key > two.key ? -1 : Number(one.key < two.key))
  );
}

interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly since: Date;
  readonly answer?: string;
}

/** Idempotency records in memory, beside the memory log. */
export class MemoryIdempotencyRecords implements IdempotencyRecords {
  readonly #records = new Map<string, IdempotencyRecord>();

  async begin(key: string, fingerprint: string): Promise<EarlierAttempt> {
    const record = this.#records.get(key);
    if (!record) {
      this.#records.set(key, { fingerprint, since: new Date() });
      return { kind: 'first' };
    }
    if (record.fingerprint !== fingerprint) return { kind: 'conflict' };
    if (record.answer === undefined) return { kind: 'unsettled', since: record.since };
    return { kind: 'finished', answer: JSON.parse(record.answer) };
  }

  async reclaim(key: string, since: Date): Promise<boolean> {
    const record = this.#records.get(key);
    if (record === undefined || record.answer !== undefined) return false;
    if (record.since.getTime() !== since.getTime()) return false;
    this.#records.set(key, { ...record, since: new Date(Math.max(Date.now(), since.getTime() + 1)) });
    return true;
  }

  async finish(key: string, answer: unknown): Promise<void> {
    const record = this.#records.get(key);
    if (record) this.#records.set(key, { ...record, answer: JSON.stringify(answer) });
  }

  async release(key: string): Promise<void> {
    this.#records.delete(key);
  }
}

/** The bound of one-time values in memory. Beyond it the oldest are dropped early. */
const maxOneTimeValues = 10_000;

interface StoredValue {
  /** As JSON, so that it is read back as from the other stores. */
  readonly value: string;
  readonly until: number;
}

/** One-time values in memory, beside the memory log. */
export class MemoryOneTimeValues implements OneTimeValues {
  readonly #values = new Map<string, StoredValue>();

  async put(key: string, value: unknown, until: Date): Promise<void> {
    this.#dropExpired();
    this.#values.set(key, { value: JSON.stringify(value), until: until.getTime() });
  }

  async take(key: string): Promise<unknown> {
    const found = this.#values.get(key);
    this.#values.delete(key);
    return found !== undefined && found.until > Date.now() ? JSON.parse(found.value) : null;
  }

  /** The values are ordered by arrival, and nearly all expire in that order. */
  #dropExpired(): void {
    for (const [key, { until }] of this.#values) {
      if (until > Date.now() && this.#values.size < maxOneTimeValues) return;
      this.#values.delete(key);
    }
  }
}
