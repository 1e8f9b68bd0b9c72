import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { AppendNotice } from '../log.ts';
import { checkEveryMs, type Waiters } from '../waiters.ts';
import { type BusEntry, entryShape, keyPrefix, redisText, type StreamEntry, toBusEntry } from './codec.ts';
import { oncePerTurn, type RedisConnection } from './connection.ts';

const bus = `${keyPrefix}bus`;
/** The stream of messages between gateways. */
const channel = `${keyPrefix}told`;
/** Gateways read the channel within seconds; this is more than they publish in that time. */
const maxChannel = '10000';
const maxEntries = 1000;
/** How long the server holds an answer back when there is nothing new, in milliseconds. */
const blockMs = 1000;
/** The pause after an error of the server, in milliseconds. */
const pauseMs = 100;

const busShape = z.tuple([z.tuple([redisText, z.array(entryShape)])]).nullable();
const lastShape = z.array(z.tuple([redisText, z.unknown()]));
const streamsShape = z.array(z.tuple([redisText, z.array(entryShape)])).nullable();

/**
 * The positions that this gateway knows of: by its own appends, by the bus, and by checks of the log's end. It notifies the
 * waiters of every message once, whichever comes first: an append's answer and the bus use two connections, in any order.
 */
export class Positions {
  readonly #waiters: Waiters;
  #head = 0;
  #busPosition = 0;
  /** The head before bus entries were lost: the server may have lost it too. */
  #doubted = 0;
  /** Waiters were notified of everything up to here without single messages. */
  #notifiedThrough = 0;
  /** Messages that waiters were notified of before the bus brought them. */
  readonly #ahead = new Set<number>();

  constructor(waiters: Waiters) {
    this.#waiters = waiters;
  }

  /** @param end the end of the log: nothing up to there is new */
  start(end: number): void {
    this.#head = end;
    this.#busPosition = end;
    this.#notifiedThrough = end;
  }

  /** The newest known position. */
  get head(): number {
    return this.#head;
  }

  /** A position that the server must have. */
  get known(): number {
    return this.#doubted || this.#head;
  }

  /** The bus was read up to here. */
  get busPosition(): number {
    return this.#busPosition;
  }

  /** Waiters were notified of everything up to here. */
  get #notified(): number {
    return Math.max(this.#busPosition, this.#notifiedThrough);
  }

  /** Takes an append of this gateway. @param notice null for a dead letter */
  noteOwn(position: number, notice: AppendNotice | null): void {
    this.#head = Math.max(this.#head, position);
    if (notice === null || position <= this.#notified) return;
    this.#ahead.add(position);
    this.#waiters.wake(notice, this.#notified);
  }

  noteBus({ position, previous, notice }: BusEntry): void {
    // Two connections read the bus.
    if (position <= this.#busPosition) return;
    const [isNext, before] = [previous === this.#busPosition, this.#notified];
    this.#busPosition = position;
    if (!isNext && position > this.#notifiedThrough) {
      this.#doubted = this.known;
      this.noteLoss(position, before);
      return;
    }
    this.#head = Math.max(this.#head, position);
    if (this.#ahead.delete(position) || position <= this.#notifiedThrough || notice === null) return;
    this.#waiters.wake(notice, before);
  }

  /** The server was asked for this position. */
  settleDoubt(position: number): void {
    if (this.#doubted === position) this.#doubted = 0;
  }

  /** Bus entries after `before` were lost, or the log was replaced: anything up to its end may be new. */
  noteLoss(end: number, before = this.#notified): void {
    this.#head = end;
    this.#notifiedThrough = end;
    this.#busPosition = Math.min(this.#busPosition, end);
    this.#ahead.clear();
    this.#waiters.wake(null, before);
  }
}

export interface BusTailParts {
  /** A connection of its own, because reading the bus blocks it. */
  readonly connection: RedisConnection;
  readonly positions: Positions;
  readonly readEnd: () => Promise<number>;
  readonly countReplicas: () => Promise<void>;
}

/**
 * Notices appends of other gateways in two ways: it reads the bus, which may lose entries, and it checks the end of the
 * log, which takes up to a second.
 */
export class BusTail {
  readonly #parts: BusTailParts;
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #headBefore = 0;
  #isChecking = false;

  constructor(parts: BusTailParts) {
    this.#parts = parts;
    void this.#read();
    // An entry may still be on its way when the end is checked over another connection. It counts as lost if it is
    // still missing at the next check. So there are two checks in the longest delay of a lost notice.
    this.#timer = setInterval(() => {
      void this.#checkEnd();
      parts.countReplicas().catch(() => undefined);
    }, checkEveryMs / 2).unref();
  }

  stop(): void {
    this.#stopping.abort();
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const { connection, positions } = this.#parts;
    const { signal } = this.#stopping;
    const command = ['XREAD', 'BLOCK', String(blockMs), 'COUNT', String(maxEntries), 'STREAMS', bus];
    while (!signal.aborted) {
      try {
        const answer = await connection.send([...command, `${positions.busPosition}-0`], blockMs);
        for (const entry of busShape.parse(answer)?.[0][1] ?? []) positions.noteBus(toBusEntry(entry));
      } catch {
        await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #checkEnd(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const { positions, readEnd } = this.#parts;
    try {
      const [known, inDoubt] = [positions.head, positions.known];
      const end = await readEnd();
      if (end < known || positions.head < this.#headBefore) positions.noteLoss(end);
      positions.settleDoubt(inDoubt);
      this.#headBefore = end;
    } catch {
      // The server is gone: the next check tries again.
    } finally {
      this.#isChecking = false;
    }
  }
}

interface ChannelParts {
  readonly reads: RedisConnection;
  readonly writes: RedisConnection;
  readonly positions: Positions;
}

/** Messages between the gateways over one log, such as "this user's orders have changed". */
export class GatewayChannel {
  readonly #parts: ChannelParts;
  readonly #ownId = randomUUID();
  readonly #listeners = new Set<(message: string) => void>();
  #lastId: string;
  /** Reads the bus and the channel up to their ends: one command for all calls of one turn of the event loop. */
  readonly catchUp = oncePerTurn(() => this.#readOn());

  private constructor(parts: ChannelParts, lastId: string) {
    this.#parts = parts;
    this.#lastId = lastId;
  }

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE */
  static async open(parts: ChannelParts): Promise<GatewayChannel> {
    const answer = await parts.reads.send(['XREVRANGE', channel, '+', '-', 'COUNT', '1']);
    const [last] = lastShape.parse(answer);
    return new GatewayChannel(parts, last?.[0] ?? '0-0');
  }

  async publish(message: string): Promise<void> {
    const fields = ['by', this.#ownId, 'word', message];
    await this.#parts.writes.send(['XADD', channel, 'MAXLEN', '~', maxChannel, '*', ...fields]);
  }

  subscribe(listener: (message: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #readOn(): Promise<void> {
    const { reads, positions } = this.#parts;
    const command = ['XREAD', 'COUNT', String(maxEntries), 'STREAMS', bus, channel];
    const answer = await reads.send([...command, `${positions.busPosition}-0`, this.#lastId]);
    const streams = streamsShape.parse(answer) ?? [];
    for (const [name, entries] of streams) {
      for (const entry of entries) {
        if (name === channel) this.#receive(entry);
        else positions.noteBus(toBusEntry(entry));
      }
    }
    if (streams.some(([, entries]) => entries.length === maxEntries)) await this.#readOn();
  }

  #receive([id, [, by = '', , message = '']]: StreamEntry): void {
    this.#lastId = id;
    if (by !== this.#ownId) for (const listener of this.#listeners) listener(message);
  }
}
