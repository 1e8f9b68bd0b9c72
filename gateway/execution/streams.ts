import { type ExecutionArgs, type ExecutionResult, GraphQLError } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Metrics } from '../metrics.ts';
import {
  admitStream,
  type GuardOptions,
  type Operation,
  type StreamAdmission,
  toOperationArgs,
} from './guards.ts';
import { type Mask, maskResult } from './mask.ts';
import { countOutcome, type Transport, withTotals } from './observe.ts';
import { subscribe } from './stream-items.ts';

/** Runs a subscription from its admission to its end; refusals and failures are results, and nothing is thrown. */
export type RunStream = (args: ExecutionArgs) => Promise<AsyncGenerator<ExecutionResult> | ExecutionResult>;

export interface StreamsOptions {
  readonly guards: GuardOptions;
  readonly metrics: Metrics;
  readonly mask: Mask;
}

/**
 * Subscriptions, the same over SSE and WebSocket: guarded, paid for, counted, masked. All of it in one layer around
 * the stream, because each layer of Envelop's would cost a waiting one 0.6 kB, and 10,000 wait at once.
 */
export function createStreams(options: StreamsOptions): RunStream {
  const { guards, metrics, mask } = options;
  return async (args) => {
    const request = toOperationArgs(args);
    const context = request.contextValue;
    const admission = await admitStream({ ...guards, mask }, request);
    if ('errors' in admission) {
      countOutcome(metrics, admission);
      return admission;
    }
    const results = await subscribe(args).catch((error: unknown) => ({ errors: [toGraphQLError(error)] }));
    admission.settle();
    if (isAsyncIterable(results)) return new GuardedStream(results, { context, admission, mask, metrics });
    admission.leave();
    const masked = maskResult(mask, results);
    countOutcome(metrics, masked);
    return masked;
  };
}

/** Sockets run streams themselves; what is asked for over HTTP comes by Yoga, and then here. */
export function useStreams(runStream: RunStream): Plugin {
  return { onSubscribe: ({ setSubscribeFn }) => setSubscribeFn(runStream) };
}

interface Surroundings {
  readonly context: Operation;
  readonly admission: StreamAdmission;
  readonly mask: Mask;
  readonly metrics: Metrics;
}

/**
 * A class, so that its methods are shared. It fails with a last result, like an operation: thrown on, an error would
 * close a whole socket.
 */
class GuardedStream implements AsyncGenerator<ExecutionResult> {
  readonly #results: AsyncGenerator<ExecutionResult>;
  readonly #around: Surroundings;
  readonly #transport: Transport;
  #hasEnded = false;

  constructor(results: AsyncGenerator<ExecutionResult>, around: Surroundings) {
    this.#results = results;
    this.#around = around;
    this.#transport = around.context.transport ?? 'sse';
    around.metrics.subscriptions.inc({ transport: this.#transport });
  }

  async next(): Promise<IteratorResult<ExecutionResult>> {
    const { context, admission, mask } = this.#around;
    const next = await this.#results.next().catch((error: unknown) => this.#fail(error));
    if (next.done) {
      this.#end();
      return next;
    }
    admission.settle();
    return { done: false, value: withTotals(maskResult(mask, next.value), context) };
  }

  #fail(error: unknown): IteratorResult<ExecutionResult> {
    if (this.#around.context.over.aborted) return { done: true, value: undefined };
    return { done: false, value: { errors: [toGraphQLError(error)] } };
  }

  return(value: unknown): Promise<IteratorResult<ExecutionResult>> {
    this.#end();
    return this.#results.return(value);
  }

  throw(error: unknown): Promise<IteratorResult<ExecutionResult>> {
    this.#end();
    return this.#results.throw(error);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#around.admission.leave();
    this.#around.metrics.subscriptions.dec({ transport: this.#transport });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return(undefined);
  }
}

function toGraphQLError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error;
  const originalError = error instanceof Error ? error : new Error('A value that is no error was thrown.');
  return new GraphQLError('The stream failed.', { originalError });
}
