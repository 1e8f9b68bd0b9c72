import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import type { AppendNotice } from '../log.ts';
import { lookEveryMs } from '../waiters.ts';
import { redisText } from './codec.ts';
import type { Connection } from './connection.ts';
import type { Hint, Hints } from './positions.ts';
import { keyPrefix } from './script.ts';

/** How long the server holds an answer back when there is none, in milliseconds. */
const blockMs = 1000;
/** How long to leave a server alone that cannot be asked, in milliseconds. */
const pauseMs = 100;
export const maxHints = 1000;

/** An entry of a stream: its id, and name, value, name, value. */
export const entryShape = z.tuple([redisText, z.array(redisText)]);
const answerShape = z.tuple([z.tuple([redisText, z.array(entryShape)])]).nullable();

export interface HearingOptions {
  /** A connection of its own: reading the bus blocks it. */
  readonly bus: Connection;
  readonly hints: Hints;
  readonly readEnd: () => Promise<number>;
  readonly lookAtReplicas: () => Promise<void>;
}

/**
 * Hears what other instances append: by the bus, which is a hint, and by looking at the log's end, which needs
 * no hint and costs a second.
 * @returns stops it
 */
export function startHearing({ bus, hints, readEnd, lookAtReplicas }: HearingOptions): () => void {
  const stopping = new AbortController();
  void tailBus(bus, hints, stopping.signal);
  const look = createLook(hints, readEnd);
  const timer = setInterval(() => {
    void look();
    lookAtReplicas().catch(() => undefined);
  }, lookEveryMs / 2).unref();
  return () => {
    stopping.abort();
    clearInterval(timer);
  };
}

async function tailBus(bus: Connection, hints: Hints, signal: AbortSignal): Promise<void> {
  const read = ['XREAD', 'BLOCK', String(blockMs), 'COUNT', String(maxHints), 'STREAMS', `${keyPrefix}bus`];
  while (!signal.aborted) {
    try {
      const answer = answerShape.parse(await bus.send([...read, `${hints.heard()}-0`], blockMs));
      for (const entry of answer?.[0][1] ?? []) hints.tellHeard(toHint(entry));
    } catch {
      await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}

/** Fields as `append.lua` wrote them. */
export function toHint([id, fields]: z.infer<typeof entryShape>): Hint {
  const [, previous = '', , user = '', , subject = '', , version = '', , deadReason = ''] = fields;
  const news: AppendNotice = {
    userId: user === '' ? null : user.slice(1),
    subject: subject === '' ? null : { id: subject.slice(1), version: Number(version) },
  };
  return {
    position: Number(id.split('-')[0]),
    previous: Number(previous),
    news: deadReason === '' ? news : null,
  };
}

/**
 * A hint may still be on its way when the end is looked at, by another connection. It counts as lost when it has
 * not come by the next look, hence two looks in the time that a lost hint may cost.
 */
function createLook(hints: Hints, readEnd: () => Promise<number>): () => Promise<void> {
  let seenBefore = 0;
  let isLooking = false;
  return async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      const known = hints.head();
      const end = await readEnd();
      const wentBack = end < known;
      if (wentBack || hints.head() < seenBefore) hints.lose(end);
      seenBefore = end;
    } catch {
      // The server is gone: there is nothing to see until it is back.
    } finally {
      isLooking = false;
    }
  };
}
