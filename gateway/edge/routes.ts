import { readFile } from 'node:fs/promises';
import { Hono } from 'hono';
import type { Authenticate } from '../caller/authenticate.ts';
import type { Caller } from '../caller/caller.ts';
import type { TokenLives } from '../caller/token-lives.ts';
import type { Metrics } from '../metrics.ts';
import { admit, takeAdmitted } from './admission.ts';
import type { Allowances } from './allowances.ts';
import { answerDocument, type DocumentsOptions } from './documents.ts';
import { allowOrigins, secure } from './edge-headers.ts';
import { type GraphQLServer, traceHeader } from './graphql.ts';
import { answerLaunch, type LaunchOptions } from './launch.ts';
import { answerRefusal } from './refusals.ts';
import { createUploadGate, isUpload } from './uploads.ts';

export interface RoutesOptions extends DocumentsOptions, LaunchOptions {
  readonly graphql: GraphQLServer;
  /** The same graph for requests with files, which may be larger. */
  readonly uploads: GraphQLServer;
  readonly authenticate: Authenticate;
  readonly endOf: TokenLives['endOf'];
  readonly allowances: Allowances;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly receiveWebhook: (request: Request) => Promise<Response>;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
  readonly checkReady: () => Promise<Readiness>;
  readonly metrics: Metrics;
  readonly widgetFolder: URL;
  readonly hasGraphiQL: boolean;
}

/** Whether the gateway can do its work: each part by name. */
export interface Readiness {
  readonly eventLog: boolean;
  readonly service: boolean;
  /** Null where none is kept. Does not decide whether the gateway is ready (decision 0061). */
  readonly auditTrail: boolean | null;
}

const problems = {
  eventLog: 'The event log cannot be written: webhooks are answered with 503 and come again.',
  service: 'The service does not answer its lists of users and orders.',
  stopping: 'The gateway is stopping.',
  auditTrail: 'The audit trail cannot be written: accesses wait in memory.',
} as const;

/** Every HTTP route of the gateway. The demo adds its own, where there is one. */
export function createRoutes(options: RoutesOptions): Hono {
  const app = new Hono();
  const allowOrigin = allowOrigins(options.isAllowedOrigin);

  app.use(secure());
  app.use('/graphql', allowOrigin);
  const beginUpload = createUploadGate();
  app.all('/graphql', (context) =>
    answerGraphQL({ ...options, beginUpload, admitted: takeAdmitted(context.env) }, context.req.raw),
  );
  app.use('/documents/*', allowOrigin);
  app.all('/documents/:ticket', (context) =>
    answerDocument(context.req.raw, context.req.param('ticket'), {
      ...options,
      connection: context.env,
    }),
  );
  app.all('/launch', (context) => answerLaunch(context.req.raw, options));
  app.post('/webhooks', (context) => options.receiveWebhook(context.req.raw));
  app.get('/health', (context) => context.json({ status: 'ok' }));
  app.get('/ready', async (context) => {
    const { eventLog, service, auditTrail } = await options.checkReady();
    const found = [
      ...(eventLog ? [] : [problems.eventLog]),
      ...(service ? [] : [problems.service]),
      ...(options.stopping.aborted ? [problems.stopping] : []),
    ];
    const isReady = found.length === 0;
    const told = auditTrail === false ? [...found, problems.auditTrail] : found;
    const status = isReady ? 'ready' : 'not ready';
    const parts = { eventLog, service, ...(auditTrail === null ? {} : { auditTrail }) };
    return context.json({ status, ...parts, problems: told }, isReady ? 200 : 503);
  });
  app.get('/metrics', async (context) =>
    context.body(await options.metrics.text(), 200, { 'content-type': options.metrics.contentType }),
  );
  app.get('/widget/:file{[a-z0-9.-]+\\.(js|css|json|map)}', (context) =>
    answerWidgetFile(options.widgetFolder, context.req.param('file')),
  );
  app.notFound((context) =>
    context.json({ error: { code: 'NOT_FOUND', message: 'There is nothing here.' } }, 404),
  );
  app.onError((error, context) => {
    // The client has left, or was cut, before its request was whole: nobody hears this, and nothing has failed.
    if ('code' in error && error.code === 'ECONNRESET') return context.body(null, 408);
    options.log.error('request.failed', { route: context.req.path, error });
    return context.json({ error: { code: 'INTERNAL', message: 'The gateway failed.' } }, 500);
  });
  return app;
}

interface GraphQLRouteOptions extends RoutesOptions {
  readonly beginUpload: ReturnType<typeof createUploadGate>;
  /** Whom the fast lane has let in already; null for requests it has not seen. */
  readonly admitted: Caller | null;
}

async function answerGraphQL(options: GraphQLRouteOptions, request: Request): Promise<Response> {
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
    const caller = options.admitted ?? (await admit(options, { authorization, origin }));
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

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  map: 'application/json; charset=utf-8',
};

/** Built widget files, for pages of any origin: they are public and hold no data. */
async function answerWidgetFile(folder: URL, file: string): Promise<Response> {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  try {
    return new Response(await readFile(new URL(file, folder)), {
      headers: {
        'content-type': contentTypes[extension] ?? 'application/octet-stream',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'public, max-age=300',
        'x-content-type-options': 'nosniff',
      },
    });
  } catch {
    const message = 'There is no such widget file. Build the widget with: npm run build';
    return Response.json({ error: { code: 'NOT_FOUND', message } }, { status: 404 });
  }
}
