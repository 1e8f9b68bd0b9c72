import { IncomingMessage } from 'node:http';
import { Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { secureHeaders } from 'hono/secure-headers';
import type { Metrics } from '../metrics.ts';
import type { ReceiveWebhook, WebhookConnection } from '../webhooks/endpoint.ts';
import { answerDocument, type DocumentsOptions } from './pages/documents.ts';
import { answerLaunch, type LaunchOptions } from './pages/launch.ts';
import { revalidate } from './pages/static-files.ts';
import { WidgetFiles } from './pages/widget-files.ts';
import { addProbes, type ProbesOptions } from './probes.ts';

export interface RoutesOptions extends DocumentsOptions, LaunchOptions, ProbesOptions {
  /** Waits until the graph is loaded. `connection` has the request and the answer of node:http. */
  readonly answerGraphQL: (request: Request, connection: unknown) => Promise<Response>;
  readonly answerSchema: (request: Request) => Promise<Response>;
  /** Null = there is no management graph. No page may read its answers: it is for servers. */
  readonly answerManagement: ((request: Request) => Promise<Response>) | null;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly receiveWebhook: ReceiveWebhook;
  /** Null where no push subscription of Google Pub/Sub is configured. */
  readonly receivePubSub: ReceiveWebhook | null;
  /** Null when metrics have a separate address. */
  readonly metrics: ShownMetrics | null;
  readonly widgetFolder: URL;
}

const widgetFile = '[a-z0-9.-]+\\.(js|css|json|map)';

/** Every HTTP route of the gateway. The demo adds its own, where there is one. */
export function createRoutes(options: RoutesOptions): Hono {
  const app = new Hono();
  const allowOrigin = allowOrigins(options.isAllowedOrigin);
  const widgetFiles = new WidgetFiles(options.widgetFolder);

  app.use(secure());
  app.use('/graphql', allowOrigin);
  app.all('/graphql', (context) => options.answerGraphQL(context.req.raw, context.env));
  const { answerManagement } = options;
  if (answerManagement !== null) app.all('/management/graphql', ({ req }) => answerManagement(req.raw));
  app.use('/schema.graphql', allowOrigin, revalidate());
  app.get('/schema.graphql', ({ req }) => options.answerSchema(req.raw));
  app.use('/documents/*', allowOrigin);
  app.all('/documents/:ticket', (context) =>
    answerDocument(context.req.raw, context.req.param('ticket'), {
      ...options,
      connection: context.env,
    }),
  );
  app.all('/launch', (context) => answerLaunch(context.req.raw, options));
  app.post('/webhooks', (context) => options.receiveWebhook(context.req.raw, connectionOf(context.env)));
  const { receivePubSub } = options;
  if (receivePubSub !== null) {
    app.post('/intake/pubsub', (context) => receivePubSub(context.req.raw, connectionOf(context.env)));
  }
  addProbes(app, options);
  if (options.metrics !== null) addMetrics(app, options.metrics);
  app.use('/widget/*', revalidate());
  app.get(`/widget/:file{${widgetFile}}`, ({ req }) => widgetFiles.answerNewest(req.raw, req.param('file')));
  app.get(`/widget/:version{[a-z0-9.-]+}/:file{${widgetFile}}`, ({ req }) =>
    widgetFiles.answerVersion(req.raw, req.param('version'), req.param('file')),
  );
  app.notFound((context) =>
    context.json({ error: { code: 'NOT_FOUND', message: 'There is nothing here.' } }, 404),
  );
  app.onError((error, context) => {
    // The client left, or its connection was reset, before its request was complete. Nobody reads the answer, and
    // nothing has failed.
    if ('code' in error && error.code === 'ECONNRESET') return context.body(null, 408);
    options.log.error('request.failed', { route: context.req.path, error });
    return context.json({ error: { code: 'INTERNAL', message: 'The gateway failed.' } }, 500);
  });
  return app;
}

/** Undefined for a request without a connection. */
function connectionOf(environment: unknown): WebhookConnection | undefined {
  if (typeof environment !== 'object' || environment === null || !('incoming' in environment))
    return undefined;
  const { incoming } = environment;
  if (!(incoming instanceof IncomingMessage)) return undefined;
  return { sender: incoming.socket.remoteAddress ?? '', body: incoming };
}

export type ShownMetrics = Pick<Metrics, 'text' | 'contentType'>;

function addMetrics(app: Hono, { text, contentType }: ShownMetrics): void {
  app.get('/metrics', async (context) => context.body(await text(), 200, { 'content-type': contentType }));
}

/** Routes for the separate address of those who run the gateway. */
export function createOperatorRoutes(metrics: ShownMetrics, probes: ProbesOptions): Hono {
  const app = new Hono().use(secure());
  addMetrics(app, metrics);
  addProbes(app, probes);
  return app;
}

/** Headers that every answer of the gateway has. */
export function secure(): MiddlewareHandler {
  return secureHeaders({
    // A page that opens the portal in a tab must see when that tab is closed.
    crossOriginOpenerPolicy: false,
    // Pages of other origins may load widget files and read allowed answers.
    crossOriginResourcePolicy: false,
    // Only the operator knows whether a whole host uses https.
    strictTransportSecurity: false,
    // These headers are for old browsers, or have no meaning here.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xFrameOptions: 'DENY',
    overwrite: false,
  });
}

/** Lets pages of some origins send any header, because their tracing adds its own, and read answers. */
export function allowOrigins(isAllowedOrigin: (origin: string) => boolean): MiddlewareHandler {
  return cors({
    origin: (origin) => (isAllowedOrigin(origin) ? origin : null),
    // PUT is refused, and without it here a page could not read that refusal.
    allowMethods: ['GET', 'POST', 'PUT', 'OPTIONS'],
    exposeHeaders: ['x-request-id', 'retry-after'],
    // The longest that Chromium takes: a preflight is a round trip for somebody who waits.
    maxAge: 7200,
  });
}
