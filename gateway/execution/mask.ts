import { randomUUID } from 'node:crypto';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';

/**
 * HTTP status of an error that ends a whole request before execution; field errors stay 200. `spec` keeps 200
 * for clients that accept only application/json, as GraphQL over HTTP asks.
 */
const httpOfCode: Partial<Record<ErrorCode, HttpExtension>> = {
  BAD_REQUEST: { status: 400 },
  GRAPHQL_PARSE_FAILED: { status: 400, spec: true },
  GRAPHQL_VALIDATION_FAILED: { status: 400, spec: true },
  QUERY_TOO_COSTLY: { status: 400, spec: true },
  BAD_USER_INPUT: { status: 400, spec: true },
  OPERATION_NOT_LISTED: { status: 403 },
  PERSISTED_QUERY_NOT_FOUND: { status: 404 },
  RATE_LIMITED: { status: 429 },
  UNAUTHENTICATED: { status: 401 },
};

/** Turns an error into what a client may read. One that was masked before stays as it is. */
export type Mask = (error: unknown) => GraphQLError;

/**
 * A GatewayError keeps its code and sentence, GraphQL's own errors get a code of ours, everything else is masked as
 * INTERNAL and logged once under the same requestId.
 */
export function createMask(log: Log): Mask {
  const done = new WeakSet<GraphQLError>();
  const maskOne = (error: GraphQLError): GraphQLError => {
    const cause = rootCause(error);
    if (cause instanceof GatewayError) return describeGatewayError(cause, error);
    if (cause === undefined) return describeGraphQLError(error);
    const requestId = randomUUID();
    log.error('graphql.failed', { requestId, error: cause });
    return rebuild(error, 'The gateway failed.', { code: 'INTERNAL', requestId });
  };
  return (error) => {
    const known =
      error instanceof GraphQLError ? error : new GraphQLError('', { originalError: toError(error) });
    if (done.has(known)) return known;
    const masked = maskOne(known);
    done.add(masked);
    return masked;
  };
}

/** The thrown value if it is an error, or one in its place. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A value that is no error was thrown.');
}

/**
 * The error a resolver threw, under however many layers; undefined for GraphQL's own. The executor wraps in
 * errors that are not always of GraphQL's class, so every layer is looked at.
 */
function rootCause(error: GraphQLError): Error | undefined {
  let root: Error | undefined;
  for (let layer = innerError(error); layer !== undefined; layer = innerError(layer)) {
    if (layer instanceof GatewayError) return layer;
    if (!(layer instanceof GraphQLError)) root = layer;
  }
  return root;
}

function innerError(error: Error): Error | undefined {
  const inner = 'originalError' in error ? (error.originalError ?? error.cause) : error.cause;
  return inner instanceof Error ? inner : undefined;
}

/** The answer to an error of ours, inside or outside a GraphQL operation. */
export function describeGatewayError(error: GatewayError, at?: GraphQLError): GraphQLError {
  const { code, message, retryAfterMs, mayBeDone } = error;
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const sentence = mayBeDone === undefined ? message : `${message} ${outcomes[`${mayBeDone}`]}`;
  const extensions = {
    code,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(mayBeDone === undefined ? {} : { mayHaveBeenDone: mayBeDone }),
  };
  return rebuild(at, sentence, extensions, at?.path ? undefined : describeHttp(code, retryAfterSeconds));
}

/** As HTTP says it: the status of the code, and when to come back. */
function describeHttp(code: ErrorCode, retryAfterSeconds: number | undefined): HttpExtension | undefined {
  const usual = httpOfCode[code];
  if (usual === undefined || retryAfterSeconds === undefined) return usual;
  return { ...usual, headers: { 'retry-after': String(retryAfterSeconds) } };
}

/** Errors of mutations say whether the write may have been done. */
const outcomes = { true: 'It may have been done all the same.', false: 'Nothing was done.' };

/** GraphQL's own errors keep their sentence; what they carry besides (a malformed body, say) is dropped. */
function describeGraphQLError(error: GraphQLError): GraphQLError {
  return rebuild(error, error.message, { code: readCode(error) }, readHttp(error));
}

/** Codes of errors from preparing and measuring a document. */
const ownCodes: readonly ErrorCode[] = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'QUERY_TOO_COSTLY',
  'BAD_USER_INPUT',
];

function readCode(error: GraphQLError): ErrorCode {
  const code = ownCodes.find((own) => own === error.extensions.code);
  if (code !== undefined) return code;
  if (readHttp(error)?.status !== undefined) return 'BAD_REQUEST';
  // Variables that do not fit, and arguments a scalar refuses: errors of GraphQL itself without a code.
  return 'BAD_USER_INPUT';
}

interface HttpExtension {
  readonly status?: number;
  readonly spec?: boolean;
  readonly headers?: Record<string, string>;
}

function readHttp(error: GraphQLError): HttpExtension | undefined {
  const { http } = error.extensions;
  if (typeof http !== 'object' || http === null) return undefined;
  return {
    ...('status' in http && typeof http.status === 'number' ? { status: http.status } : {}),
    ...('headers' in http && typeof http.headers === 'object' ? { headers: { ...http.headers } } : {}),
  };
}

/** What a masked error asks of HTTP; nothing, for most. */
export function describeAnswer(error: GraphQLError): HttpExtension {
  const { http } = error.extensions;
  const spec = typeof http === 'object' && http !== null && 'spec' in http && http.spec === true;
  return { ...readHttp(error), spec };
}

type Extensions = Readonly<Record<string, unknown>> & { readonly code: ErrorCode };

function rebuild(
  at: GraphQLError | undefined,
  message: string,
  extensions: Extensions,
  http?: HttpExtension,
): GraphQLError {
  const usual = at?.path ? undefined : httpOfCode[extensions.code];
  // Yoga calls its own faults `spec` as well; only parsing and validation are, so those go by the table alone.
  const answered = usual?.spec ? usual : (http ?? usual);
  return createResponseError({
    message,
    locations: at && locationsOf(at),
    path: at?.path,
    extensions: { ...extensions, ...(answered === undefined ? {} : { http: answered }) },
  });
}

/** The same error as a stream sends it, over a socket or SSE: HTTP's status means nothing there. */
export function formatForStream(error: GraphQLError | GraphQLFormattedError): GraphQLFormattedError {
  const formatted = error instanceof GraphQLError ? error.toJSON() : error;
  const { http: _http, ...extensions } = formatted.extensions ?? {};
  return { ...formatted, extensions: { code: 'BAD_REQUEST', ...extensions } };
}

export interface ResponseErrorParts {
  readonly message: string;
  readonly locations?: GraphQLError['locations'];
  readonly path?: GraphQLError['path'];
  readonly extensions: GraphQLError['extensions'];
}

/**
 * Makes an error in the form that clients see. It avoids GraphQLError's constructor, which captures a stack and counts
 * lines: an answer may have a thousand errors, and the executor has made each of them already.
 */
export function createResponseError(parts: ResponseErrorParts): GraphQLError {
  const { message, locations, path, extensions } = parts;
  return Object.assign(Object.create(GraphQLError.prototype), {
    name: 'GraphQLError',
    ...{ message, locations, path, extensions },
  });
}

/** Locations of an error, from the lexer's line numbers; `locations` is not set for nodes of a parsed document (document/prepared-document.ts). */
export function locationsOf({ nodes, locations }: GraphQLError): GraphQLError['locations'] {
  const found = nodes?.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = loc.startToken;
    return [{ line, column }];
  });
  return found === undefined || found.length === 0 ? locations : found;
}
