import type { Authenticate } from '../caller/authenticate.ts';
import type { TokenLives } from '../caller/token-lives.ts';
import { type GatewayError, isGatewayError } from '../errors.ts';
import type { Allowances } from './allowances.ts';
import { type GraphQLServer, traceHeader } from './graphql.ts';
import { describeGatewayError } from './mask.ts';
import { createUploadGate, isUpload } from './uploads.ts';

export interface GraphQLRouteOptions {
  readonly graphql: GraphQLServer;
  /** The same graph for requests with files, which may be larger. */
  readonly uploads: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly endOf: TokenLives['endOf'];
  readonly allowances: Allowances;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly hasGraphiQL: boolean;
}

/** GraphQL over HTTP and SSE, from the request to its answer: who asks, what it costs to ask, and which server answers. */
export function createGraphQLRoute(options: GraphQLRouteOptions): (request: Request) => Promise<Response> {
  const beginUpload = createUploadGate();
  return (request) => answerGraphQL({ ...options, beginUpload }, request);
}

interface Route extends GraphQLRouteOptions {
  readonly beginUpload: ReturnType<typeof createUploadGate>;
}

async function answerGraphQL(options: Route, request: Request): Promise<Response> {
  if (options.hasGraphiQL && asksForGraphiQL(request)) {
    const over = options.stopping;
    const page = await options.graphql.fetch(request, { caller: { kind: 'TEAM' }, left: over, over });
    page.headers.set('content-security-policy', graphiqlPolicy);
    page.headers.set('cache-control', 'no-store');
    return page;
  }
  try {
    const origin = request.headers.get('origin');
    const authorization = request.headers.get('authorization');
    const caller = await options.authenticate({ authorization, origin });
    // Before a byte of it is read: what is malformed costs as much as what is not.
    await options.allowances.pay(caller, 1);
    const malformed = findMalformedParameter(request);
    if (malformed !== null) return refuseUnreadable(400, `The parameter ${malformed} is not JSON.`);
    const hasFiles = isUpload(request);
    if (request.method === 'POST' && !hasFiles && !isJsonType(request))
      return refuseUnreadable(415, 'Send it as application/json.');
    const over = AbortSignal.any([request.signal, options.stopping, options.endOf(caller)]);
    const endUpload = hasFiles ? options.beginUpload(caller) : () => {};
    const end = options.beginOperation();
    try {
      const server = hasFiles ? options.uploads : options.graphql;
      const isTraced = request.headers.get(traceHeader) === 'upstream';
      const lastEventId = request.headers.get('last-event-id') || null;
      const asking = { caller, origin, left: request.signal, over, isTraced, lastEventId };
      const response = await server.fetch(request, asking);
      response.headers.set('cache-control', 'no-store');
      return response;
    } finally {
      end();
      endUpload();
    }
  } catch (error) {
    if (isGatewayError(error, 'UNAUTHENTICATED')) return refuseUnauthenticated(error);
    if (isGatewayError(error, 'RATE_LIMITED', 'FORBIDDEN', 'UPSTREAM_RATE_LIMITED'))
      return refuseEarly(error);
    throw error;
  }
}

/** GraphiQL is one page with everything inside it, and asks this origin only. */
const graphiqlPolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  "style-src 'unsafe-inline'",
  'worker-src blob:',
  'img-src data:',
  'font-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Yoga's own parser throws over these, which would look like a fault of ours. */
function findMalformedParameter(request: Request): string | null {
  if (request.method !== 'GET') return null;
  const { searchParams } = new URL(request.url);
  return ['variables', 'extensions'].find((name) => !isJson(searchParams.get(name) ?? 'null')) ?? null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Yoga reads forms and bare text as well, which a page of any site can send without being asked first. */
function isJsonType(request: Request): boolean {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';');
  return /^application\/(graphql\+)?json$/i.test(type.trim());
}

function refuseUnreadable(status: 400 | 415, message: string): Response {
  return Response.json({ errors: [{ message, extensions: { code: 'BAD_REQUEST' } }] }, { status });
}

/** A page that a person opens, not a query: GraphiQL sends none. */
function asksForGraphiQL(request: Request): boolean {
  const isPage = request.method === 'GET' && (request.headers.get('accept') ?? '').includes('text/html');
  return isPage && !request.headers.has('authorization');
}

function refuseUnauthenticated(error: GatewayError): Response {
  return Response.json(
    {
      errors: [describeGatewayError(error).toJSON()].map(({ message, extensions }) => ({
        message,
        extensions: { code: extensions?.code },
      })),
    },
    { status: 401, headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' } },
  );
}

function refuseEarly(error: GatewayError): Response {
  const { message, extensions } = describeGatewayError(error);
  const { http: _http, ...told } = extensions;
  const wait =
    error.retryAfterMs === undefined ? {} : { 'retry-after': String(extensions.retryAfterSeconds) };
  return Response.json(
    { errors: [{ message, extensions: told }] },
    { status: error.code === 'FORBIDDEN' ? 403 : 429, headers: { 'cache-control': 'no-store', ...wait } },
  );
}
