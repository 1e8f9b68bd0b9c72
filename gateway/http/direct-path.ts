import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ExecutionResult, type GraphQLError, type GraphQLSchema, getOperationAST } from 'graphql';
import { Hono } from 'hono';
import { authenticateRequest, type RequestAuthentication, storeCaller } from '../auth/authenticate.ts';
import type { Caller } from '../auth/rights.ts';
import type { DocumentCache } from '../execution/document/prepared-document.ts';
import { describeAnswer, formatForStream, type Mask } from '../execution/mask.ts';
import type { RunOperation } from '../execution/run-operation.ts';
import type { Log } from '../log.ts';
import { encodeAlone } from '../parse/bytes.ts';
import type { Dependencies } from '../service/trace.ts';
import { currentRequest, requestIdHeader } from '../telemetry/request.ts';
import { AnswerCompression } from './compressed-answers.ts';
import {
  type DirectAnswer,
  type DirectHead,
  type RawHeaders,
  readBody,
  readHead,
  readParams,
} from './direct-request.ts';
import { answerRefusal } from './graphql-route.ts';
import type { MediaType } from './negotiation.ts';
import { allowOrigins, secure } from './routes.ts';
import type { CreateContext } from './yoga.ts';

/** A request of an authenticated caller, with everything that its answer depends on. */
export interface DirectRequest {
  readonly head: DirectHead;
  readonly caller: Caller;
  readonly body: Buffer;
  /** When its body had come, as `performance.now()`. */
  readonly startedAt: number;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  /** Records the reads of the answer; left out if the answer is for this request only. */
  readonly dependencies?: Dependencies | undefined;
}

/** Answers a query or mutation; null for streams and for requests that are not valid, which Yoga answers. */
export type AnswerDirectly = (request: DirectRequest) => Promise<DirectAnswer | null>;

export interface DirectPathOptions extends RequestAuthentication {
  readonly answerDirectly: AnswerDirectly;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly log: Log;
}

interface Path extends DirectPathOptions {
  readonly edgeHeaders: (origin: string | null) => Promise<RawHeaders>;
  readonly compression: AnswerCompression;
  readonly otherwise: RequestListener;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: DirectHead;
}

/**
 * Answers ordinary JSON queries and mutations straight from node:http, because Yoga's Request and Response cost more
 * than the rest of a small query. Unusual or faulty requests and streams are passed to `otherwise`, unread or with
 * their body.
 */
export function createDirectPath(options: DirectPathOptions, otherwise: RequestListener): RequestListener {
  const edgeHeaders = createEdgeHeaders(options.isAllowedOrigin);
  const path: Path = { ...options, edgeHeaders, compression: new AnswerCompression(), otherwise };
  return (request, response) => {
    const head = readHead(request);
    if (head === null) return otherwise(request, response);
    const exchange = { request, response, head };
    answer(path, exchange).catch((error: unknown) => fail(path, exchange, error));
  };
}

/** One layer only, because each further layer costs every request a promise. */
async function answer(path: Path, exchange: Exchange): Promise<void> {
  const { request, response, head } = exchange;
  let caller: Caller;
  try {
    caller = await authenticateRequest(path, head);
  } catch (error) {
    const refusal = await readAnswer(answerRefusal(error, head.mediaType));
    // Written at once, as Yoga does: a later answer would be lost if malformed bytes follow this request.
    return write(response, refusal, await path.edgeHeaders(head.origin));
  }
  const body = await readBody(request);
  const startedAt = performance.now();
  const answered = await path.answerDirectly({ head, caller, body, startedAt, left: signalOf(response) });
  if (answered !== null) return await send(path, exchange, answered);
  // The caller is authenticated and charged. @hono/node-server takes the body from `rawBody`.
  storeCaller(request, caller);
  path.otherwise(Object.assign(request, { rawBody: body }), response);
}

/** Aborts when the client leaves before its answer is sent. */
function signalOf(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) left.abort('Client connection prematurely closed.');
  });
  return left.signal;
}

async function readAnswer(response: Response): Promise<DirectAnswer> {
  const { status, headers } = response;
  const body = Buffer.from(await response.arrayBuffer());
  return { status, headers: [...headers].flat(), body, isQuery: false };
}

/** Node writes a short text together with its head, but bytes separately. A long text would be copied once more. */
const shortBytes = 4096;

/**
 * Answers are written after all bytes that have arrived by now are parsed, so that consecutive answers wake the client
 * once. With this and `shortBytes`, 14 % more small answers are sent a second (wrk, 32 connections, where writing is
 * half of the work).
 */
async function send(path: Path, exchange: Exchange, answered: DirectAnswer): Promise<void> {
  const edgeHeaders = await path.edgeHeaders(exchange.head.origin);
  const encoded = path.compression.encode(answered, exchange.head.acceptEncoding);
  const sent = encoded instanceof Promise ? await encoded : encoded;
  setImmediate(() => {
    try {
      write(exchange.response, sent, edgeHeaders);
    } catch (error) {
      fail(path, exchange, error);
    }
  });
}

function write(response: ServerResponse, { status, headers, body }: DirectAnswer, more: RawHeaders): void {
  const id = currentRequest()?.id ?? '';
  response.writeHead(status, [
    ...headers,
    'content-length',
    String(body.length),
    requestIdHeader,
    id,
    ...more,
  ]);
  if (body.length > shortBytes) response.end(body);
  else response.end(body.toString('latin1'), 'latin1');
}

/** Does nothing if the client has left. */
function fail({ log }: Path, { request, response }: Exchange, error: unknown): void {
  if (request.destroyed || response.destroyed || response.headersSent) return void response.destroy();
  log.error('request.failed', { route: '/graphql', error });
  const body = JSON.stringify({ error: { code: 'INTERNAL', message: 'The gateway failed.' } });
  const id = currentRequest()?.id ?? '';
  response.writeHead(500, { 'content-type': 'application/json', [requestIdHeader]: id }).end(body);
}

/** A sandbox allows every port of its machine. */
const maxOrigins = 100;

/**
 * The headers that Hono's middleware adds to an answer of `/graphql`. They are made by the same code, once for each allowed
 * origin and once for all others, so there is no second list to maintain.
 */
function createEdgeHeaders(isAllowedOrigin: (origin: string) => boolean): Path['edgeHeaders'] {
  const app = new Hono().use(secure()).use(allowOrigins(isAllowedOrigin));
  app.all('*', (context) => context.body(null));
  const made = new Map<string | null, Promise<RawHeaders>>();
  const make = async (allowed: string | null): Promise<RawHeaders> => {
    const { headers } = await app.request('/graphql', {
      method: 'POST',
      headers: allowed === null ? {} : { origin: allowed },
    });
    return [...headers].flat();
  };
  return (origin) => {
    const allowed = origin !== null && isAllowedOrigin(origin) ? origin : null;
    const known = made.get(allowed);
    if (known !== undefined) return known;
    const making = make(allowed);
    if (made.size >= maxOrigins) made.clear();
    made.set(allowed, making);
    return making;
  };
}

export interface DirectAnswerOptions {
  readonly schema: GraphQLSchema;
  readonly documents: DocumentCache;
  readonly createContext: CreateContext;
  readonly runOperation: RunOperation;
  readonly mask: Mask;
}

/** Does the same as Yoga's handler, in the same order and with the same parts, without its Request and Response. */
export function createDirectAnswer(options: DirectAnswerOptions): AnswerDirectly {
  return async (request) => {
    const run = runRequest(options, request);
    if (run === null) return null;
    const result = await run.result;
    const { errors = [] } = result;
    if (errors.length > 0) request.dependencies?.forbidStoring();
    // Its limits are the caller's own: others with equal rights who wait for this answer run the operation themselves.
    if (errors.some(({ extensions }) => extensions.code === 'RATE_LIMITED')) request.dependencies?.isolate();
    return { ...toAnswer(result, request.head.mediaType), isQuery: run.isQuery };
  };
}

interface Run extends Pick<DirectAnswer, 'isQuery'> {
  readonly result: Promise<ExecutionResult> | ExecutionResult;
}

/** Null for streams, for faulty requests and when no single operation is requested: Yoga answers these. */
function runRequest(
  { schema, documents, createContext, runOperation, mask }: DirectAnswerOptions,
  { head, caller, body, startedAt, left, dependencies }: DirectRequest,
): Run | null {
  const params = readParams(body);
  if (params === null) return null;
  const { query, operationName, variables: variableValues } = params;
  try {
    const document = documents.prepare(query, caller);
    const operation = getOperationAST(document, operationName);
    if (!operation || operation.operation === 'subscription') return null;
    const errors = documents.validate(document, caller);
    if (errors.length > 0) return { result: { errors }, isQuery: false };
    const isQuery = operation.operation === 'query';
    if (dependencies !== undefined) dependencies.isQuery = isQuery;
    const contextValue = createContext({
      caller,
      origin: head.origin,
      left,
      over: left,
      isTraced: head.trace === 'upstream',
      dependencies,
    });
    const args = { schema, document, contextValue, variableValues, operationName };
    return { result: runOperation(args, { dependencies, startedAt }), isQuery };
  } catch (error) {
    return { result: { errors: [mask(error)] }, isQuery: false };
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
function toAnswer(result: ExecutionResult, mediaType: MediaType): Omit<DirectAnswer, 'isQuery'> {
  const headers = headersOf[mediaType];
  const { errors } = result;
  if (errors === undefined) return { status: 200, headers, body: toBytes(result) };
  const { status, more } = readHttp(errors, mediaType);
  const formatted = { ...result, errors: errors.map(formatForStream) };
  return { status, headers: [...headers, ...more], body: toBytes(formatted) };
}

function toBytes(result: object): Buffer {
  return encodeAlone(JSON.stringify(result));
}

/**
 * The highest status of the errors, and the headers of all. Faults of the document (`spec`) are 200 for clients that accept
 * only application/json, as GraphQL over HTTP asks.
 */
function readHttp(errors: readonly GraphQLError[], mediaType: MediaType) {
  const answers = errors.map(describeAnswer);
  const statuses = answers
    .filter(({ spec }) => !(spec && mediaType === 'application/json'))
    .map(({ status = 0 }) => status);
  const more = Object.entries(Object.assign({}, ...answers.map(({ headers }) => headers)));
  return { status: Math.max(0, ...statuses) || 200, more: more.flat().map(String) };
}
