import type { GraphQLResult } from '../http.ts';
import { readerWasSlow } from './transport.ts';

/** Results that may wait for their reader. Beyond it the operation ends, and the next attempt brings the rest. */
const capacity = 64;

/** The results of one operation over a socket, which are pushed, for a reader that pulls them. */
export class Results {
  readonly #waiting: GraphQLResult[] = [];
  readonly #signal: AbortSignal;
  readonly #ended: () => void;
  /** Undefined while more may come, null when the subscription is over; otherwise what cut it. */
  #reason: unknown;
  #wake = () => {};

  /** @param ended called once, when nothing more is taken */
  constructor(signal: AbortSignal, ended: () => void) {
    this.#signal = signal;
    this.#ended = ended;
    signal.addEventListener('abort', this.#abort);
  }

  push(result: GraphQLResult): void {
    if (this.#reason !== undefined) return;
    this.#waiting.push(result);
    this.#wake();
    if (this.#waiting.length === capacity) this.end(readerWasSlow);
  }

  /** @param reason null when the subscription is over; otherwise what cut it */
  end(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#signal.removeEventListener('abort', this.#abort);
    this.#ended();
    this.#wake();
  }

  /** Yields what was pushed, then returns, or throws what cut it. */
  async *read(): AsyncGenerator<GraphQLResult, void, undefined> {
    while (!this.#signal.aborted) {
      const result = this.#waiting.shift();
      if (result !== undefined) yield result;
      else if (this.#reason === null) return;
      else if (this.#reason !== undefined) throw this.#reason;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  readonly #abort = (): void => this.end(null);
}
