import { createHash, randomUUID } from 'node:crypto';
import type { EarlierAttempt, IdempotencyRecords } from '../idempotency-records.ts';
import {
  type Appended,
  type DeadReason,
  type EventLog,
  isAdvance,
  type Latest,
  messageIdDays,
  type NewMessage,
  type Scope,
  type StoredEvent,
} from '../log.ts';
import { noOthers } from '../others.ts';
import { createWaiters } from '../waiters.ts';
import { createMemoryFacts } from './facts.ts';

const dayMs = 86_400_000;

interface KeptMessage {
  readonly event: StoredEvent;
  readonly deadReason: DeadReason | null;
  readonly advances: boolean;
}

interface KnownId {
  readonly position: number;
  readonly bodyHash: string;
  readonly receivedAt: Date;
}

/** The event log in memory: for tests and trials. Nothing survives the process. */
export function createMemoryLog(): EventLog {
  const messages: KeptMessage[] = [];
  const known = new Map<string, KnownId>();
  const latest = new Map<string, Latest>();
  const marks = new Map<string, string>();
  const facts = createMemoryFacts();
  const epoch = randomUUID();
  const waiters = createWaiters();
  let head = 0;
  let prunedThrough = 0;

  const append = (message: NewMessage): Appended => {
    const bodyHash = createHash('sha256').update(message.body).digest('hex');
    const earlier = known.get(message.messageId);
    if (earlier) {
      return { position: earlier.position, duplicate: true, altered: earlier.bodyHash !== bodyHash };
    }
    head += 1;
    known.set(message.messageId, { position: head, bodyHash, receivedAt: message.receivedAt });
    const { subject } = message;
    const advances = isAdvance(message, subject === null ? null : (latest.get(subject.id) ?? null));
    if (advances && message.subject) {
      latest.set(message.subject.id, {
        version: message.subject.version,
        position: head,
        userId: message.userId ?? latest.get(message.subject.id)?.userId ?? null,
      });
    }
    const { deadReason, facts: _, ...event } = message;
    messages.push({ event: { ...event, position: head }, deadReason, advances });
    if (deadReason === null) {
      facts.keep(message, head);
      waiters.wake(message);
    }
    return { position: head, duplicate: false, altered: false };
  };

  return {
    epoch: () => epoch,
    append: async (message) => append(message),
    read: async (scope, after, limit) => {
      if (after > head) return { kind: 'gap', reason: 'beyond-end' };
      if (after < prunedThrough) return { kind: 'gap', reason: 'pruned' };
      const events = messages
        .filter((message) => message.event.position > after && matches(message, scope))
        .slice(0, limit)
        .map(({ event }) => event);
      return {
        kind: 'events',
        events,
        through: events.length < limit ? head : (events.at(-1)?.position ?? after),
      };
    },
    position: async () => head,
    wake: async (scope, after, signal) => {
      if (head <= after) await waiters.wait(scope, signal);
    },
    latest: async (subject) => latest.get(subject) ?? null,
    changedSince: async (userId, since) => {
      const changes = messages.filter(
        ({ advances, event }) => advances && event.userId === userId && event.receivedAt >= since,
      );
      return [...new Set(changes.flatMap(({ event }) => event.subject?.id ?? []))];
    },
    facts: async (query, limit) => facts.read(query, limit),
    claim: async (subject, known) => {
      if (!latest.has(subject)) latest.set(subject, { ...known, position: 0 });
    },
    deadLetters: async (after, limit) =>
      messages
        .flatMap(({ event, deadReason }) => (deadReason === null ? [] : [{ ...event, deadReason }]))
        .filter(({ position }) => position > after)
        .slice(0, limit),
    readMark: async (name) => marks.get(name) ?? null,
    writeMark: async (name, value) => void marks.set(name, value),
    readMarks: async (prefix) => new Map([...marks].filter(([name]) => name.startsWith(prefix))),
    dropMark: async (name) => void marks.delete(name),
    onAppend: waiters.onAppend,
    // Nobody else appends.
    catchUp: async () => {},
    ...noOthers,
    prune: async (before) => {
      const keep = messages.findIndex(({ event }) => event.receivedAt >= before);
      const dropped = messages.splice(0, keep === -1 ? messages.length : keep);
      prunedThrough = dropped.at(-1)?.event.position ?? prunedThrough;
      facts.prune(prunedThrough);
      for (const [id, { receivedAt }] of known) {
        if (receivedAt.getTime() < before.getTime() - messageIdDays * dayMs) known.delete(id);
      }
      return dropped.length;
    },
    isWritable: async () => true,
    close: async () => waiters.wake(null),
  };
}

function matches({ event, deadReason, advances }: KeptMessage, scope: Scope): boolean {
  return (
    deadReason === null &&
    (scope.userId === undefined || event.userId === scope.userId) &&
    (scope.subject === undefined || event.subject?.id === scope.subject) &&
    (scope.types === undefined || scope.types.includes(event.type)) &&
    (!scope.changesOnly || advances)
  );
}

/** Idempotency records in memory, beside the memory log. */
export function createMemoryIdempotencyRecords(): IdempotencyRecords {
  interface IdempotencyRecord {
    readonly fingerprint: string;
    readonly since: Date;
    readonly answer?: string;
  }
  const records = new Map<string, IdempotencyRecord>();
  return {
    begin: async (key, fingerprint): Promise<EarlierAttempt> => {
      const record = records.get(key);
      if (!record) {
        records.set(key, { fingerprint, since: new Date() });
        return { kind: 'first' };
      }
      if (record.fingerprint !== fingerprint) return { kind: 'conflict' };
      if (record.answer === undefined) return { kind: 'unsettled', since: record.since };
      return { kind: 'finished', answer: JSON.parse(record.answer) };
    },
    reclaim: async (key, since) => {
      const record = records.get(key);
      const isSame = record?.answer === undefined && record?.since.getTime() === since.getTime();
      if (record && isSame)
        records.set(key, { ...record, since: new Date(Math.max(Date.now(), since.getTime() + 1)) });
      return isSame;
    },
    finish: async (key, answer) => {
      const record = records.get(key);
      if (record) records.set(key, { ...record, answer: JSON.stringify(answer) });
    },
    release: async (key) => {
      records.delete(key);
    },
  };
}
