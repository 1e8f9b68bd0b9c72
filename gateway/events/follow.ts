import { setImmediate, setTimeout } from 'node:timers/promises';
import { isGatewayError } from '../errors.ts';
import type { Batch, EventLog, Gap, GapReason, Scope, StoredEvent } from './log.ts';

const batchSize = 100;
/** The pause before a store that cannot be read is tried again, in milliseconds. */
const retryMs = 500;
/** A reader gets one gap in this time at most, in milliseconds: each may cost it a snapshot. */
const gapEveryMs = 1000;

export type Followed =
  /** `payload` is the envelope's `data`. */
  { readonly kind: 'event'; readonly event: StoredEvent; readonly payload: unknown } | PlacedGap;

interface PlacedGap {
  readonly kind: 'gap';
  readonly reason: GapReason;
  /** The stream continues after this position. Events up to it may be lost. */
  readonly position: number;
}

/** Of each log, the streams that have read an event which their client has not taken: when it was stored. */
const behind = new WeakMap<EventLog, Map<FollowOptions, Date>>();

function streamsBehind(log: EventLog): Map<FollowOptions, Date> {
  const streams = behind.get(log) ?? new Map<FollowOptions, Date>();
  behind.set(log, streams);
  return streams;
}

/** The age of the oldest such event in seconds; 0 when no stream is behind. */
export function cursorLagSeconds(log: EventLog): number {
  let oldest = Date.now();
  for (const receivedAt of behind.get(log)?.values() ?? []) oldest = Math.min(oldest, receivedAt.getTime());
  return (Date.now() - oldest) / 1000;
}

export interface FollowOptions {
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * The events of a scope after a position, then every new event, each once and in log order. The reader pulls: nothing is
 * queued for it, so a stalled reader costs nothing and delays nobody. Ends when the signal aborts.
 *
 * A reader that is behind yields to the event loop before each event, because writing to a socket may not: 100,000 events
 * in a row would block all other work for half a minute.
 */
export async function* follow(log: EventLog, scope: Scope, options: FollowOptions): AsyncGenerator<Followed> {
  const { signal } = options;
  const streams = streamsBehind(log);
  let after = options.after;
  let isBehind = false;
  let nextGapAt = 0;
  // One generator and no nested ones: each level costs every item some promises, and every waiting stream 1 kB.
  try {
    while (!signal.aborted) {
      const batch: Batch | PlacedGap | null = await readOn(log, scope, { after, signal, nextGapAt });
      if (batch === null) return;
      if (batch.kind === 'gap') {
        nextGapAt = performance.now() + gapEveryMs;
        streams.delete(options);
        yield batch;
        after = batch.position;
        continue;
      }
      for (const event of batch.events) {
        if (isBehind) await setImmediate();
        isBehind = true;
        if (signal.aborted) return;
        streams.set(options, event.receivedAt);
        yield { kind: 'event', event, payload: payloadOf(event) };
      }
      after = batch.through;
      // `wake` checks the end of the log after it has registered the waiter, so no append in between is missed.
      if (batch.events.length < batchSize) {
        streams.delete(options);
        after = await log.wake(scope, after, signal);
        isBehind = false;
      }
    }
  } finally {
    streams.delete(options);
  }
}

interface ReadOptions extends FollowOptions {
  /** A gap is not given before this time (`performance.now`). */
  readonly nextGapAt: number;
}

/** @returns null when the signal aborts first */
async function readOn(
  log: EventLog,
  scope: Scope,
  { after, signal, nextGapAt }: ReadOptions,
): Promise<Batch | PlacedGap | null> {
  const batch = await retryUntilAvailable(() => log.read(scope, after, batchSize), signal);
  // A read may end before the log does and find nothing: other work goes between it and the next one.
  if (batch?.kind === 'events' && batch.events.length === 0) await setImmediate();
  if (batch?.kind !== 'gap') return batch;
  const pauseMs = Math.max(0, nextGapAt - performance.now());
  await setTimeout(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
  const position = await retryUntilAvailable(() => findEnd(log, batch, { scope, signal }), signal);
  return position === null ? null : { kind: 'gap', reason: batch.reason, position };
}

/**
 * The position at the end of a gap: the one before the next event of the scope that can be read, or the end of the log.
 * More gaps in between are part of this one. Events of other scopes are skipped: a cursor before them would meet another
 * gap once they are pruned.
 */
async function findEnd(
  log: EventLog,
  gap: Gap,
  { scope, signal }: { readonly scope: Scope; readonly signal: AbortSignal },
): Promise<number> {
  if (!('through' in gap)) return await log.position();
  let { through } = gap;
  while (!signal.aborted) {
    const next = await log.read(scope, through, batchSize);
    if (next.kind === 'gap' && !('through' in next)) break;
    const [first] = next.kind === 'events' ? next.events : [];
    if (first !== undefined) return first.position - 1;
    if (next.through === through) break;
    ({ through } = next);
    await setImmediate();
  }
  return through;
}

/**
 * Repeats a read of the log until the log is available: an outage delays a stream and does not end it.
 * @returns null when the signal aborts first
 */
export async function retryUntilAvailable<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | null> {
  while (!signal.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (!isGatewayError(error, 'EVENT_LOG_UNAVAILABLE')) throw error;
      await setTimeout(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
  return null;
}

const payloadOfEvent = makeOncePerEvent<unknown>();

/** Parses an event once for all streams that are given the same one. Nobody changes what it gives. */
function payloadOf(event: StoredEvent): unknown {
  return payloadOfEvent(event, '', () => readPayload(event.body));
}

/**
 * A function that makes a value of an event once for each key. Streams that are given the same event, and have equal keys,
 * get the same value. It lives as long as the event.
 */
export function makeOncePerEvent<Value>(): (event: StoredEvent, key: string, make: () => Value) => Value {
  const valuesOfEvents = new WeakMap<StoredEvent, Map<string, { readonly value: Value }>>();
  return (event, key, make) => {
    const values = valuesOfEvents.get(event) ?? new Map<string, { readonly value: Value }>();
    const made = values.get(key) ?? { value: make() };
    valuesOfEvents.set(event, values.set(key, made));
    return made.value;
  };
}

/** The `data` of a stored envelope; null when it has none. */
export function readPayload(body: Buffer): unknown {
  const envelope: unknown = JSON.parse(body.toString('utf8'));
  return typeof envelope === 'object' && envelope !== null && 'data' in envelope ? envelope.data : null;
}

/**
 * A stream that can end at any moment. A plain async generator cannot: its `return` waits for the pending `next`. Here
 * `return` first aborts the signal that the generator waits with.
 * @param parent ends the stream too
 */
export function createStream<Item>(
  parent: AbortSignal,
  generate: (signal: AbortSignal) => AsyncGenerator<Item>,
): AsyncGenerator<Item> {
  return new AbortableStream(parent, generate);
}

class AbortableStream<Item> implements AsyncGenerator<Item>, EventListenerObject {
  readonly #parent: AbortSignal;
  // Not AbortSignal.any, which costs 1 kB more for each waiting stream.
  readonly #ended = new AbortController();
  readonly #items: AsyncGenerator<Item>;

  constructor(parent: AbortSignal, generate: (signal: AbortSignal) => AsyncGenerator<Item>) {
    this.#parent = parent;
    if (parent.aborted) this.#ended.abort();
    else parent.addEventListener('abort', this);
    this.#items = generate(this.#ended.signal);
  }

  /** The parent has aborted. */
  handleEvent(): void {
    this.#end();
  }

  #end(): void {
    this.#parent.removeEventListener('abort', this);
    this.#ended.abort();
  }

  async next(): Promise<IteratorResult<Item>> {
    try {
      const item = await this.#items.next();
      if (item.done) this.#end();
      return item;
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  return(value: unknown): Promise<IteratorResult<Item>> {
    this.#end();
    return this.#items.return(value);
  }

  throw(error: unknown): Promise<IteratorResult<Item>> {
    this.#end();
    return this.#items.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }
}
