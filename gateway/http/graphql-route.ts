import { type Authenticate, authenticateRequest } from '../auth/authenticate.ts';
import type { RateLimits } from '../auth/rate-limits.ts';
import type { ActiveTokens } from '../auth/revocations.ts';
import type { Caller } from '../auth/rights.ts';
import { type IsOwnHost, refuseHost } from './own-hosts.ts';
import { streamShared } from './pages/widget-files.ts';
import { answerRefusal } from './refusals.ts';
import { createUploadGate, isUpload } from './uploads.ts';
import { type GraphQLServer, traceHeader } from './yoga.ts';

export interface GraphQLRouteOptions {
  readonly graphql: GraphQLServer;
  /** The same graph for requests with files, which may be larger. */
  readonly uploads: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly endOf: ActiveTokens['endOf'];
  readonly rateLimits: RateLimits;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  /** Aborts when the gateway stops. */
  readonly stopping: AbortSignal;
  readonly hasGraphiQL: boolean;
  /** GraphiQL may contain a key, so it is served at no other host. */
  readonly isOwnHost: IsOwnHost;
}

/** GraphQL over HTTP and SSE, from the request to its answer: who asks, what it costs to ask, and which server answers. */
export function createGraphQLRoute(
  options: GraphQLRouteOptions,
): (request: Request, admitted: Caller | null) => Promise<Response> {
  const beginUpload = createUploadGate();
  const answerGraphiQL = createGraphiQLPage(options);
  return (request, admitted) => answerGraphQL({ ...options, beginUpload, answerGraphiQL, admitted }, request);
}

/** The page is large and the same for every request, so it is rendered once. */
function createGraphiQLPage({ graphql, stopping: over }: GraphQLRouteOptions): Route['answerGraphiQL'] {
  let bytes: Uint8Array | null = null;
  return async (request) => {
    if (bytes === null) {
      const page = await graphql.fetch(request, { caller: { kind: 'TEAM' }, left: over, over });
      if (page.status !== 200) return page;
      bytes = new Uint8Array(await page.arrayBuffer());
    }
    return new Response(streamShared(bytes), {
      headers: {
        'content-type': 'text/html',
        'content-length': String(bytes.length),
        'content-security-policy': graphiqlPolicy,
        'cache-control': 'no-store',
      },
    });
  };
}

interface Route extends GraphQLRouteOptions {
  readonly beginUpload: ReturnType<typeof createUploadGate>;
  readonly answerGraphiQL: (request: Request) => Promise<Response>;
  readonly admitted: Caller | null;
}

async function answerGraphQL(options: Route, request: Request): Promise<Response> {
  if (options.hasGraphiQL && asksForGraphiQL(request)) {
    return options.isOwnHost(request.url) ? await options.answerGraphiQL(request) : refuseHost();
  }
  try {
    const origin = request.headers.get('origin');
    const authorization = request.headers.get('authorization');
    const caller = options.admitted ?? (await authenticateRequest(options, { authorization, origin }));
    const malformed = findMalformedParameter(request);
    if (malformed !== null) return refuseUnreadable(400, `The parameter ${malformed} is not JSON.`);
    const hasFiles = isUpload(request);
    if (request.method === 'POST' && !hasFiles && !isJsonType(request))
      return refuseUnreadable(415, 'Send it as application/json.');
    const over = AbortSignal.any([request.signal, options.stopping, options.endOf(caller)]);
    const endUpload = hasFiles ? options.beginUpload(caller) : () => {};
    try {
      const server = hasFiles ? options.uploads : options.graphql;
      const isTraced = request.headers.get(traceHeader) === 'upstream';
      const lastEventId = request.headers.get('last-event-id') || null;
      const asking = { caller, origin, left: request.signal, over, isTraced, lastEventId };
      const response = await server.fetch(request, asking);
      response.headers.set('cache-control', 'no-store');
      // Yoga sets it on streams even if the client asked for a close; the server decides.
      if (response.headers.get('connection') === 'keep-alive') response.headers.delete('connection');
      return response;
    } finally {
      endUpload();
    }
  } catch (error) {
    return answerRefusal(error);
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
