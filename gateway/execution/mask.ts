import { randomUUID } from 'node:crypto';
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Log } from '../log.ts';
import { currentRequest } from '../telemetry/request.ts';

/**
 * The HTTP status of an error that ends a whole request before execution; field errors have status 200. With `spec`,
 * clients that accept only application/json get 200, as GraphQL over HTTP requires.
 */
const httpOfCode: Partial<Record<ErrorCode, HttpExtension>> = {
  BAD_REQUEST: { status: 400 },
  NOT_ACCEPTABLE: { status: 406 },
  GRAPHQL_PARSE_FAILED: { status: 400, spec: true },
  GRAPHQL_VALIDATION_FAILED: { status: 400, spec: true },
  QUERY_TOO_COSTLY: { status: 400, spec: true },
  BAD_USER_INPUT: { status: 400, spec: true },
  OPERATION_NOT_LISTED: { status: 403 },
  PERSISTED_QUERY_NOT_FOUND: { status: 404 },
  PERSISTED_QUERY_NOT_SUPPORTED: { status: 404 },
  RATE_LIMITED: { status: 429 },
  UNAUTHENTICATED: { status: 401 },
};

/** Turns an error into one that a client may read. A masked error is returned unchanged. */
export type Mask = (error: unknown) => GraphQLError;

/**
 * A GatewayError is shown with its code and message. GraphQL's own errors get a code of the gateway. Any other error is
 * masked as INTERNAL and logged once under the same requestId.
 */
export function createMask(log: Log): Mask {
  const done = new WeakSet<GraphQLError>();
  const maskOne = (error: GraphQLError): GraphQLError => {
    const cause = rootCause(error);
    if (cause instanceof GatewayError) return describeGatewayError(cause, error);
    if (cause === undefined) return describeGraphQLError(error);
    const requestId = currentRequest()?.id ?? randomUUID();
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

/** The thrown value if it is an error, otherwise a new error. */
export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('A value that is no error was thrown.');
}

/**
 * The error that a resolver threw, under any number of layers; undefined for GraphQL's own. The executor wraps errors,
 * not always in GraphQL's class, so every layer is examined.
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

/** The response to a GatewayError, inside or outside a GraphQL operation. */
export function describeGatewayError(error: GatewayError, at?: GraphQLError): GraphQLError {
  const { code, message, reason, retryAfterMs, mayBeDone } = error;
  const retryAfterSeconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const sentence = mayBeDone === undefined ? message : `${message} ${outcomes[`${mayBeDone}`]}`;
  const extensions = {
    code,
    ...(reason === undefined ? {} : { serviceMessage: reason }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(mayBeDone === undefined ? {} : { mayHaveBeenDone: mayBeDone }),
  };
  return rebuild(at, sentence, extensions, at?.path ? undefined : describeHttp(code, retryAfterSeconds));
}

/** The error in HTTP: the status of the code, and `Retry-After`. */
function describeHttp(code: ErrorCode, retryAfterSeconds: number | undefined): HttpExtension | undefined {
  const usual = httpOfCode[code];
  if (usual === undefined || retryAfterSeconds === undefined) return usual;
  return { ...usual, headers: { 'retry-after': String(retryAfterSeconds) } };
}

/** Errors of mutations say whether the write may have been done. */
const outcomes = { true: 'It may have been done all the same.', false: 'Nothing was done.' };

/**
 * The masked answer to a mutation, whose errors say `mayHaveBeenDone` where they hide a result: where a field of the
 * result failed that cannot be null, and where the gateway failed.
 */
export function markUnknownOutcomes(answer: ExecutionResult): ExecutionResult {
  const { data, errors } = answer;
  if (!data || errors === undefined) return answer;
  const marked = errors.map((error) => {
    const { path = [], extensions, message, locations } = error;
    const [field] = path;
    const isHidden = field !== undefined && (data[field] ?? null) === null;
    const isUnknown = path.length > 1 || extensions.code === 'INTERNAL';
    if (!isHidden || !isUnknown || 'mayHaveBeenDone' in extensions) return error;
    return createResponseError({
      message: `${message} ${outcomes.true}`,
      locations,
      path,
      extensions: { ...extensions, mayHaveBeenDone: true },
    });
  });
  return { ...answer, errors: marked };
}

/** GraphQL's own errors are shown with their message. Their other content, such as a malformed body, is dropped. */
function describeGraphQLError(error: GraphQLError): GraphQLError {
  if (isOfOutput(error)) return rebuild(error, unfitting, { code: 'UPSTREAM_UNREADABLE' });
  return rebuild(error, error.message, { code: readCode(error) }, readHttp(error));
}

const unfitting = 'The service gave a value that this field cannot hold.';

/**
 * Whether the error is about a value of an answer that does not fit the type of its field. GraphQL adds the nodes to such
 * an error later, so the original error has none; its errors about arguments have nodes from the start.
 */
function isOfOutput({ path, originalError }: GraphQLError): boolean {
  return path !== undefined && originalError instanceof GraphQLError && originalError.nodes === undefined;
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
  // GraphQL's own errors without a code: variables that do not fit, and arguments that a scalar refuses.
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

/** The HTTP status and headers for a masked error; empty for most errors. */
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
  // Yoga marks its own faults as `spec` too. Only errors of parsing and validation are, so these follow the table
  // alone.
  const answered = usual?.spec ? usual : (http ?? usual);
  return createResponseError({
    message,
    locations: at && locationsOf(at),
    path: at?.path,
    extensions: { ...extensions, ...(answered === undefined ? {} : { http: answered }) },
  });
}

/** The same error for a stream over a socket or SSE, without HTTP's status, which has no meaning there. */
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
