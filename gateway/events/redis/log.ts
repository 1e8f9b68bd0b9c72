import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import {
  type Appended,
  type AppendNotice,
  type Batch,
  type Claimed,
  type DeadLetter,
  type EventLog,
  type Extent,
  type FactQuery,
  type Gap,
  type Latest,
  messageIdDays,
  type NewMessage,
  type Scope,
  type StoredFact,
} from '../log.ts';
import { type Seal, sha256 } from '../seal.ts';
import { openBatch, openDeadLetter } from '../sealed-rows.ts';
import type { Waiters } from '../waiters.ts';
import type { Argument } from './client.ts';
import {
  encodeOptional,
  keyPrefix,
  redisNumber,
  redisText,
  toAppendArguments,
  toEventColumns,
  toFactQueryArguments,
  toFacts,
  toLatest,
  toMarks,
  toScopeArguments,
} from './codec.ts';
import type { RedisConnection } from './connection.ts';
import type { Durability } from './durability.ts';
import type { GatewayChannel, Positions } from './pubsub.ts';
import type { ScriptAnswer, ScriptRunner } from './script-runner.ts';
import { readScript } from './scripts.ts';

const dayMs = 86_400_000;
/** Messages dropped per step. A step blocks the server for all gateways. */
const pruneChunk = 50;
const subjects = `${keyPrefix}subjects`;
const marks = `${keyPrefix}marks`;
const stream = `${keyPrefix}log`;

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
  z.tuple([redisText.pipe(z.literal('pruned')), redisNumber]),
  z.tuple([redisText.pipe(z.enum(['beyond-end', 'other-epoch']))]),
]);
const changedShape = z.tuple([z.array(redisText)]);
const factsShape = z.tuple([z.array(z.instanceof(Buffer))]);
const latestShape = z.array(z.unknown());
const sizeShape = z.number().nullable();
const firstShape = z.array(z.tuple([redisText, z.unknown()]));
const prunedShape = z.tuple([z.number(), z.number()]);

export interface RedisLogParts {
  readonly runner: ScriptRunner;
  readonly reads: RedisConnection;
  readonly writes: RedisConnection;
  readonly durability: Durability;
  readonly positions: Positions;
  readonly channel: GatewayChannel;
  readonly waiters: Waiters;
  readonly seal: Seal;
  /** Stops the bus and closes the connections. */
  readonly close: () => void;
}

/** The event log over open connections. */
export class RedisLog implements EventLog {
  readonly #parts: RedisLogParts;
  readonly #appends = new Set<Promise<unknown>>();
  readonly #reads = new ReadsInFlight<Batch | Gap>();
  readonly #latest = new ReadsInFlight<Latest | null>();
  /** Claims that were acknowledged: they change an owner and not the head. */
  #claims = 0;

  constructor(parts: RedisLogParts) {
    this.#parts = parts;
  }

  epoch(): string {
    return this.#parts.runner.epoch;
  }

  async append(message: NewMessage): Promise<Appended> {
    const appending = this.#append(message);
    this.#appends.add(appending);
    return await appending.finally(() => this.#appends.delete(appending));
  }

  /** Streams that one event wakes ask for the same, so equal reads give the same events. */
  read(scope: Scope, after: number, limit: number): Promise<Batch | Gap> {
    const { runner, seal } = this.#parts;
    const args = [String(after), String(limit), ...toScopeArguments(scope)];
    return this.#reads.join(this.#keyOf(args), async () =>
      toBatch(await runner.read(scripts.read, args), seal),
    );
  }

  /** A read is not joined if it may have begun before the newest message or claim that is known here. */
  #keyOf(args: readonly Argument[]): string {
    const { positions, runner } = this.#parts;
    return JSON.stringify([runner.epoch, positions.head, this.#claims, ...args]);
  }

  position(): Promise<number> {
    return this.#parts.runner.end();
  }

  async wake(scope: Scope, after: number, signal: AbortSignal): Promise<number> {
    if (this.#parts.positions.head > after) return after;
    return await this.#parts.waiters.wait(scope, after, signal);
  }

  /** Each stream that an event wakes asks who owns its subject now. */
  latest(subject: string): Promise<Latest | null> {
    return this.#latest.join(this.#keyOf([subject]), async () =>
      toLatest(await this.#parts.reads.send(['HGET', subjects, encodeOptional(subject)])),
    );
  }

  async latestOf(asked: readonly string[]): Promise<readonly (Latest | null)[]> {
    if (asked.length === 0) return [];
    const found = await this.#parts.reads.send(['HMGET', subjects, ...asked.map(encodeOptional)]);
    return latestShape.parse(found).map(toLatest);
  }

  async changedSince(userId: string, since: Date): Promise<readonly string[]> {
    const args = [`user${encodeOptional(userId)}`, String(since.getTime() * 1000)];
    return changedShape.parse((await this.#parts.runner.read(scripts.changed, args)).values)[0];
  }

  async facts(query: FactQuery, limit: number): Promise<readonly StoredFact[]> {
    const { runner, seal } = this.#parts;
    const { values } = await runner.read(scripts.facts, toFactQueryArguments(query, limit));
    return toFacts(factsShape.parse(values)[0], query, seal);
  }

  async claim(subject: string, { userId, version }: Claimed): Promise<void> {
    const claimed = `${version} 0 ${encodeOptional(userId)}`;
    await this.#write(['HSETNX', subjects, encodeOptional(subject), claimed]);
    this.#claims += 1;
  }

  async deadLetters(after: number, limit: number): Promise<readonly DeadLetter[]> {
    const { runner, seal } = this.#parts;
    const args = [String(after), String(limit), 'dead', '0', '', '', '1'];
    const { values } = await runner.read(scripts.read, args);
    const [, , rows] = rowsShape.parse(values);
    return rows.map((row) => openDeadLetter(toEventColumns(row), seal));
  }

  async readMark(name: string): Promise<string | null> {
    return redisText.nullable().parse(await this.#parts.reads.send(['HGET', marks, name]));
  }

  async writeMark(name: string, value: string): Promise<void> {
    await this.#write(['HSET', marks, name, value]);
  }

  async readMarks(prefix: string): Promise<ReadonlyMap<string, string>> {
    return toMarks(await this.#parts.reads.send(['HGETALL', marks]), prefix);
  }

  async dropMark(name: string): Promise<void> {
    await this.#write(['HDEL', marks, name]);
  }

  onAppend(listener: (notice: AppendNotice | null) => void): () => void {
    return this.#parts.waiters.onAppend(listener);
  }

  catchUp(): Promise<void> {
    return this.#parts.channel.catchUp();
  }

  publish(message: string): Promise<void> {
    return this.#parts.channel.publish(message);
  }

  subscribe(listener: (message: string) => void): () => void {
    return this.#parts.channel.subscribe(listener);
  }

  /** Prunes in steps: webhooks are written between them. */
  async prune(before: Date): Promise<number> {
    const idsBefore = before.getTime() - messageIdDays * dayMs;
    const args = [String(before.getTime()), String(idsBefore), String(pruneChunk)];
    let dropped = 0;
    for (;;) {
      const { values } = await this.#parts.runner.read(scripts.prune, args);
      const [step, isDone] = prunedShape.parse(values);
      dropped += step;
      if (isDone === 1) return dropped;
      await nextTurn();
    }
  }

  async measure(): Promise<Extent> {
    const { reads } = this.#parts;
    const [bytes, entries] = await Promise.all([
      reads.send(['MEMORY', 'USAGE', stream]),
      reads.send(['XRANGE', stream, '-', '+', 'COUNT', '1']),
    ]);
    const [first] = firstShape.parse(entries);
    const oldestAt = first === undefined ? null : new Date(Math.floor(Number(first[0].split('-')[0]) / 1000));
    return { bytes: sizeShape.parse(bytes) ?? 0, oldestAt };
  }

  isWritable(): Promise<boolean> {
    return this.#write(['SET', `${keyPrefix}probe`, '1']).then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#appends);
    this.#parts.close();
    this.#parts.waiters.wake(null);
  }

  async #append(message: NewMessage): Promise<Appended> {
    const { runner, positions, seal } = this.#parts;
    const values = await runner.write(scripts.append, toAppendArguments(message, seal));
    const [position, duplicate, bodyHash] = appendedShape.parse(values);
    if (duplicate === 0) positions.noteOwn(position, message.deadReason === null ? message : null);
    const isComparable = duplicate === 1 && message.isNewId !== true;
    const altered = isComparable && !seal.isHashOf(Buffer.from(bodyHash, 'hex'), sha256(message.body));
    return { position, duplicate: duplicate === 1, altered };
  }

  #write(command: readonly Argument[]): Promise<unknown> {
    const { durability, writes } = this.#parts;
    return durability.write(() => writes.send(command));
  }
}

/** Equal reads in flight are joined. */
class ReadsInFlight<Result> {
  readonly #reads = new Map<string, Promise<Result>>();

  join(key: string, read: () => Promise<Result>): Promise<Result> {
    const joined = this.#reads.get(key);
    if (joined !== undefined) return joined;
    const reading = read().finally(() => this.#reads.delete(key));
    this.#reads.set(key, reading);
    return reading;
  }
}

function toBatch({ values, isSameLog }: ScriptAnswer, seal: Seal): Batch | Gap {
  if (!isSameLog) return { kind: 'gap', reason: 'other-epoch' };
  const parsed = readShape.parse(values);
  const [reason, through, rows] = parsed;
  if (reason === 'pruned') return { kind: 'gap', reason, through };
  if (reason !== 'events') return { kind: 'gap', reason };
  return openBatch(rows.map(toEventColumns), through, seal);
}
