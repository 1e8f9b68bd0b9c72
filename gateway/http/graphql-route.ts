import { ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import type { GraphQLFormattedError } from 'graphql';
import { type Authenticate, authenticateRequest, findCaller } from '../auth/authenticate.ts';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { ActiveCredentials } from '../auth/revocations.ts';
import type { Caller } from '../auth/rights.ts';
import { type ErrorCode, type GatewayError, isGatewayError } from '../errors.ts';
import { describeGatewayError } from '../execution/mask.ts';
import { streamTokenHeader } from './direct-request.ts';
import { acceptsAnswers, chooseRefusalType, chooseTransport, type MediaType } from './negotiation.ts';
import { type IsOwnHost, refuseHost } from './pages/demo.ts';
import type { GraphiQLPages } from './pages/graphiql.ts';
import { createUploadGate, isUpload } from './uploads.ts';
import { type GraphQLServer, traceHeader } from './yoga.ts';

export interface GraphQLRouteOptions {
  readonly graphql: GraphQLServer;
  /** The same graph for requests with files, which may be larger. */
  readonly uploads: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly endOf: ActiveCredentials['endOf'];
  readonly rateLimits: RateLimits;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  /** Null = there is no GraphiQL. */
  readonly graphiql: GraphiQLPages | null;
  /** GraphiQL may contain a key, so it is served only at the gateway's own hosts. */
  readonly isOwnHost: IsOwnHost;
}

/** GraphQL over HTTP, streams included: authenticates the caller, charges the request, and selects the server that answers it. */
export function createGraphQLRoute(
  options: GraphQLRouteOptions,
): (request: Request, connection: unknown) => Promise<Response> {
  const beginUpload = createUploadGate();
  return (request, connection) => {
    const caller = findCaller(connection);
    return answerGraphQL({ ...options, beginUpload, caller, outgoing: findOutgoing(connection) }, request);
  };
}

/** The answer of node:http behind a connection of Hono's; undefined where there is none. */
function findOutgoing(connection: unknown): ServerResponse | undefined {
  if (typeof connection !== 'object' || connection === null || !('outgoing' in connection)) return undefined;
  return connection.outgoing instanceof ServerResponse ? connection.outgoing : undefined;
}

interface Route extends GraphQLRouteOptions {
  readonly beginUpload: ReturnType<typeof createUploadGate>;
  /** Null if the caller is not known yet. */
  readonly caller: Caller | null;
  readonly outgoing: ServerResponse | undefined;
}

async function answerGraphQL(options: Route, request: Request): Promise<Response> {
  if (options.graphiql !== null && asksForGraphiQL(request)) {
    return options.isOwnHost(request.url) ? await options.graphiql.answerPage(request) : refuseHost();
  }
  const mediaType = chooseRefusalType(request.headers.get('accept'));
  try {
    const origin = readOrigin(request);
    const authorization = request.headers.get('authorization');
    const caller = options.caller ?? (await authenticateRequest(options, { authorization, origin }));
    const fault = findFault(request);
    if (fault !== null) return refuse(describeFault(fault), mediaType, fault);
    const hasFiles = isUpload(request);
    if (!hasFiles && request.method === 'POST') normalizeContentType(request);
    const over = AbortSignal.any([request.signal, options.stopping, options.endOf(caller)]);
    const endUpload = hasFiles ? options.beginUpload(caller) : () => {};
    try {
      const server = hasFiles ? options.uploads : options.graphql;
      const isTraced = request.headers.get(traceHeader) === 'upstream';
      const lastEventId = request.headers.get('last-event-id') || null;
      const transport = chooseTransport(request.headers.get('accept'));
      const { outgoing } = options;
      const asking = {
        caller,
        origin,
        left: request.signal,
        over,
        isTraced,
        lastEventId,
        transport,
        outgoing,
      };
      const response = await server.fetch(request, asking);
      if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
      // Yoga sets this header on streams even if the client asked to close the connection. The server decides.
      if (response.headers.get('connection') === 'keep-alive') response.headers.delete('connection');
      return response;
    } finally {
      endUpload();
    }
  } catch (error) {
    return answerRefusal(error, mediaType);
  }
}

const hostOfThisMachine = /^(?:localhost|127\.0\.0\.1|\[::1\])(?=:|$)/;

/**
 * The origin of the page that asks; null outside a browser. With a GET to its own origin a browser sends no `Origin`, but
 * `Sec-Fetch-Site`, which no page can set, and only over https and to this machine.
 */
function readOrigin({ headers, url }: Request): string | null {
  const origin = headers.get('origin');
  if (origin !== null || headers.get('sec-fetch-site') !== 'same-origin') return origin;
  const { host } = new URL(url);
  return `${hostOfThisMachine.test(host) ? 'http' : 'https'}://${host}`;
}

interface Fault extends Refusal {
  /** Default: BAD_REQUEST. */
  readonly code?: ErrorCode;
  readonly message: string;
}

/** The fault for which a request is refused before Yoga reads it; null if there is none. */
function findFault(request: Request): Fault | null {
  if (isForSingleConnection(request)) {
    const message =
      'The single connection mode of graphql-sse is not supported. Use distinct connections: GET or POST.';
    return { status: 405, message, headers: { allow: 'GET, POST' } };
  }
  if (!isUtf8Encoded(request.url)) return { status: 400, message: 'Send the parameters in UTF-8.' };
  const malformed = findMalformedParameter(request);
  if (malformed !== null) return { status: 400, message: `The parameter ${malformed} is not JSON.` };
  const unreadable = request.method === 'POST' ? findUnreadableBody(request) : null;
  if (unreadable !== null) return unreadable;
  // Otherwise Yoga would execute the operation first.
  if (!acceptsAnswers(request.headers.get('accept'))) {
    const message =
      'Answers are application/json, application/graphql-response+json, text/event-stream or multipart/mixed, in UTF-8, and Accept allows none of them.';
    return { status: 406, code: 'NOT_ACCEPTABLE', message };
  }
  return null;
}

/** In this mode a client reserves a stream (PUT), and sends its operations with the token of the stream. */
function isForSingleConnection({ method, headers }: Request): boolean {
  return method === 'PUT' || headers.has(streamTokenHeader);
}

function describeFault({ message, code = 'BAD_REQUEST' }: Fault): GraphQLFormattedError {
  return { message, extensions: { code } };
}

/** Yoga's own parser throws on these, and the error would look like a fault of the gateway. An empty one counts as left out. */
function findMalformedParameter(request: Request): string | null {
  if (request.method !== 'GET') return null;
  const { searchParams } = new URL(request.url);
  return ['variables', 'extensions'].find((name) => !isJson(searchParams.get(name) || 'null')) ?? null;
}

/** Whether the percent-encoded bytes are UTF-8. URL's own parser reads U+FFFD for all others. */
function isUtf8Encoded(url: string): boolean {
  try {
    for (const [bytes] of url.matchAll(/(?:%[\da-f]{2})+/gi)) decodeURIComponent(bytes);
    return true;
  } catch {
    return false;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Bodies are JSON in UTF-8 or uploads, and are not compressed. Yoga would read all others as UTF-8. */
function findUnreadableBody(request: Request): Fault | null {
  // Some clients name the charset there.
  if (!/^(identity|utf-8)?$/i.test(request.headers.get('content-encoding')?.trim() ?? ''))
    return { status: 415, message: 'Send it uncompressed.', headers: { 'accept-encoding': 'identity' } };
  if (isUpload(request)) return null;
  const type = readContentType(request);
  // Yoga also accepts forms and plain text, which a page of any site can send without a preflight request.
  if (type === null || !/^application\/(graphql\+)?json$/.test(type.essence))
    return { status: 415, message: 'Send it as application/json.' };
  if (!/^'?(utf-?8|us-ascii)'?$/i.test(type.params.get('charset') ?? 'utf-8'))
    return { status: 415, message: 'Send it in UTF-8.' };
  return null;
}

/** In the one form that Yoga knows: no capital letters, no space before a parameter. */
function normalizeContentType(request: Request): void {
  const type = readContentType(request);
  if (type !== null) request.headers.set('content-type', type.toString());
}

/** Null if it is missing or not a media type. */
function readContentType({ headers }: Request): MIMEType | null {
  try {
    return new MIMEType(headers.get('content-type') ?? '');
  } catch {
    return null;
  }
}

/** Whether a person opens a page in a browser. GraphiQL itself sends no such request. */
function asksForGraphiQL(request: Request): boolean {
  const isPage =
    /^(GET|HEAD)$/.test(request.method) && (request.headers.get('accept') ?? '').includes('text/html');
  return isPage && !request.headers.has('authorization');
}

/**
 * The response to a request that is refused before it is read, for the direct path and for Yoga.
 * @throws the error itself if it is not such a refusal
 */
export function answerRefusal(error: unknown, mediaType: MediaType): Response {
  if (!isGatewayError(error, 'UNAUTHENTICATED', 'RATE_LIMITED', 'FORBIDDEN', 'UPSTREAM_RATE_LIMITED'))
    throw error;
  const { message, extensions } = describeGatewayError(error);
  const { http: _http, ...shown } = extensions;
  return refuse(
    { message, extensions: shown },
    mediaType,
    describeRefusal(error, extensions.retryAfterSeconds),
  );
}

function describeRefusal({ code }: GatewayError, retryAfterSeconds: unknown): Refusal {
  if (code === 'UNAUTHENTICATED') return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
  const headers = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return { status: code === 'FORBIDDEN' ? 403 : 429, headers };
}

interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** With `application/graphql-response+json` clients read the body as a GraphQL result, whatever the status is. */
function refuse(error: GraphQLFormattedError, mediaType: MediaType, { status, headers }: Refusal): Response {
  return new Response(JSON.stringify({ errors: [error] }), {
    status,
    headers: { ...headers, 'content-type': `${mediaType}; charset=utf-8`, 'cache-control': 'no-store' },
  });
}
