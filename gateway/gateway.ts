import type { RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { type AuditTrail, openAuditTrail } from './audit/trail.ts';
import { createRateLimits } from './auth/rate-limits.ts';
import { keepRecent, once } from './cache/memoize.ts';
import { openCallers } from './composition/callers.ts';
import { type ContextFactories, createContexts } from './composition/contexts.ts';
import { openServiceClient } from './composition/service-client.ts';
import { readers } from './composition/webhook-readers.ts';
import type { Config } from './config/config.ts';
import { listChangedOrders } from './domain/order/read/rest.ts';
import { GatewayError } from './errors.ts';
import { type EventStore, openEventStore } from './events/open.ts';
import { startReconciler } from './events/reconcile.ts';
import { createListedOperations } from './execution/document/trusted-documents.ts';
import type { GuardOptions } from './execution/guards.ts';
import { createScheduler } from './execution/scheduler.ts';
import type { WholeAnswersOptions } from './execution/whole-answers.ts';
import { type CutReason, createBoundedServer } from './http/connection-limits.ts';
import { loadOperations } from './http/load-operations.ts';
import { createOwnHosts } from './http/own-hosts.ts';
import { addDemo, type Demo } from './http/pages/demo.ts';
import { createMetricsRoutes, createRoutes } from './http/routes.ts';
import { closeServer, listen, localOrigins } from './http/server.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import type { UpstreamOptions } from './service/client.ts';
import { createWebhookEndpoint } from './webhooks/endpoint.ts';

export interface GatewayParts {
  readonly config: Config;
  readonly log: Log;
  /** Base address of the service: SERVICE_URL, or where the embedded sandbox listens. */
  readonly serviceUrl: string;
  /** The event log, where it is being opened already; the gateway closes it. Else it is opened here. */
  readonly store?: Promise<EventStore> | undefined;
  /** The demo page and GraphiQL; only with the embedded sandbox. */
  readonly demo?: Demo;
  /** Origins a portal link may have beyond PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins?: readonly string[];
  /** How long the text of `/metrics` is cached; default one second. */
  readonly metricsCacheMs?: number;
  /** In place of our own. */
  readonly factories?: Partial<GatewayFactories>;
}

/** How the parts are made that keep callers apart; no setting reaches them. */
export interface GatewayFactories extends ContextFactories {
  /** The cache key of a read of the service. */
  readonly readKey: NonNullable<UpstreamOptions['readKey']>;
  /** The cache key of a whole answer. */
  readonly answerKey: NonNullable<WholeAnswersOptions['answerKey']>;
}

/** The gateway as a value: the same for the process, for tests and for the bench. */
export interface Gateway {
  /** Answers a request without a network: queries, mutations, webhooks, SSE. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Listens where the configuration says, for webhooks at once; resolves when GraphQL is answered as well. */
  readonly listen: () => Promise<{ readonly url: string }>;
  /** Ends streams, closes sockets with 1012, finishes what is in hand, closes the log. */
  readonly close: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const widgetFolder = new URL('../widget/dist/', import.meta.url);
const pruneEveryMs = 3_600_000;
const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Readiness and metrics are public, so their answers are cached for this long. */
const probeEveryMs = 1000;
/** Grace covers the sender's second attempt, 5 s after the first. */
const reconcileTiming = { silenceMs: 5 * minuteMs, graceMs: 6000, lookMs: 1000 };

/**
 * Puts the parts together.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED, EVENT_LOG_WEAK or EVENT_LOG_UNAVAILABLE
 */
export async function createGateway(parts: GatewayParts): Promise<Gateway> {
  const { config, log } = parts;
  const metrics = createMetrics();
  const [store, trail] = await Promise.all([
    parts.store ?? openEventStore(config.eventLog, { keys: config.eventLogKeys, log }),
    openTrail(parts, metrics),
  ]);
  const isWritable = keepRecent(() => store.log.isWritable(), probeEveryMs);
  metrics.watchEventLog(config.eventLog.kind, isWritable);
  const isTrailWritable = () => trail?.isWritable() ?? null;
  metrics.watchAuditTrail(isTrailWritable);
  const { upstream, cache, catchUp, noteIntake } = openServiceClient(parts, { log: store.log, metrics });
  const stopping = new AbortController();
  const own = new Set<string>();
  const isAllowedOrigin = (origin: string) => config.allowedOrigins.includes(origin) || own.has(origin);

  const isOwnHost = createOwnHosts(config);

  const callers = await openCallers({ config, marks: store.log, log });
  const { authenticate, endOf } = callers;
  const contexts = createContexts({
    config,
    store,
    upstream,
    watch: trail?.watch ?? null,
    mint: callers.mint,
    revoke: callers.revoke,
    isRevoked: callers.isRevoked,
    portalOrigins: parts.portalOrigins ?? [],
    onUnknown: metrics.countUnknown,
    onUnreadable: metrics.countUnreadable,
    onResync: (reason) => metrics.resyncs.inc({ reason }),
    scheduler: createScheduler(),
    factories: parts.factories,
  });
  const isServiceReachable = keepRecent(contexts.isServiceReachable, probeEveryMs);
  const reconciler = startReconciler({
    events: store.log,
    changedSince: (since) => listChangedOrders(contexts.ownService(stopping.signal), since),
    log,
    onReconciled: (count) => metrics.reconciled.inc(count),
    timing: { ...reconcileTiming, everyMs: config.reconcileMinutes * minuteMs },
  });
  const guards = createGuards(parts, { store, metrics });
  const operations = once(async () => {
    const createOperations = await loadOperations();
    return createOperations({
      ...{ createContext: contexts.create, authenticate, endOf, guards, isAllowedOrigin, metrics, log },
      ...{ cache, catchUp },
      answerKey: parts.factories?.answerKey,
      isOpen: parts.demo !== undefined,
      graphiql: parts.demo?.graphiql ?? null,
      isOwnHost,
      stopping: stopping.signal,
    });
  });
  // What tickets open stands beside the graph, for which webhooks do not wait.
  const openers = once(async () =>
    (await import('./composition/ticket-redemption.ts')).createOpeners(contexts),
  );
  const shownMetrics = {
    text: keepRecent(metrics.text, parts.metricsCacheMs ?? probeEveryMs),
    contentType: metrics.contentType,
  };
  const app = createRoutes({
    operations,
    isAllowedOrigin,
    receiveWebhook: createWebhookEndpoint({
      secrets: config.webhookSecrets,
      events: store.log,
      log,
      ...readers,
      teamId: contexts.learnTeam,
      onOutcome: (outcome) => {
        metrics.webhooks.inc({ outcome });
        noteIntake(outcome);
        // The sender may give up before the log is back.
        if (outcome === 'unavailable') reconciler.request('gap');
      },
      onDurable: ({ appendSeconds, lagSeconds, deadReason }) => {
        metrics.appendSeconds.observe(appendSeconds);
        metrics.webhookLagSeconds.observe(lagSeconds);
        if (deadReason !== null) metrics.deadLetters.inc({ reason: deadReason });
      },
      onClockOffset: (seconds) => metrics.webhookClockOffset.set(seconds),
    }),
    openDocument: async (...asked) => await (await openers()).openDocument(...asked),
    openPortal: async (...asked) => await (await openers()).openPortal(...asked),
    checkReady: async () => ({
      eventLog: await isWritable(),
      service: await isServiceReachable(),
      auditTrail: isTrailWritable(),
    }),
    stopping: stopping.signal,
    metrics: config.metricsAddress === null ? shownMetrics : null,
    log,
    widgetFolder,
  });
  if (parts.demo !== undefined) addDemo(app, parts.demo, { mint: callers.mint, isOwnHost });

  const answer = getRequestListener((request, connection) => app.fetch(request, connection), {
    overrideGlobalObjects: false,
  });
  // Until what answers GraphQL is loaded, all requests go this way, and wait where they must.
  let take: RequestListener = answer;
  const onCut = (reason: CutReason) => metrics.connectionsCut.inc({ reason });
  const server = createBoundedServer((request, response) => take(request, response), onCut);
  const metricsServer =
    config.metricsAddress === null
      ? null
      : createBoundedServer(
          getRequestListener(createMetricsRoutes(shownMetrics).fetch, { overrideGlobalObjects: false }),
          onCut,
        );

  server.on('upgrade', async (request, socket, head) => {
    socket.on('error', destroy);
    (await operations()).upgrade(request, socket, head);
  });
  const pruning = setInterval(() => {
    store.log
      .prune(new Date(Date.now() - config.eventRetentionDays * dayMs))
      .catch((error: unknown) => log.error('events.prune_failed', { error }));
  }, pruneEveryMs).unref();

  const close = async () => {
    clearInterval(pruning);
    reconciler.stop();
    callers.close();
    stopping.abort();
    await operations().then(({ closeSockets }) => closeSockets());
    await Promise.all([closeServer(server), metricsServer && closeServer(metricsServer)]);
    await upstream.close();
    await trail?.close();
    await store.log.close();
  };
  return {
    fetch: async (request) => await app.fetch(request),
    listen: async () => {
      const url = await listen(server, config);
      if (metricsServer !== null && config.metricsAddress !== null) {
        const address = await listen(metricsServer, { ...config.metricsAddress, prefix: 'METRICS_' });
        log.info('metrics.listening', { address });
      }
      if (parts.demo !== undefined) for (const origin of localOrigins(url)) own.add(origin);
      const { takeFastLane } = await operations();
      if (config.fastLane) take = takeFastLane(answer);
      return { url };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What one caller may ask, and how much of it. */
function createGuards(
  { config, log }: GatewayParts,
  { store, metrics }: { readonly store: EventStore; readonly metrics: Metrics },
): GuardOptions {
  const { mode, file } = config.persistedOperations;
  return {
    rateLimits: createRateLimits({ ...config.limits, runShared: store.runShared }),
    listed: createListedOperations({
      mode,
      files: file === null ? [] : [file],
      whereBuilt: [new URL('operations.json', widgetFolder)],
      onUnlisted: (documentHash) => {
        metrics.unlistedOperations.inc();
        if (documentHash !== null) log.info('operation.unlisted', { documentHash });
      },
    }),
  };
}

/** @throws GatewayError CONFIG_INVALID when there is to be a trail and it cannot be written */
async function openTrail({ config, log }: GatewayParts, metrics: Metrics): Promise<AuditTrail | null> {
  if (config.auditTrail === null) return null;
  const onRecords = (outcome: string, count: number) => metrics.auditRecords.inc({ outcome }, count);
  try {
    return await openAuditTrail({ ...config.auditTrail, log, onRecords });
  } catch (cause) {
    const message = '- AUDIT_TRAIL names a folder that cannot be read and written.';
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  }
}

/** One for all: a closure for each of ten thousand sockets would be 0.1 kB more. */
function destroy(this: Duplex): void {
  this.destroy();
}
