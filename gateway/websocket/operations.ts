import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import type { Context, SubscribePayload } from 'graphql-ws';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { Caller } from '../auth/rights.ts';
import { type GatewayError, isGatewayError } from '../errors.ts';
import type { DocumentCache } from '../execution/document/prepared-document.ts';
import { findDocument, type TrustedDocuments } from '../execution/document/trusted-documents.ts';
import type { Mask } from '../execution/mask.ts';
import type { GraphQLServer } from '../http/yoga.ts';

export interface OperationsOptions {
  readonly graphql: GraphQLServer;
  readonly documents: DocumentCache;
  readonly mask: Mask;
  readonly rateLimits: RateLimits;
  readonly trustedDocuments: TrustedDocuments;
}

/** The refusal of one more operation, decided before the operation is read; null if it may run. */
async function findRefusal(
  rateLimits: RateLimits,
  caller: Caller,
  underWay: number,
): Promise<GatewayError | null> {
  try {
    rateLimits.checkOperations(caller, underWay);
    await rateLimits.pay(caller, 1);
    return null;
  } catch (error) {
    if (isGatewayError(error, 'RATE_LIMITED')) return error;
    throw error;
  }
}

/** The socket that an operation came over. */
interface Asker {
  /** Null until it is authenticated. */
  readonly caller: Caller | null;
  readonly origin: string | null;
  /** Aborts when it is closed. */
  readonly left: AbortController;
}

interface Subscribing {
  readonly session: Asker;
  readonly isTraced: boolean;
  readonly id: string;
  /** With the operations of the socket by their ids, until they have ended or their client has completed them. */
  readonly context: Pick<Context, 'subscriptions'>;
}

/** The arguments of an operation, or the errors that refuse it. */
export async function prepareOperation(
  { graphql, documents, trustedDocuments, rateLimits, mask }: OperationsOptions,
  payload: SubscribePayload,
  { session, isTraced, id, context }: Subscribing,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const { caller, origin, left } = session;
  if (caller === null) return [new GraphQLError('Not authenticated.')];
  const refusal = await findRefusal(rateLimits, caller, Object.keys(context.subscriptions).length);
  if (refusal !== null) return [mask(refusal)];
  const { signal } = left;
  const enveloped = graphql.getEnveloped({
    caller,
    origin,
    left: signal,
    over: signal,
    isTraced,
    transport: 'websocket',
  });
  try {
    const text = findDocument(trustedDocuments, payload) ?? payload.query;
    await documents.waitForTurn(text);
    const document = enveloped.parse(text);
    const errors = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return errors.map(mask);
    const { operationName, variables: variableValues } = payload;
    const args = { schema: enveloped.schema, document, operationName, variableValues, rootValue: enveloped };
    // A signal of its own would cost a waiting stream memory, and graphql-ws ends streams by itself.
    if (getOperationAST(document, operationName)?.operation === 'subscription')
      return { ...args, contextValue: await enveloped.contextFactory() };
    const running = new RunningOperation();
    const contextValue = await enveloped.contextFactory({ left: running.left, over: running.left });
    // graphql-ws sends the error of a completed operation to nobody.
    if (!(id in context.subscriptions)) return [new GraphQLError('The client has completed the operation.')];
    context.subscriptions[id] = running;
    return { ...args, contextValue };
  } catch (error) {
    return [mask(error)];
  }
}

/**
 * A query or mutation in the form of a stream: graphql-ws calls `return` when its client has completed it, or its socket has
 * closed. Otherwise it would run on, and count for no limit.
 */
class RunningOperation implements AsyncIterable<never> {
  readonly #left = new AbortController();

  /** Aborts when nobody waits for the result any more. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  async return(): Promise<void> {
    this.#left.abort();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<never> {}
}

type Enveloped = ReturnType<GraphQLServer['getEnveloped']>;

/**
 * The enveloped functions of an operation are passed as its root value. They are removed from it here, because they are
 * needed once and a subscription's arguments live as long as its socket.
 */
export function takeEnveloped(args: ExecutionArgs): Enveloped {
  // Set by `prepareOperation` for every operation; nothing else makes execution arguments here.
  const enveloped = args.rootValue as Enveloped;
  args.rootValue = undefined;
  return enveloped;
}
