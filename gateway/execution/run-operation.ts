import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { Caller } from '../auth/rights.ts';
import { GatewayError } from '../errors.ts';
import type { GraphContext } from '../graph/context.ts';
import { upstreamCallCost } from '../graph/cost.ts';
import type { Metrics } from '../metrics.ts';
import type { Dependencies, Report } from '../service/trace.ts';
import { currentTracing, type Tracing } from '../telemetry/tracing.ts';
import { findWidth, type Measure, refuse } from './document/measure.ts';
import { type PreparedDocument, requirePrepared } from './document/prepared-document.ts';
import type { TrustedDocuments } from './document/trusted-documents.ts';
import { findOversizedVariable, findVariableFaults } from './document/validation.ts';
import { type Mask, markUnknownOutcomes } from './mask.ts';
import { describeOperation, noteErrors, startOperation } from './trace-operations.ts';

/** Limits of one operation: generous for people, out of reach for floods. */
const limits = {
  /** Fields inside fields. Introspection needs 13. */
  depth: 15,
  /**
   * The sum of fields times the rows that they may have. Each expected call to the service counts 100 (graph/cost.ts),
   * so this is at most 5,000 calls. 20 users with 20 orders and 20 markers each cost about 100,000.
   */
  complexity: 500_000,
} as const;

/**
 * The most points that an operation pays in advance. Its actual cost is settled when it is known. The estimate counts
 * lists as full and reads as not shared, so it is far too high (README's query is estimated at 950 calls and makes 31).
 * Without an advance, one caller could start thousands of heavy operations at once.
 */
const maxAdvance = 50;

/** This weight (graph/cost.ts) takes about as much processor time as a request or a call. */
const weightPerPoint = 1000;

/** The parts that every operation needs. */
export interface ExecutionOptions {
  readonly rateLimits: RateLimits;
  readonly trustedDocuments: TrustedDocuments;
  readonly metrics: Metrics;
  readonly mask: Mask;
}

/** The transports of streams over HTTP: server-sent events, and the parts of a multipart answer. */
export type HttpTransport = 'sse' | 'multipart';
/** The transport of a stream. */
export type Transport = HttpTransport | 'websocket';

/** The context of an operation, with its caller, who is known before the context is made. */
export type OperationContext = GraphContext & {
  readonly caller: Caller;
  /** Null if the client accepts no stream. */
  readonly transport?: Transport | null;
};

/** An operation with everything that its execution needs. */
export interface OperationArgs extends ExecutionArgs {
  readonly document: PreparedDocument;
  readonly contextValue: OperationContext;
}

/** The arguments of an operation from Yoga or a socket. Envelop passes our own context through unchanged. */
export function toOperationArgs(args: ExecutionArgs): OperationArgs {
  return {
    ...args,
    document: requirePrepared(args.document),
    contextValue: args.contextValue as OperationContext,
  };
}

/**
 * Runs a query or mutation on any transport: guarded, charged, masked, counted. Refusals and failures are results, and
 * nothing is thrown.
 */
export type RunOperation = (args: OperationArgs, request?: Requested) => Promise<ExecutionResult>;

/** What the transport knows of an operation. */
export interface Requested {
  /** Records the reads of the answer, if the answer may be shared. */
  readonly dependencies?: Dependencies | undefined;
  /** As `performance.now()`; now where left out. */
  readonly startedAt?: number;
}

export function createRunOperation(options: ExecutionOptions): RunOperation {
  const { metrics, mask } = options;
  const finish = (result: ExecutionResult, { args, startedAt, dependencies }: Run) => {
    // Masked before it is counted, because the code that the client sees is counted.
    const masked = maskResult(mask, result);
    countOperation(metrics, masked, { args, startedAt, dependencies });
    return withTotals(masked, args.contextValue);
  };
  // One layer only, because each further layer costs every operation a promise.
  const runOperation: RunOperation = async (args, { dependencies, startedAt = performance.now() } = {}) => {
    const run = { args, startedAt, dependencies };
    const guarded = await guardOperation(options, args, dependencies);
    if ('errors' in guarded) return finish(guarded, run);
    let result: ExecutionResult;
    try {
      result = await args.contextValue.work.run(async () => await execute(args));
    } catch (error) {
      const isCut = guarded.isMutation && error instanceof GatewayError;
      // Only the answer was abandoned; the write may have been done.
      result = { errors: [mask(isCut ? error.withOutcome(true) : error)] };
    }
    guarded.settle();
    const answer = finish(result, run);
    return guarded.isMutation ? markUnknownOutcomes(answer) : answer;
  };
  const tracing = currentTracing();
  return tracing === null ? runOperation : traceOperations(tracing, runOperation);
}

function traceOperations(tracing: Tracing, runOperation: RunOperation): RunOperation {
  return async (args, request) => {
    const span = startOperation(tracing, args);
    const result = await span.run(() => runOperation(args, request));
    noteErrors(span, result);
    span.end();
    return result;
  };
}

interface Refused {
  readonly errors: readonly GraphQLError[];
}

/** An operation that may run. `settle` pays what it has cost so far. */
export interface Guarded {
  readonly isMutation: boolean;
  readonly settle: () => void;
}

/**
 * The guard of every operation. It returns refusals and never throws, because a thrown error would close a socket with
 * 4500.
 */
export async function guardOperation(
  { trustedDocuments, rateLimits, mask }: ExecutionOptions,
  request: OperationArgs,
  dependencies?: Dependencies,
): Promise<Refused | Guarded> {
  const operation = getOperationAST(request.document, request.operationName);
  // The executor reports that no operation can be chosen, and runs none.
  if (!operation) return { settle: () => {}, isMutation: false };
  const measured = measureWithin(request, operation);
  if ('errors' in measured) return measured;
  const { service, upstreamTotals, work } = request.contextValue;
  // Not the context's caller, whose use would make the answer private.
  const { caller } = service.rights;
  try {
    const isTrusted = trustedDocuments.check(caller, request.document.trust);
    if (!isTrusted) dependencies?.addReport('unlisted', trustedDocuments.countUntrusted);
    const advance = Math.min(Math.floor(measured.complexity / upstreamCallCost), maxAdvance);
    const charge = await rateLimits.pay(caller, advance);
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    const settle = () => charge.settle(upstreamTotals().calls + Math.floor(work.weight / weightPerPoint));
    return { isMutation, settle };
  } catch (error) {
    return { errors: [mask(error)] };
  }
}

function measureWithin(request: OperationArgs, operation: OperationDefinitionNode): Refused | Measure {
  const { document, schema, variableValues } = request;
  const tooWide = findWidth(document, operation);
  if (tooWide !== null) return { errors: [tooWide] };
  const oversized = findOversizedVariable(operation, variableValues ?? {});
  if (oversized !== null) return { errors: [oversized] };
  const faults = findVariableFaults(schema, operation, variableValues ?? {});
  if (faults.length > 0) return { errors: faults };
  const measured = tryMeasure(request, operation);
  if ('errors' in measured) return measured;
  if (measured.depth > limits.depth) return { errors: [refuse(`more than ${limits.depth} levels`)] };
  if (measured.complexity > limits.complexity)
    return { errors: [refuse('more rows than one request may ask for; ask for fewer with `first`')] };
  return measured;
}

/**
 * Measuring finds arguments whose variables do not fit. The error is returned, because a thrown one would close a
 * socket.
 */
function tryMeasure(
  { document, variableValues }: OperationArgs,
  operation: OperationDefinitionNode,
): Refused | Measure {
  try {
    return document.measure(operation, variableValues ?? {});
  } catch {
    const message = 'A variable does not fit the argument it is used for.';
    return { errors: [new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } })] };
  }
}

/** More errors add no information and make the answer large; further fields that failed are still null. */
const maxErrors = 1000;

/** The same result with at most 1,000 errors, in the form that clients see. */
export function maskResult(mask: Mask, result: ExecutionResult): ExecutionResult {
  return result.errors === undefined
    ? result
    : { ...result, errors: result.errors.slice(0, maxErrors).map(mask) };
}

/** An operation that was started. */
interface Run {
  readonly args: OperationArgs;
  /** As `performance.now()`. */
  readonly startedAt: number;
  readonly dependencies?: Dependencies | undefined;
}

/**
 * Counts an operation by its outcome (`ok`, or the code of the first error) and its time. Also counts each other operation
 * that shares its answer.
 */
export function countOperation(metrics: Metrics, result: ExecutionResult, run: Run): void {
  const outcome = outcomeOf(result);
  metrics.operations.inc({ outcome });
  observeOperation(metrics, run);
  run.dependencies?.addReport('outcome', countAgain(metrics, outcome, describeOperation(run.args)));
}

/** Lives as long as a cached answer: made here, so that it holds these few values and not the operation. */
function countAgain(
  metrics: Metrics,
  outcome: string,
  { type, name }: ReturnType<typeof describeOperation>,
): Report {
  return (seconds) => {
    metrics.operations.inc({ outcome });
    metrics.observeOperation(type, name, seconds);
  };
}

/** Notes how long an operation took; of a stream, until it was open. */
function observeOperation(metrics: Metrics, { args, startedAt }: Run): void {
  const { type, name } = describeOperation(args);
  metrics.observeOperation(type, name, (performance.now() - startedAt) / 1000);
}

/** `ok`, or the code of the first error. */
export function outcomeOf({ errors }: ExecutionResult): string {
  if (errors === undefined) return 'ok';
  const code = errors[0]?.extensions.code;
  return typeof code === 'string' ? code : 'INTERNAL';
}

/** Adds the number of the operation's calls to the service so far, if its caller asks for it. */
export function withTotals(
  result: ExecutionResult,
  { isTraced, upstreamTotals }: GraphContext,
): ExecutionResult {
  if (!isTraced) return result;
  return { ...result, extensions: { ...result.extensions, upstream: upstreamTotals() } };
}
