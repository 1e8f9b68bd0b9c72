import { setImmediate, setTimeout } from 'node:timers/promises';
import { isGatewayError } from '../errors.ts';
import type { EventLog, GapReason, Scope, StoredEvent } from './log.ts';

const batchSize = 100;
/** How often a store that cannot be read is asked again, in milliseconds. */
const retryMs = 500;

export type Followed =
  /** `payload` is the envelope's `data`. */
  | { readonly kind: 'event'; readonly event: StoredEvent; readonly payload: unknown }
  /** History after the given position is gone; the stream goes no further. */
  | { readonly kind: 'gap'; readonly reason: GapReason };

export interface FollowOptions {
  readonly after: number;
  readonly signal: AbortSignal;
}

/**
 * The events of a scope after a position, then every further one as it comes, each once and in log order.
 * The reader pulls: nothing is queued for it, so one that stalls costs nothing and holds nobody up. Ends when
 * the signal aborts or after a gap.
 *
 * A reader that is behind gives way before each further event. What a socket takes at once, or no longer takes, is
 * answered without a turn of the event loop: 100,000 events on end would hold everybody up for half a minute.
 */
export async function* follow(log: EventLog, scope: Scope, options: FollowOptions): AsyncGenerator<Followed> {
  const { signal } = options;
  let after = options.after;
  let isBehind = false;
  while (!signal.aborted) {
    const batch = await askWhenBack(() => log.read(scope, after, batchSize), signal);
    if (batch === null) return;
    if (batch.kind === 'gap') {
      yield batch;
      return;
    }
    for (const event of batch.events) {
      if (isBehind) await setImmediate();
      isBehind = true;
      if (signal.aborted) return;
      yield { kind: 'event', event, payload: readPayload(event.body) };
    }
    after = batch.through;
    // Looks at the log's end once more after registering, so an append in between is not slept through.
    if (batch.events.length < batchSize) {
      await log.wake(scope, after, signal);
      isBehind = false;
    }
  }
}

/**
 * Asks the log until it answers: a store that is gone for a while holds a stream up and does not end it.
 * @returns null when the signal aborts first
 */
export async function askWhenBack<Answer>(
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

/** The `data` of a kept envelope, null where it has none. */
export function readPayload(body: Buffer): unknown {
  const envelope: unknown = JSON.parse(body.toString('utf8'));
  return typeof envelope === 'object' && envelope !== null && 'data' in envelope ? envelope.data : null;
}

/**
 * A stream that can be left at any moment. A plain async generator that waits cannot: its `return` stands in
 * line behind the wait. Here `return` first aborts what the generator waits for.
 * @param parent ends the stream too
 */
export function createStream<Item>(
  parent: AbortSignal,
  generate: (signal: AbortSignal) => AsyncGenerator<Item>,
): AsyncGenerator<Item> {
  return new LeavableStream(parent, generate);
}

/** A class, so that its methods are shared: with closures of its own each waiting stream would cost 0.5 kB more. */
class LeavableStream<Item> implements AsyncGenerator<Item>, EventListenerObject {
  readonly #parent: AbortSignal;
  // Not AbortSignal.any: it costs each waiting stream 1 kB more.
  readonly #left = new AbortController();
  readonly #items: AsyncGenerator<Item>;

  constructor(parent: AbortSignal, generate: (signal: AbortSignal) => AsyncGenerator<Item>) {
    this.#parent = parent;
    if (parent.aborted) this.#left.abort();
    else parent.addEventListener('abort', this);
    this.#items = generate(this.#left.signal);
  }

  /** The parent has aborted. */
  handleEvent(): void {
    this.#leave();
  }

  #leave(): void {
    this.#parent.removeEventListener('abort', this);
    this.#left.abort();
  }

  async next(): Promise<IteratorResult<Item>> {
    try {
      const item = await this.#items.next();
      if (item.done) this.#leave();
      return item;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  return(value: unknown): Promise<IteratorResult<Item>> {
    this.#leave();
    return this.#items.return(value);
  }

  throw(error: unknown): Promise<IteratorResult<Item>> {
    this.#leave();
    return this.#items.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }
}
