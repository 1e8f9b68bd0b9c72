import type { PortalClient } from '../client/client.ts';
import { isRetryable, PortalError, toPortalError } from '../gateway/errors.ts';
import type { Fields } from '../gateway/fields.ts';
import { withinLimit } from '../gateway/token.ts';
import { READ_RESULTS } from './operations.ts';
import { type Results, readResults } from './results.ts';

/** When results that are not there yet, or could not be read, are read again. */
const AGAIN_MS = 30_000;

/** Whose results are to be read, and how. */
export interface ResultsWish {
  readonly client: PortalClient;
  readonly orderId: string;
  /** With the values; else only the head. */
  readonly isFull: boolean;
  /** Another text for another state of the order: its results are then read again. */
  readonly version: string;
  /** The order says that there are results. */
  readonly areExpected: boolean;
  /** The order is followed, so what is not there yet is read again by itself. */
  readonly isFollowed: boolean;
}

/** Notifications of the reader to its element. */
export interface ResultsListener {
  resultsChanged(results: Results | null, previous: Results | null | undefined): void;
  resultsFailed(error: PortalError): void;
}

/**
 * Reads the results of one order, and again whenever the order has changed. A late answer never replaces a newer one, and
 * nothing of one order, client or privacy is there under another.
 */
export class ResultsReader {
  readonly #listener: ResultsListener;
  #wish: ResultsWish | null = null;
  #results: Results | null | undefined;
  #reading: AbortController | null = null;
  #again: ReturnType<typeof setTimeout> | undefined;
  /** Whether results must be read again as soon as the order is followed. */
  #isDue = false;

  constructor(listener: ResultsListener) {
    this.#listener = listener;
  }

  /** The results as last read: null before there are any, undefined before it is known. */
  get results(): Results | null | undefined {
    return this.#results;
  }

  /** To be called on every update of the element; reads only what has changed. Null: nothing is to be read or shown. */
  want(next: ResultsWish | null): void {
    const last = this.#wish;
    this.#wish = next;
    if (!isSame(last, next)) this.#drop();
    const isDue = this.#isDue && next?.isFollowed;
    if (next && (this.#reading === null || last?.version !== next.version || isDue)) void this.read();
  }

  /** Reads the results now. Never rejects. */
  async read(): Promise<void> {
    const wish = this.#wish;
    this.#stop();
    if (!wish) return;
    const reading = new AbortController();
    this.#reading = reading;
    try {
      const results = await readOnce(wish, withinLimit(reading.signal));
      if (!reading.signal.aborted) this.#show(results);
    } catch (cause) {
      if (!reading.signal.aborted) this.#fail(toPortalError(cause, 'NETWORK'));
    }
  }

  #show(results: Results | null): void {
    const previous = this.#results;
    this.#results = results;
    if (!results && this.#wish?.areExpected) this.#readLater();
    this.#listener.resultsChanged(results, previous);
  }

  #fail(error: PortalError): void {
    // An order can move to another user. Then nothing of it may stay on screen.
    if (error.code === 'NOT_FOUND') this.#results = undefined;
    if (isRetryable(error.code)) this.#readLater();
    this.#listener.resultsFailed(error);
  }

  #readLater(): void {
    this.#again = setTimeout(() => {
      this.#isDue = true;
      this.want(this.#wish);
    }, AGAIN_MS);
  }

  #stop(): void {
    clearTimeout(this.#again);
    this.#isDue = false;
    this.#reading?.abort();
  }

  #drop(): void {
    this.#stop();
    this.#reading = null;
    this.#results = undefined;
  }
}

/** @throws PortalError NOT_FOUND when the token's user has no such order, SCOPE_MISSING when the token may not read results */
function readOnce({ client, orderId, isFull }: ResultsWish, signal: AbortSignal): Promise<Results | null> {
  const variables = { orderId, full: isFull };
  const read = ({ order }: Fields) => {
    if (!order) throw new PortalError('NOT_FOUND');
    return readResults(order);
  };
  const request = { query: READ_RESULTS, variables, scope: 'results', orderId, isWhole: true, read } as const;
  return client.execute(request, signal);
}

function isSame(one: ResultsWish | null, other: ResultsWish | null): boolean {
  return one?.client === other?.client && one?.orderId === other?.orderId && one?.isFull === other?.isFull;
}
