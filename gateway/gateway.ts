import { setTimeout } from 'node:timers/promises';
import { memoize } from './cache/memoize.ts';
import { type ContextFactories, type Contexts, createContexts } from './composition/contexts.ts';
import { type Core, openCore, probeEveryMs, widgetFolder } from './composition/core.ts';
import type { GraphQLParts, GraphQLTransports } from './composition/graphql.ts';
import type { Management } from './composition/management.ts';
import { Servers } from './composition/servers.ts';
import { openServiceClient } from './composition/service.ts';
import {
  createGatewayWebhook,
  type EventRoutes,
  openEventRoutes,
  startReconciliation,
} from './composition/webhooks.ts';
import type { Config } from './config/config.ts';
import type { EventStore } from './events/open.ts';
import { startPruning } from './events/pruning.ts';
import type { GatewayWebhook } from './graph/context.ts';
import { addDemo, createOwnHosts, type Demo } from './http/pages/demo.ts';
import { createGraphiQLPages } from './http/pages/graphiql.ts';
import type { ProbesOptions } from './http/probes.ts';
import { createOperatorRoutes, createRoutes } from './http/routes.ts';
import type { WholeAnswersOptions } from './http/whole-answers.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { UpstreamOptions } from './service/client.ts';
import { createRequestScope, requestIdHeader, runInScope } from './telemetry/request.ts';

export interface GatewayParts {
  readonly config: Config;
  readonly log: Log;
  /** Base address of the service: SERVICE_URL, or the address of the embedded sandbox. */
  readonly serviceUrl: string;
  /** The management interface of the embedded sandbox. */
  readonly management?: { readonly url: string; readonly key: string; readonly orgId: string };
  /** The event log, if somebody has begun to open it; the gateway closes it. Otherwise the gateway opens it. */
  readonly store?: Promise<EventStore> | undefined;
  /** The demo page and GraphiQL; only with the embedded sandbox. */
  readonly demo?: Demo;
  /** Allowed origins of portal links besides PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins?: readonly string[];
  /** How long the text of `/metrics` is cached; default one second. */
  readonly metricsCacheMs?: number;
  /** Default: the gateway's own. */
  readonly factories?: Partial<GatewayFactories>;
}

/** How the parts that separate callers are made. No setting changes them; tests do. */
export interface GatewayFactories extends ContextFactories {
  /** The cache key of a read of the service. */
  readonly readKey: NonNullable<UpstreamOptions['readKey']>;
  /** The cache key of a whole answer. */
  readonly answerKey: NonNullable<WholeAnswersOptions['answerKey']>;
}

/** The gateway as a value, for the process, tests and the bench. */
export interface Gateway {
  /** Answers a request without a network: queries, mutations, webhooks, SSE. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Listens on the configured address, for webhooks at once. Resolves when GraphQL is ready too. */
  readonly listen: () => Promise<{ readonly url: string }>;
  /** Answers `/ready` with 503, and after DRAIN_SECONDS stops listening. Until then everything else is answered as before. */
  readonly drain: () => Promise<void>;
  /** Uses the secrets of another reading of the configuration; config/changed-secrets.ts lists which ones. */
  readonly useSecrets: (config: Config) => void;
  /** Ends streams, closes sockets with 1012, finishes requests in progress, closes the log. */
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/**
 * Makes the parts in the order in which they need each other.
 * @throws GatewayError as openCore
 */
export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, log, serviceUrl, demo, factories } = parts;
  const core = await openCore({ config, log, store: parts.store });
  const { store, metrics, callers, stopping } = core;
  const service = openServiceClient({ serviceUrl, readKey: factories?.readKey }, core);
  const contexts = createContexts(core, {
    upstream: service.upstream,
    portalOrigins: parts.portalOrigins ?? [],
    factories,
  });
  const { services } = contexts;
  const reconciler = startReconciliation(core, services);
  const isOwnHost = createOwnHosts(config);
  const graphiql = demo === undefined ? null : createGraphiQLPages(demo.graphiql);
  const routes = await openEventRoutes(core, { services, reconciler, noteOutcome: service.noteOutcome });
  const graphql = memoize(() =>
    loadGraphQL(core, { contexts, service, graphiql, isOwnHost, answerKey: factories?.answerKey }, routes),
  );
  const management = createManagementLoader(core, parts, createGatewayWebhook(core, routes));
  const shownMetrics = cacheText(metrics, parts.metricsCacheMs);
  const probes = createProbes(core, { contexts, routes });
  const app = createApp(core, { graphql, management, probes, routes, metrics: shownMetrics });
  if (demo !== undefined) addDemo(app, demo, { mint: callers.mint, isOwnHost, graphiql });
  const servers = new Servers(core, {
    fetch: app.fetch,
    upgrade: async (request, socket, head) => (await graphql()).sockets.upgrade(request, socket, head),
    fetchMetrics: createOperatorRoutes(shownMetrics, probes).fetch,
  });
  const stopPruning = startPruning(core.store.log, { retentionDays: config.eventRetentionDays, log });

  const close = async () => {
    stopPruning();
    reconciler.stop();
    callers.close();
    stopping.abort();
    (await graphql()).sockets.close();
    await Promise.all([servers.close(), ...routes.intakes.map((intake) => intake.close())]);
    await service.upstream.close();
    await management?.close();
    await core.trail?.close();
    await store.log.close();
  };
  return {
    fetch: async (request) => {
      const scope = createRequestScope(request);
      const response = await runInScope(scope, () => app.fetch(request));
      response.headers.set(requestIdHeader, scope.id);
      return response;
    },
    listen: async () => {
      const url = await servers.listen();
      if (demo !== undefined) core.allowLocalOrigins(url);
      const { createDirectPath } = await graphql();
      if (config.directPath) servers.useDirectPath(createDirectPath);
      return { url };
    },
    drain: async () => {
      core.isDraining = true;
      await servers.drain(config.drainSeconds);
    },
    useSecrets: (next) => {
      callers.useSecrets(next);
      routes.webhookSecrets.useConfigured(next.webhookSecrets);
      service.upstream.useApiKey(next.service.apiKey);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** `/metrics` is public, so its text is made once in a while, however often it is read. */
function cacheText({ text, contentType }: Metrics, ttlMs = probeEveryMs) {
  return { text: memoize(text, ttlMs), contentType };
}

interface AppParts {
  readonly graphql: () => Promise<GraphQLTransports>;
  readonly management: Management | null;
  readonly probes: ProbesOptions;
  readonly routes: EventRoutes;
  readonly metrics: Parameters<typeof createOperatorRoutes>[0];
}

/** Every route of the gateway but the demo's. */
function createApp(core: Core, { graphql, management, probes, routes, metrics }: AppParts) {
  const { receiveWebhook, receivePubSub } = routes;
  const { config, log, isAllowedOrigin } = core;
  return createRoutes({
    answerGraphQL: async (request, connection) => await (await graphql()).answer(request, connection),
    answerSchema: async (request) => await (await graphql()).answerSchema(request),
    answerManagement: management?.answer ?? null,
    isAllowedOrigin,
    receiveWebhook,
    receivePubSub,
    openDocument: async (ticket, signal) => await (await graphql()).openDocument(ticket, signal),
    openPortal: async (posted, signal) => await (await graphql()).openPortal(posted, signal),
    ...probes,
    stopping: core.stopping.signal,
    metrics: config.metricsAddress === null ? metrics : null,
    log,
    widgetFolder,
  });
}

/** What `/ready` says. */
function createProbes(
  core: Core,
  { contexts, routes }: { readonly contexts: Contexts; readonly routes: EventRoutes },
): ProbesOptions {
  const isServiceReachable = memoize(() => contexts.services.isReachable(), probeEveryMs);
  let hasWorked = false;
  return {
    isStopping: () => core.isDraining || core.stopping.signal.aborted,
    checkReady: async () => {
      const [eventLog, service] = await Promise.all([core.isLogWritable(), isServiceReachable()]);
      hasWorked ||= service;
      const { intakes } = routes;
      const broker = intakes.length === 0 ? null : intakes.every(({ isConsuming }) => isConsuming);
      const auditTrail = core.isTrailWritable();
      return { eventLog, service, hasWorked, broker, auditTrail };
    },
  };
}

/** The management graph, which is loaded with the first request for it; null = it is not configured. */
function createManagementLoader(
  core: Core,
  { management: embedded }: GatewayParts,
  gatewayWebhook: GatewayWebhook,
): Management | null {
  const { management: config } = core.config;
  const service = config?.service ?? embedded ?? null;
  if (config === null || service === null) return null;
  const { keyHeader, apiKeys } = config;
  const orgId = config.orgId ?? (config.service === null ? (embedded?.orgId ?? null) : null);
  let loading: Promise<Management> | null = null;
  const load = async () => {
    const { createManagement } = await import('./composition/management.ts');
    return createManagement(core, { ...service, keyHeader, apiKeys, orgId, gatewayWebhook });
  };
  return {
    answer: async (request) => {
      loading ??= load();
      return await (await loading).answer(request);
    },
    close: async () => await (await loading)?.close(),
  };
}

/** The pause before each part, in milliseconds; while events are being received it goes on, up to the second figure. */
const pauseMs = 10;
const maxPauseMs = 100;

/**
 * Loads two thirds of the gateway's code. Nothing else can run while a module and its imports are loaded, so they are
 * loaded in parts, and webhooks are answered before and between the parts.
 */
async function loadGraphQL(
  core: Core,
  parts: GraphQLParts,
  { isReceiving }: EventRoutes,
): Promise<GraphQLTransports> {
  const pause = async () => {
    const end = performance.now() + maxPauseMs;
    do await setTimeout(pauseMs);
    while (isReceiving() && performance.now() < end);
  };
  await pause();
  await import('graphql');
  await pause();
  await import('./http/yoga.ts');
  await pause();
  await import('./domain/schema.ts');
  await pause();
  const { createGraphQL } = await import('./composition/graphql.ts');
  await pause();
  await parts.service.upstream.connect();
  return createGraphQL(core, parts);
}
