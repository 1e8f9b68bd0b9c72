import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createRights } from './caller/access.ts';
import { createAuthenticate } from './caller/authenticate.ts';
import { createDocumentTickets, type DocumentTickets } from './caller/document-tickets.ts';
import { createGatewayKeys } from './caller/gateway-keys.ts';
import { createViewerTokens } from './caller/viewer-tokens.ts';
import type { Config } from './config.ts';
import { versionOfLabReport } from './domain/lab-report/rest.ts';
import { versionOfOrder } from './domain/order/rest.ts';
import { fetchDocument } from './domain/result/document.ts';
import { listUsers } from './domain/user/rest.ts';
import { addDemo, type Demo } from './edge/demo.ts';
import type { DocumentsOptions } from './edge/documents.ts';
import { type CreateContext, createGraphQLServer } from './edge/graphql.ts';
import { createRoutes } from './edge/routes.ts';
import { createSockets } from './edge/sockets.ts';
import { GatewayError } from './errors.ts';
import { createAttempts } from './events/attempts.ts';
import { type EventStore, openEventStore } from './events/open.ts';
import { createLoaders } from './graph/context.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createUpstream, type Upstream } from './upstream/client.ts';
import { bindService } from './upstream/service.ts';
import { createWebhookEndpoint } from './webhooks/endpoint.ts';
import { firstSubject } from './webhooks/envelope.ts';

export interface GatewayParts {
  readonly config: Config;
  readonly log: Log;
  /** Base address of the service: SERVICE_URL, or where the embedded sandbox listens. */
  readonly serviceUrl: string;
  /** The demo page and GraphiQL; only with the embedded sandbox. */
  readonly demo?: Demo;
  /** Origins a portal link may have beyond PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins?: readonly string[];
}

/** The gateway as a value: the same for the process, for tests and for the bench. */
export interface Gateway {
  /** Answers a request without a network: queries, mutations, webhooks, SSE. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Listens where the configuration says, sockets included. */
  readonly listen: () => Promise<{ readonly url: string }>;
  /** Ends streams, closes sockets with 1012, finishes what is in hand, closes the log. */
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const pruneEveryMs = 3_600_000;
const dayMs = 86_400_000;
/** A readiness probe wants its answer soon, whatever the service does. */
const readyCheckMs = 2000;

/**
 * Puts the parts together.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED or EVENT_LOG_UNAVAILABLE
 */
export function createGateway(parts: GatewayParts): Gateway {
  const { config, log } = parts;
  const metrics = createMetrics();
  const store = openEventStore(config.eventLog, config.eventLogKeys);
  const upstream = openUpstream(parts, metrics);
  const team = createTeam(config.teamId);
  const stopping = new AbortController();
  const own = new Set<string>();
  const isAllowedOrigin = (origin: string) => config.allowedOrigins.includes(origin) || own.has(origin);

  const viewerTokens = createViewerTokens(config.viewerTokenSecret);
  const authenticate = createAuthenticate({
    isGatewayKey: createGatewayKeys(config.gatewayApiKeys),
    viewerTokens,
  });
  const documentTickets = createDocumentTickets();
  const createContext = createContexts({
    ...parts,
    store,
    upstream,
    team,
    documentTickets,
    mint: viewerTokens.mint,
  });
  const graphqlOptions = { createContext, log, metrics, graphiql: parts.demo?.graphiql ?? null };
  const graphql = createGraphQLServer({ ...graphqlOptions, takesFiles: false });
  const sockets = createSockets({ graphql, authenticate, isAllowedOrigin, log });
  const app = createRoutes({
    graphql,
    uploads: createGraphQLServer({ ...graphqlOptions, takesFiles: true }),
    authenticate,
    isAllowedOrigin,
    receiveWebhook: createWebhookEndpoint({
      secrets: config.webhookSecrets,
      events: store.log,
      log,
      subjectOf: firstSubject([versionOfOrder, versionOfLabReport]),
      teamId: team.id,
      onAppended: upstream.forget,
      onOutcome: (outcome, seconds) => {
        metrics.webhooks.inc({ outcome });
        if (seconds !== undefined) metrics.appendSeconds.observe(seconds);
      },
    }),
    openDocument: createOpenDocument(documentTickets, createContext),
    beginOperation: upstream.begin,
    checkReady: async () => ({
      eventLog: await store.log.isWritable(),
      service: await isServiceReachable(createContext),
    }),
    stopping: stopping.signal,
    metrics,
    log,
    widgetFolder: new URL('../widget/dist/', import.meta.url),
    hasGraphiQL: parts.demo !== undefined,
  });
  if (parts.demo !== undefined) addDemo(app, parts.demo, { mint: viewerTokens.mint });

  const server = createServer(
    getRequestListener((request, connection) => app.fetch(request, connection), {
      overrideGlobalObjects: false,
    }),
  );
  sockets.attach(server);
  const pruning = setInterval(() => {
    store.log
      .prune(new Date(Date.now() - config.eventRetentionDays * dayMs))
      .catch((error: unknown) => log.error('events.prune_failed', { error }));
  }, pruneEveryMs).unref();

  const close = async () => {
    clearInterval(pruning);
    stopping.abort();
    sockets.close();
    await closeServer(server);
    await upstream.close();
    await store.log.close();
  };
  return {
    fetch: async (request) => await app.fetch(request),
    listen: async () => {
      const url = await listen(server, config);
      if (parts.demo !== undefined) for (const origin of localOrigins(url)) own.add(origin);
      return { url };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openUpstream({ config, serviceUrl }: GatewayParts, metrics: Metrics): Upstream {
  return createUpstream({
    url: serviceUrl,
    apiKey: config.service.apiKey,
    apiKeyHeader: config.apiKeyHeader,
    onCall: (operation, outcome, seconds) => {
      metrics.upstreamCalls.inc({ operation, outcome });
      metrics.upstreamSeconds.observe({ operation }, seconds);
    },
    onShared: (operation) => metrics.upstreamShared.inc({ operation }),
  });
}

interface Team {
  readonly id: () => string | null;
  readonly learn: (teamId: string) => void;
}

/** Which team this is: as configured, else as the service's first answer says. */
function createTeam(configured: string | null): Team {
  let id = configured;
  return {
    id: () => id,
    learn: (teamId) => {
      id ??= teamId.toLowerCase();
    },
  };
}

interface ContextParts extends GatewayParts {
  readonly store: EventStore;
  readonly upstream: Upstream;
  readonly team: Team;
  readonly documentTickets: DocumentTickets;
  readonly mint: ReturnType<typeof createViewerTokens>['mint'];
}

function createContexts({
  config,
  store,
  upstream,
  team,
  documentTickets,
  mint,
  portalOrigins = [],
}: ContextParts): CreateContext {
  const attempts = createAttempts(store.replies);
  const allPortalOrigins = [...config.portalOrigins, ...portalOrigins];
  return ({ caller, signal }) => {
    const service = bindService(upstream, {
      rights: createRights(caller),
      ordersPath: config.ordersPath,
      signal,
      onTeam: team.learn,
    });
    return {
      caller,
      service,
      events: store.log,
      cursors: store.cursors,
      attempts,
      mintViewerToken: mint,
      documentTickets,
      portalOrigins: allPortalOrigins,
      teamId: team.id,
      signal,
      loaders: createLoaders(service),
    };
  };
}

/** Spends a ticket and opens its document with the rights of the caller it was made for. */
function createOpenDocument(
  tickets: DocumentTickets,
  createContext: CreateContext,
): DocumentsOptions['openDocument'] {
  return async (ticket, signal) => {
    const grant = tickets.redeem(ticket);
    if (grant === null) return null;
    const file = await fetchDocument(createContext({ caller: grant.caller, signal }).service, grant);
    return file === null ? null : { ...file, kind: grant.kind };
  };
}

async function isServiceReachable(createContext: CreateContext): Promise<boolean> {
  try {
    const { service } = createContext({
      caller: { kind: 'TEAM' },
      signal: AbortSignal.timeout(readyCheckMs),
    });
    await listUsers(service, { offset: 0, limit: 1 });
    return true;
  } catch {
    return false;
  }
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(describeListenFailure(cause, { host, port })));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  // A server that listens on a TCP port has an address of this shape.
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

function describeListenFailure(
  cause: Error,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
  const fault = isTaken
    ? `PORT ${port} is taken on ${host}. Stop what uses it, or give another PORT.`
    : `HOST ${host} with PORT ${port} cannot be listened on.`;
  return new GatewayError('CONFIG_INVALID', `- ${fault}`, { cause });
}

function localOrigins(url: string): readonly string[] {
  const { port } = new URL(url);
  return [url, `http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`];
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const forced = setTimeout(() => server.closeAllConnections(), 5000);
  await closed;
  clearTimeout(forced);
}
