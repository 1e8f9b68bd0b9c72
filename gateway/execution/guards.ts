import {
  type ExecutionArgs,
  GraphQLError,
  getOperationAST,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { Caller } from '../auth/rights.ts';
import type { GraphContext } from '../graph/context.ts';
import { upstreamCallCost } from '../graph/cost.ts';
import type { Dependencies } from '../service/trace.ts';
import { findWidth, type Measure, refuse } from './document/measure.ts';
import { type PreparedDocument, requirePrepared } from './document/prepared-document.ts';
import type { ListedOperations } from './document/trusted-documents.ts';
import { findVariableFaults } from './document/validation.ts';
import { findOversizedVariable } from './document/value-sizes.ts';
import type { Mask } from './mask.ts';

/** What one operation may be. Generous for people, out of reach for floods. */
const limits = {
  /** Fields inside fields. Introspection needs 13. */
  depth: 15,
  /**
   * Fields times the rows they may have, each expected call to the service 100 (graph/cost.ts): at most 5,000
   * calls. 20 users, 20 orders and 20 markers each, cost about 100,000.
   */
  complexity: 500_000,
} as const;

/**
 * Points an operation pays ahead at most; what it really takes is settled when it is known. Lists are weighed as full and
 * reads as unshared, so the whole weight is far from the truth (README's query weighs 950 calls and makes 31), yet with
 * none nobody could be kept from starting thousands of heavy ones at once.
 */
const maxDeposit = 50;

/** This weight (graph/cost.ts) takes about as much processor time as a request or a call. */
const weightPerPoint = 1000;

export interface GuardOptions {
  readonly rateLimits: RateLimits;
  readonly listed: ListedOperations;
}

type Options = GuardOptions & {
  /** Turns an error into the answer it is: what ends here, nobody else masks. */
  readonly mask: Mask;
};

/** What is known of an operation before its context is made. */
interface Asked {
  readonly caller: Caller;
  readonly transport?: 'websocket';
}

/** The context of an operation, with who asks for it. */
export type Operation = GraphContext & Asked;

interface Refused {
  readonly errors: readonly GraphQLError[];
}

/** `settle` pays what the operation has cost so far. */
interface Admission {
  readonly isMutation: boolean;
  readonly settle: () => void;
}

/** An operation with all that it runs with. */
export interface OperationArgs extends ExecutionArgs {
  readonly document: PreparedDocument;
  readonly contextValue: Operation;
}

/** The arguments of an operation from Yoga or a socket. Its context is ours: Envelop passes it through unchanged. */
export function toOperationArgs(args: ExecutionArgs): OperationArgs {
  return {
    ...args,
    document: requirePrepared(args.document),
    contextValue: args.contextValue as Operation,
  };
}

/**
 * The guard of every operation over HTTP, SSE and WebSocket: lets it in, or tells why not. It answers and never throws: a
 * throw would close a socket with 4500.
 */
export async function admit(
  { listed, rateLimits, mask }: Options,
  request: OperationArgs,
  dependencies?: Dependencies,
): Promise<Refused | Admission> {
  const operation = getOperationAST(request.document, request.operationName);
  // Which operation is meant is for the executor to say; it runs none.
  if (!operation) return { settle: () => {}, isMutation: false };
  const measured = measureWithin(request, operation);
  if ('errors' in measured) return measured;
  const { caller, upstreamTotals, work } = request.contextValue;
  try {
    const isListed = listed.check(caller, request.document.listing);
    if (!isListed) dependencies?.addReport('unlisted', listed.countUnlisted);
    const deposit = Math.min(Math.floor(measured.complexity / upstreamCallCost), maxDeposit);
    const charge = await rateLimits.pay(caller, deposit);
    const isMutation = operation.operation === OperationTypeNode.MUTATION;
    const settle = () => charge.settle(upstreamTotals().calls + Math.floor(work.weight / weightPerPoint));
    return { isMutation, settle };
  } catch (error) {
    return { errors: [mask(error)] };
  }
}

/** `leave` gives the place back; a second call does nothing. */
export interface StreamAdmission extends Admission {
  readonly leave: () => void;
}

/**
 * Lets a subscription begin, or tells why not. A stream over SSE is a connection of its own; a socket has been counted
 * when it was opened.
 */
export async function admitStream(
  options: Options,
  request: OperationArgs,
): Promise<Refused | StreamAdmission> {
  const admission = await admit(options, request);
  if ('errors' in admission) return admission;
  const { caller, transport, over } = request.contextValue;
  if (transport === 'websocket') return { ...admission, leave: stay };
  try {
    const leave = options.rateLimits.connect(caller);
    over.addEventListener('abort', leave, { once: true });
    return { ...admission, leave };
  } catch (error) {
    return { errors: [options.mask(error)] };
  }
}

function stay(): void {}

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

/** Arguments whose variables do not fit are found while measuring; thrown from here they would close a socket. */
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
