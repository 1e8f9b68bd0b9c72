/**
 * Starts work one piece in each round of the event loop, in the order it came, so that new requests are read and short
 * ones answered in between. The callers bound how much waits.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  run(start: () => void): void {
    this.#waiting.push(start);
    if (this.#waiting.length === 1) setImmediate(this.#startNext);
  }

  readonly #startNext = () => {
    const start = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#startNext);
    start?.();
  };
}
