import { createHash, randomUUID } from 'node:crypto';
import {
  type Appended,
  type EventLog,
  type Latest,
  messageIdDays,
  type NewMessage,
  type Scope,
  type StoredEvent,
} from './log.ts';
import { createMemoryFacts } from './memory-facts.ts';
import type { Earlier, Replies } from './replies.ts';
import { createWakers } from './wakers.ts';

const dayMs = 86_400_000;

interface KeptMessage {
  readonly event: StoredEvent;
  readonly isDead: boolean;
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
  const facts = createMemoryFacts();
  const wakers = createWakers();
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
    const isDead = message.deadReason !== null;
    const advances = !isDead && isNewer(message, latest);
    if (advances && message.subject) {
      latest.set(message.subject.id, {
        version: message.subject.version,
        position: head,
        userId: message.userId ?? latest.get(message.subject.id)?.userId ?? null,
      });
    }
    if (!isDead) facts.keep(message, head);
    const { deadReason: _, facts: __, ...event } = message;
    messages.push({ event: { ...event, position: head }, isDead, advances });
    if (!isDead) wakers.wake(message);
    return { position: head, duplicate: false, altered: false };
  };

  return {
    epoch: randomUUID(),
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
      if (head <= after) await wakers.wait(scope, signal);
    },
    latest: async (subject) => latest.get(subject) ?? null,
    facts: async (query, limit) => facts.read(query, limit),
    claim: async (subject, userId) => {
      if (!latest.has(subject)) latest.set(subject, { version: 0, position: 0, userId });
    },
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
    close: async () => wakers.wakeAll(),
  };
}

function isNewer(message: NewMessage, latest: ReadonlyMap<string, Latest>): boolean {
  if (message.subject === null) return false;
  return message.subject.version > (latest.get(message.subject.id)?.version ?? Number.NEGATIVE_INFINITY);
}

function matches({ event, isDead, advances }: KeptMessage, scope: Scope): boolean {
  return (
    !isDead &&
    (scope.userId === undefined || event.userId === scope.userId) &&
    (scope.subject === undefined || event.subject?.id === scope.subject) &&
    (scope.types === undefined || scope.types.includes(event.type)) &&
    (!scope.changesOnly || advances)
  );
}

/** Replies in memory, beside the memory log. */
export function createMemoryReplies(): Replies {
  interface Reply {
    readonly fingerprint: string;
    readonly since: Date;
    readonly answer?: string;
  }
  const replies = new Map<string, Reply>();
  return {
    begin: async (key, fingerprint): Promise<Earlier> => {
      const reply = replies.get(key);
      if (!reply) {
        replies.set(key, { fingerprint, since: new Date() });
        return { kind: 'first' };
      }
      if (reply.fingerprint !== fingerprint) return { kind: 'conflict' };
      if (reply.answer === undefined) return { kind: 'unsettled', since: reply.since };
      return { kind: 'finished', answer: JSON.parse(reply.answer) };
    },
    finish: async (key, answer) => {
      const reply = replies.get(key);
      if (reply) replies.set(key, { ...reply, answer: JSON.stringify(answer) });
    },
    release: async (key) => {
      replies.delete(key);
    },
  };
}
