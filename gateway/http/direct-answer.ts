import { type ExecutionResult, type GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import type { Caller } from '../auth/rights.ts';
import type { DocumentCache } from '../execution/document/prepared-document.ts';
import { describeAnswer, formatForStream, type Mask } from '../execution/mask.ts';
import type { RunOperation } from '../execution/run-operation.ts';
import type { Dependencies } from '../service/trace.ts';
import { type MediaType, type PlainParams, type PlainRequest, readParams } from './direct-request.ts';
import type { RawHeaders } from './headers.ts';
import type { CreateContext } from './yoga.ts';

/** An ordinary request of a caller who has been let in: all that its answer depends on, and its exact bytes. */
export interface PlainAsking {
  readonly head: PlainRequest;
  readonly caller: Caller;
  readonly body: Buffer;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  /** Notes what the answer depends on; left out where it is for this request alone. */
  readonly dependencies?: Dependencies | undefined;
}

/** A whole answer, but for the headers that every answer has (edge-headers.ts). */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: RawHeaders;
  readonly body: Buffer;
}

/** Answers a query or mutation; null for what must be answered by Yoga's own handler: streams, and what is no such request. */
export type AnswerPlainly = (asking: PlainAsking) => Promise<PlainAnswer | null>;

export interface PlainAnswerOptions {
  readonly schema: GraphQLSchema;
  readonly documents: DocumentCache;
  readonly createContext: CreateContext;
  readonly runOperation: RunOperation;
  readonly mask: Mask;
}

/** Does what Yoga's handler does, in the same order and with the same parts, and without its Request and Response. */
export function createPlainAnswer(options: PlainAnswerOptions): AnswerPlainly {
  return async (asking) => {
    const params = readParams(asking.body);
    if (params === null) return null;
    const result = await run(options, asking, params);
    if (result === null) return null;
    if (result.errors !== undefined) asking.dependencies?.forbidStoring();
    return toAnswer(result, asking.head.mediaType);
  };
}

/** Null for streams, and where no one operation is meant: Yoga says what it makes of that. */
function run(
  { schema, documents, createContext, runOperation, mask }: PlainAnswerOptions,
  { head, caller, left, dependencies }: PlainAsking,
  { query, operationName, variables: variableValues }: PlainParams,
): Promise<ExecutionResult> | ExecutionResult | null {
  try {
    const document = documents.prepare(query, caller);
    const operation = getOperationAST(document, operationName);
    if (!operation || operation.operation === 'subscription') return null;
    const errors = documents.validate(document, caller);
    if (errors.length > 0) return { errors };
    const isTraced = head.trace === 'upstream';
    if (dependencies !== undefined) dependencies.isQuery = operation.operation === 'query';
    const contextValue = createContext({
      caller,
      origin: head.origin,
      left,
      over: left,
      isTraced,
      dependencies,
    });
    return runOperation({ schema, document, contextValue, variableValues, operationName }, dependencies);
  } catch (error) {
    return { errors: [mask(error)] };
  }
}

const headersOf: Readonly<Record<MediaType, RawHeaders>> = {
  'application/json': describe('application/json'),
  'application/graphql-response+json': describe('application/graphql-response+json'),
};

function describe(mediaType: MediaType): RawHeaders {
  return ['content-type', `${mediaType}; charset=utf-8`, 'cache-control', 'no-store'];
}

/** The headers and the bytes of a result, as Yoga's processRegularResult makes them. */
function toAnswer(result: ExecutionResult, mediaType: MediaType): PlainAnswer {
  const headers = headersOf[mediaType];
  const { errors } = result;
  if (errors === undefined) return { status: 200, headers, body: toBytes(result) };
  const { status, more } = readHttp(errors, mediaType);
  const told = { ...result, errors: errors.map(formatForStream) };
  return { status, headers: [...headers, ...more], body: toBytes(told) };
}

function toBytes(result: object): Buffer {
  return Buffer.from(JSON.stringify(result));
}

/**
 * The highest status that an error asks for, and the headers of all. Faults of the document (`spec`) are 200 for who takes
 * only application/json, as GraphQL over HTTP asks.
 */
function readHttp(errors: readonly GraphQLError[], mediaType: MediaType) {
  const asked = errors.map(describeAnswer);
  const statuses = asked
    .filter(({ spec }) => !(spec && mediaType === 'application/json'))
    .map(({ status = 0 }) => status);
  const more = Object.entries(Object.assign({}, ...asked.map(({ headers }) => headers)));
  return { status: Math.max(0, ...statuses) || 200, more: more.flat().map(String) };
}

/** A short answer that was made as a Response. */
export async function readAnswer(response: Response): Promise<PlainAnswer> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  return { status, headers: [...headers].flat(), body };
}
