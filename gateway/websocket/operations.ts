import { type ExecutionArgs, GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
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
  /** The number of operations of the socket, this one included. */
  readonly underWay: number;
}

/** The arguments of an operation, or the errors that refuse it. */
export async function prepareOperation(
  { graphql, documents, trustedDocuments, rateLimits, mask }: OperationsOptions,
  payload: SubscribePayload,
  { session, isTraced, underWay }: Subscribing,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  const { caller, origin, left } = session;
  if (caller === null) return [new GraphQLError('Not authenticated.')];
  const refusal = await findRefusal(rateLimits, caller, underWay);
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
    return {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName,
      variableValues: payload.variables,
      contextValue: await enveloped.contextFactory(),
      rootValue: enveloped,
    };
  } catch (error) {
    return [mask(error)];
  }
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
