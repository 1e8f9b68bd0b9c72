import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  GraphQLError,
  validateSubscriptionArgs,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { z } from 'zod';
import { codeOf, GatewayError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';
import { currentRequest } from '../telemetry/request.ts';
import { currentTracing, runInSpan, type Span, type Tracing } from '../telemetry/tracing.ts';
import { formatForStream, toError } from './mask.ts';
import {
  countOperation,
  type ExecutionOptions,
  type Guarded,
  guardOperation,
  maskResult,
  type OperationArgs,
  type OperationContext,
  outcomeOf,
  type Transport,
  toOperationArgs,
  withTotals,
} from './run-operation.ts';
import { type ItemArgs, shareKey, shareResult } from './shared-results.ts';
import { noteErrors, startOperation } from './trace-operations.ts';

type Results = AsyncGenerator<ExecutionResult>;

/**
 * Runs a subscription, the same over every transport: guarded, charged, counted, masked. Refusals and failures are results,
 * and nothing is thrown.
 */
export type RunStream = (args: ExecutionArgs) => Promise<Results | ExecutionResult>;

/**
 * One layer around the stream only: each layer of Envelop's would cost a waiting stream 0.6 kB, and 10,000 wait at
 * once.
 */
export function createRunStream(options: ExecutionOptions): RunStream {
  const { metrics, mask } = options;
  const runStream: RunStream = async (args) => {
    const request = toOperationArgs(args);
    const run = { args: request, startedAt: performance.now() };
    const guarded = await guardStream(options, request);
    if ('errors' in guarded) {
      countOperation(metrics, guarded, run);
      return guarded;
    }
    const source = await subscribe(args).catch((error: unknown) => ({ errors: [toGraphQLError(error)] }));
    guarded.settle();
    if ('items' in source) {
      countOperation(metrics, {}, run);
      return new GuardedStream(source, { context: request.contextValue, guarded, mask, metrics });
    }
    guarded.leave();
    const masked = maskResult(mask, source);
    countOperation(metrics, masked, run);
    return masked;
  };
  const tracing = currentTracing();
  return tracing === null ? runStream : traceStreams(tracing, runStream);
}

/** The span of a subscription ends when it is open; each of its items has one of its own. */
function traceStreams(tracing: Tracing, runStream: RunStream): RunStream {
  return async (args) => {
    const span = startOperation(tracing, toOperationArgs(args));
    try {
      const results = await span.run(() => runStream(args));
      if (!isAsyncIterable(results)) noteErrors(span, results);
      return results;
    } finally {
      span.end();
    }
  };
}

/** `leave` removes the stream from the caller's count of connections; a second call does nothing. */
interface GuardedSubscription extends Guarded {
  readonly leave: () => void;
}

/** A stream over HTTP is a connection of its own. A socket is counted when it is opened. */
async function guardStream(
  options: ExecutionOptions,
  request: OperationArgs,
): Promise<{ readonly errors: readonly GraphQLError[] } | GuardedSubscription> {
  const { caller, transport, over } = request.contextValue;
  if (transport === null) return { errors: [options.mask(notAcceptable())] };
  const guarded = await guardOperation(options, request);
  if ('errors' in guarded) return guarded;
  if (transport === 'websocket') return { ...guarded, leave: stay };
  try {
    const release = options.rateLimits.connect(caller);
    // A signal that has a listener is not collected.
    const leave = () => {
      over.removeEventListener('abort', leave);
      release();
    };
    over.addEventListener('abort', leave);
    return { ...guarded, leave };
  } catch (error) {
    guarded.settle();
    return { errors: [options.mask(error)] };
  }
}

function notAcceptable(): GatewayError {
  const message =
    'A subscription is answered as text/event-stream or multipart/mixed;subscriptionSpec=1.0, and Accept allows neither.';
  return new GatewayError('NOT_ACCEPTABLE', message);
}

function stay(): void {}

interface Surroundings extends Pick<ExecutionOptions, 'mask' | 'metrics'> {
  readonly context: OperationContext;
  readonly guarded: GuardedSubscription;
}

/** The items of a subscription, and how the result of one is made. */
interface Source {
  readonly items: AsyncIterator<unknown>;
  readonly execute: (item: unknown) => Promise<ExecutionResult>;
}

/**
 * A class, so that streams share its methods. It is the only layer between the items and the transport, because each layer
 * costs every item some promises. A failure becomes its last result, as for an operation: a thrown error would close the
 * whole socket.
 */
class GuardedStream implements Results {
  readonly #source: Source;
  readonly #around: Surroundings;
  readonly #transport: Transport;
  #hasEnded = false;

  constructor(source: Source, around: Surroundings) {
    this.#source = source;
    this.#around = around;
    this.#transport = around.context.transport ?? 'sse';
    around.metrics.subscriptions.inc({ transport: this.#transport });
  }

  async next(): Promise<IteratorResult<ExecutionResult>> {
    const { context, guarded, mask, metrics } = this.#around;
    const { items, execute } = this.#source;
    let result: ExecutionResult;
    try {
      const next = await items.next();
      if (next.done) return await this.return(undefined);
      result = await execute(next.value);
    } catch (error) {
      await items.return?.();
      if (context.over.aborted) return await this.return(undefined);
      result = { errors: [toGraphQLError(error)] };
    }
    guarded.settle();
    const masked = maskResult(mask, result);
    // The subscription was counted as ok when it opened.
    if (masked.errors !== undefined) metrics.operations.inc({ outcome: outcomeOf(masked) });
    return { done: false, value: withTotals(masked, context) };
  }

  async return(value: unknown): Promise<IteratorResult<ExecutionResult>> {
    this.#end();
    await this.#source.items.return?.();
    return { done: true, value };
  }

  async throw(error: unknown): Promise<IteratorResult<ExecutionResult>> {
    await this.return(undefined);
    throw error;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#around.guarded.leave();
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
  return new GraphQLError('The stream failed.', { originalError: toError(error) });
}

/** An item of a stream, as far as a transport needs it. */
export interface StreamItem {
  readonly cursor: string;
  /** When the gateway received it; null for events from before the stream began. */
  readonly waitingSince: Date | null;
}

/** A symbol, so that plugins pass it on with the result and it is never part of the JSON. */
const itemKey = Symbol('stream item');

interface WithItem {
  readonly [itemKey]?: StreamItem | null;
}

/** The item of a subscription's result; null when there is none (an error of the stream). */
export function readStreamItem(result: object): StreamItem | null {
  const { [itemKey]: item }: WithItem = result;
  return item ?? null;
}

const texts = new WeakMap<ExecutionResult, string>();

/** A result of a stream as JSON, written once for all streams that share it. */
export function writeResult(result: ExecutionResult): string {
  if (result.errors !== undefined) {
    const { errors, ...rest } = result;
    return JSON.stringify({ ...rest, errors: errors.map(formatForStream) });
  }
  const text = texts.get(result) ?? JSON.stringify(result);
  texts.set(result, text);
  return text;
}

/** Call it with each result of a stream just before it is sent. */
export function observeSend(metrics: Metrics, transport: Transport, result: object): void {
  const waitingSince = readStreamItem(result)?.waitingSince ?? null;
  if (waitingSince === null) return;
  metrics.followLagSeconds.observe({ transport }, Math.max(0, Date.now() - waitingSince.getTime()) / 1000);
}

/**
 * Runs a subscription so that each result has its item. Result and item are paired where the result is made, by the
 * root value, and not by the last item that was pulled: with a slow reader the next item may be pulled before this one
 * is sent.
 */
async function subscribe(args: ExecutionArgs): Promise<Source | ExecutionResult> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const source = await createSourceEventStream(validated);
  if (!isAsyncIterable(source)) return source;
  const beganAt = new Date();
  const startItem = createItemSpans();
  // Made with the first item that came while the stream was open, because many streams only wait.
  let key: string | null = null;
  const run = (rootValue: unknown): Promise<ExecutionResult> => {
    // Our own streams give the items, and the context is our own.
    const item = { ...validated, rootValue } as ItemArgs;
    const waitingSince = waitingSinceOf(item.rootValue, beganAt);
    // An item from before the stream began is read by this stream at its own pace.
    if (waitingSince === null || item.contextValue.isTraced) return execute(item, waitingSince);
    key ??= shareKey(item);
    return shareResult(item, key, (watched) => execute(watched, waitingSince));
  };
  return {
    items: source[Symbol.asyncIterator](),
    execute: startItem === null ? run : (item) => runInSpan(startItem(item), () => run(item), codeOf),
  };
}

async function execute(item: ItemArgs, waitingSince: Date | null): Promise<ExecutionResult & WithItem> {
  const { work } = item.contextValue;
  const result = await work.run(async () => await executeSubscriptionEvent(item));
  const { cursor } = itemShape.safeParse(item.rootValue).data ?? {};
  return { ...result, [itemKey]: cursor === undefined ? null : { cursor, waitingSince } };
}

/** Makes the spans of items: parts of the subscription's trace, with links to the webhooks that caused them. */
function createItemSpans(): ((item: unknown) => Span) | null {
  const tracing = currentTracing();
  if (tracing === null) return null;
  const parent = currentRequest()?.span?.traceparent;
  return (item) =>
    tracing.start('item', {
      kind: 'consumer',
      attributes: {},
      parent,
      link: traceShape.safeParse(item).data?.trace ?? null,
    });
}

const traceShape = z.object({ trace: z.string().nullable() });

/** Items of every stream have this field. Without it there is no cursor to resume from. */
const itemShape = z.object({ cursor: z.string() });

function waitingSinceOf(item: object, beganAt: Date): Date | null {
  const receivedAt = 'receivedAt' in item ? item.receivedAt : null;
  return receivedAt instanceof Date && receivedAt >= beganAt ? receivedAt : null;
}
