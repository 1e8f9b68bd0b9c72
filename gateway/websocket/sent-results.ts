import type { ExecutionResult } from 'graphql';
import { writeResult } from '../execution/streams.ts';

/**
 * The results of a subscription, which it sends itself: graphql-ws gets none of them and only waits for the end. Its own way
 * would write each result as JSON again for each socket.
 */
export class SentResults implements AsyncGenerator<never> {
  readonly #results: AsyncGenerator<ExecutionResult>;
  readonly #send: (result: ExecutionResult) => Promise<boolean>;

  /**
   * @param send resolves when the socket has taken the result, and then the next one is pulled; with false if the socket is
   *   closing, and then the subscription ends
   */
  constructor(results: AsyncGenerator<ExecutionResult>, send: (result: ExecutionResult) => Promise<boolean>) {
    this.#results = results;
    this.#send = send;
  }

  /** Settles when the subscription is over. */
  async next(): Promise<IteratorResult<never>> {
    for (;;) {
      const next = await this.#results.next();
      if (next.done) return { done: true, value: undefined };
      if (!(await this.#send(next.value))) return await this.return(undefined);
    }
  }

  async return(value: unknown): Promise<IteratorResult<never>> {
    await this.#results.return(value);
    return { done: true, value };
  }

  async throw(error: unknown): Promise<IteratorResult<never>> {
    await this.#results.throw(error);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }
}

/** The message `next` of graphql-transport-ws. Sockets that share a result share its text. */
export function describeResult(id: string, result: ExecutionResult): string {
  const payload = writeResult(result.errors === undefined ? result : { data: null, ...result });
  return `{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`;
}
