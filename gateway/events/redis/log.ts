import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { sha256 } from '../keyed-hash.ts';
import {
  type Appended,
  type Batch,
  type EventLog,
  type FactQuery,
  type Gap,
  type Latest,
  messageIdDays,
  type NewMessage,
  type StoredFact,
} from '../log.ts';
import type { Seal } from '../seal.ts';
import type { Waiters } from '../waiters.ts';
import {
  openAsFar,
  redisNumber,
  redisText,
  toArguments,
  toDeadLetter,
  toFact,
  toFactArguments,
  toMaybe,
  toScopeArguments,
} from './codec.ts';
import type { Connection } from './connection.ts';
import type { Hints } from './positions.ts';
import type { Replicas } from './replicas.ts';
import { keyPrefix, readScript } from './script.ts';
import type { Answer, Calls } from './script-runner.ts';

const dayMs = 86_400_000;
/** Messages dropped per step: what a step may hold up everybody else with. */
const pruneChunk = 50;

const scripts = {
  append: readScript('append'),
  read: readScript('read'),
  changed: readScript('changed'),
  facts: readScript('facts'),
  prune: readScript('prune'),
};

const appendedShape = z.tuple([redisNumber, z.number(), redisText]);
const rowsShape = z.tuple([redisText.pipe(z.literal('events')), redisNumber, z.array(z.unknown())]);
const readShape = z.union([
  rowsShape,
  z.tuple([redisText.pipe(z.enum(['beyond-end', 'pruned', 'other-epoch']))]),
]);
const changedShape = z.tuple([z.array(redisText)]);
const factsShape = z.tuple([z.array(z.instanceof(Buffer))]);
const prunedShape = z.tuple([z.number(), z.number()]);

export interface RedisLogParts {
  readonly calls: Calls;
  readonly reads: Connection;
  readonly writes: Connection;
  readonly replicas: Replicas;
  readonly hints: Hints;
  readonly word: Pick<EventLog, 'catchUp' | 'publish' | 'subscribe'>;
  readonly waiters: Waiters;
  readonly seal: Seal;
  readonly readEnd: () => Promise<number>;
  readonly close: () => void;
}

/** The event log over connections that stand. */
export function createRedisLog(parts: RedisLogParts): EventLog {
  const { calls, reads, writes, replicas, hints, waiters, seal } = parts;
  const underWay = new Set<Promise<unknown>>();
  const subjects = `${keyPrefix}subjects`;
  const marks = `${keyPrefix}marks`;

  return {
    epoch: calls.epoch,
    append: async (message) => {
      const appending = append(parts, message);
      underWay.add(appending);
      return await appending.finally(() => underWay.delete(appending));
    },
    read: async (scope, after, limit) =>
      toBatch(
        await calls.ask(scripts.read, [String(after), String(limit), ...toScopeArguments(scope)]),
        seal,
      ),
    position: parts.readEnd,
    wake: async (scope, after, signal) => {
      if (hints.head() <= after) await waiters.wait(scope, signal);
    },
    latest: async (subject) => toLatest(await reads.send(['HGET', subjects, toMaybe(subject)])),
    changedSince: async (userId, since) => {
      const bounds = [`user${toMaybe(userId)}`, String(since.getTime() * 1000)];
      return changedShape.parse((await calls.ask(scripts.changed, bounds)).values)[0];
    },
    facts: async (query, limit) => {
      const { values } = await calls.ask(scripts.facts, toFactArguments(query, limit));
      return toFacts(factsShape.parse(values)[0], query, seal);
    },
    claim: async (subject, { userId, version }) => {
      const claimed = `${version} 0 ${toMaybe(userId)}`;
      await replicas.write(() => writes.send(['HSETNX', subjects, toMaybe(subject), claimed]));
    },
    deadLetters: async (after, limit) => {
      const wanted = [String(after), String(limit), 'dead', '0', '', '', '1'];
      const { values } = await calls.ask(scripts.read, wanted);
      const rows = rowsShape.safeParse(values).data?.[2] ?? [];
      return rows.map((row) => toDeadLetter(row, seal));
    },
    readMark: async (name) => redisText.nullable().parse(await reads.send(['HGET', marks, name])),
    writeMark: async (name, value) => {
      await replicas.write(() => writes.send(['HSET', marks, name, value]));
    },
    readMarks: async (prefix) => toMarks(await reads.send(['HGETALL', marks]), prefix),
    dropMark: async (name) => {
      await replicas.write(() => writes.send(['HDEL', marks, name]));
    },
    onAppend: waiters.onAppend,
    ...parts.word,
    prune: (before) => prune(calls, before),
    isWritable: () =>
      replicas
        .write(() => writes.send(['SET', `${keyPrefix}probe`, '1']))
        .then(
          () => true,
          () => false,
        ),
    close: async () => {
      await Promise.allSettled(underWay);
      parts.close();
      waiters.wake(null);
    },
  };
}

async function append({ calls, hints, seal }: RedisLogParts, message: NewMessage): Promise<Appended> {
  const values = await calls.write(scripts.append, toArguments(message, seal));
  const [position, duplicate, bodyHash] = appendedShape.parse(values);
  if (duplicate === 0) hints.tellOwn(position, message.deadReason === null ? message : null);
  const altered = duplicate === 1 && !seal.isHashOf(Buffer.from(bodyHash, 'hex'), sha256(message.body));
  return { position, duplicate: duplicate === 1, altered };
}

/** Keys and facts, alternating. */
function toFacts(keysAndFacts: readonly Buffer[], query: FactQuery, seal: Seal): readonly StoredFact[] {
  const facts: StoredFact[] = [];
  for (let index = 0; index + 1 < keysAndFacts.length; index += 2) {
    const [key, fact] = keysAndFacts.slice(index, index + 2);
    if (key && fact) facts.push(toFact(fact, seal, { ...query, hashedKey: key.toString('latin1') }));
  }
  return facts;
}

function toBatch({ values, isSameLog }: Answer, seal: Seal): Batch | Gap {
  if (!isSameLog) return { kind: 'gap', reason: 'other-epoch' };
  const parsed = readShape.parse(values);
  if (parsed[0] !== 'events') return { kind: 'gap', reason: parsed[0] };
  const [, through, rows] = parsed;
  const { events, isCut } = openAsFar(rows, seal);
  if (!isCut) return { kind: 'events', events, through };
  const last = events.at(-1);
  return last === undefined
    ? { kind: 'gap', reason: 'sealed' }
    : { kind: 'events', events, through: last.position };
}

/** Name, value, name, value. There are few: how far routines have come, and what was revoked of late. */
function toMarks(answer: unknown, prefix: string): ReadonlyMap<string, string> {
  const texts = z.array(redisText).parse(answer);
  const marks = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const [name = '', value = ''] = texts.slice(index, index + 2);
    if (name.startsWith(prefix)) marks.set(name, value);
  }
  return marks;
}

/** A subject as `append.lua` keeps it: `version position user`. */
function toLatest(value: unknown): Latest | null {
  const kept = redisText.nullable().parse(value);
  if (kept === null) return null;
  const [version, position] = kept.split(' ', 2);
  const user = kept.slice(`${version} ${position} `.length);
  return {
    version: Number(version),
    position: Number(position),
    userId: user === '' ? null : user.slice(1),
  };
}

/** In steps, so that webhooks are written in between. */
async function prune(calls: Calls, before: Date): Promise<number> {
  const idsBefore = before.getTime() - messageIdDays * dayMs;
  let dropped = 0;
  for (;;) {
    const bounds = [String(before.getTime()), String(idsBefore), String(pruneChunk)];
    const [step, isDone] = prunedShape.parse((await calls.ask(scripts.prune, bounds)).values);
    dropped += step;
    if (isDone === 1) return dropped;
    await nextTurn();
  }
}
