import { type Caller, type OnAccess, Rights } from '../auth/rights.ts';
import {
  createDocumentTickets,
  createLaunchTickets,
  type DocumentTickets,
  type LaunchTickets,
} from '../auth/tickets.ts';
import { Idempotency } from '../events/idempotency.ts';
import { createVersions, type Versions } from '../events/log.ts';
import { createScheduler } from '../execution/scheduler.ts';
import { createLoaders, type GraphContext } from '../graph/context.ts';
import type { CreateContext } from '../http/yoga.ts';
import type { Upstream } from '../service/client.ts';
import { bindService } from '../service/service.ts';
import { tagOfSubject } from '../service/tags.ts';
import { type Dependencies, OperationCalls, type Report } from '../service/trace.ts';
import type { Core } from './core.ts';
import { Services } from './service.ts';

/** How the parts are made that determine a caller's rights and the sharing between operations. */
export interface ContextFactories {
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
  readonly createLoaders: typeof createLoaders;
}

export interface ContextParts {
  readonly upstream: Upstream;
  /** Allowed origins of portal links besides PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins: readonly string[];
  /** SERVICE_ORG_ID, for the management graph. */
  readonly orgId?: string | null;
  /** For the management graph. */
  readonly gatewayWebhook?: GraphContext['gatewayWebhook'];
  /** Default: the gateway's own. */
  readonly factories: Partial<ContextFactories> | undefined;
}

export interface Contexts {
  /** Makes the context of one operation of one caller. */
  readonly create: CreateContext;
  readonly documentTickets: DocumentTickets;
  readonly launchTickets: LaunchTickets;
  readonly services: Services;
}

/**
 * The time of an operation for its calls to the service: a client does not wait longer, and a write that came later would
 * surprise it.
 */
const operationTimeoutMs = 30_000;

export function createContexts(core: Core, parts: ContextParts): Contexts {
  const { config, store, metrics, callers, trail } = core;
  const make: ContextFactories = {
    createRights: (caller, onAccess) => new Rights(caller, onAccess),
    bindService,
    createLoaders,
    ...parts.factories,
  };
  const services = new Services(core, {
    upstream: parts.upstream,
    createRights: make.createRights,
    bindService: make.bindService,
  });
  const scheduler = createScheduler();
  const versions = createVersions(store.log);
  const idempotency = new Idempotency(store.idempotencyRecords);
  const documentTickets = createDocumentTickets(store.oneTimeValues, callers.isRevoked);
  const launchTickets = createLaunchTickets(store.oneTimeValues, callers.isRevoked);
  const portalOrigins = [...config.portalOrigins, ...parts.portalOrigins];

  const create: CreateContext = ({ caller, left, over, origin, isTraced, lastEventId, dependencies }) => {
    const calls = new OperationCalls(dependencies);
    const onAccess = watchAgain(trail?.watch ?? null, { caller, dependencies });
    const service = services.bind({ caller, signal: left, onAccess, calls, timeoutMs: operationTimeoutMs });
    const work = scheduler.begin(caller, left);
    const { mintViewerToken, revokeViewerTokens } = createTokenActions(core, { caller, onAccess });
    // Without `...`: V8 makes an object with a spread and a dozen more members a dictionary, which is slow and large.
    const context: GraphContext = {
      mintViewerToken,
      revokeViewerTokens,
      caller,
      origin: origin ?? null,
      service,
      events: store.log,
      versions: dependencies === undefined ? versions : noteVersions(versions, dependencies),
      cursors: store.cursors,
      idempotency,
      documentTickets,
      launchTickets,
      portalOrigins,
      teamId: () => services.teamId,
      isProductionService: config.service.kind === 'remote' && config.service.isProduction,
      orgId: parts.orgId ?? null,
      gatewayWebhook: parts.gatewayWebhook ?? null,
      over,
      lastEventId: lastEventId ?? null,
      loaders: make.createLoaders(service, work),
      onUnknown: oncePerValue((field, value) => {
        metrics.countUnknown(field, value);
        dependencies?.addReport(`unknown ${field} ${value}`, metrics.countUnknown.bind(null, field, value));
      }),
      onResync: (reason) => metrics.resyncs.inc({ reason }),
      upstreamTotals: () => calls.totals(),
      work,
      isTraced: isTraced === true && service.rights.has('gateway-key'),
    };
    return dependencies === undefined ? context : new NotedContext(context, dependencies);
  };
  return { create, documentTickets, launchTickets, services };
}

interface Acting {
  readonly caller: Caller;
  readonly onAccess: OnAccess | undefined;
}

/** Making and revoking viewer tokens, each written to the audit trail. */
function createTokenActions(
  { callers }: Core,
  { caller, onAccess }: Acting,
): Pick<GraphContext, 'mintViewerToken' | 'revokeViewerTokens'> {
  return {
    mintViewerToken: async (claims) => {
      const token = await callers.mint(claims);
      onAccess?.({ kind: 'write viewer-token.create', userId: claims.userId, outcome: 'ok' });
      return token;
    },
    revokeViewerTokens: async (what) => {
      const at = await callers.revoke(what, caller);
      onAccess?.({ kind: 'write viewer-token.revoke', userId: what.userId, outcome: 'ok' });
      return at;
    },
  };
}

interface Reporting {
  readonly caller: Caller;
  readonly dependencies: Dependencies | undefined;
}

/** The audit trail of an operation. Each access is also reported for every other operation that shares the answer. */
function watchAgain(
  watch: ((caller: Caller) => OnAccess) | null,
  { caller, dependencies }: Reporting,
): OnAccess | undefined {
  const record = watch?.(caller);
  if (!watch || record === undefined || dependencies === undefined) return record;
  return (access) => {
    record(access);
    const { kind, userId, outcome } = access;
    dependencies.addReport(`${kind} ${outcome} ${userId}`, watchOnce(watch, access));
  };
}

/** Lives as long as a cached answer: made here, so that it holds the access and not the operation. */
function watchOnce(watch: (caller: Caller) => OnAccess, access: Parameters<OnAccess>[0]): Report {
  return (_seconds, caller) => watch(caller)(access);
}

/** Bounds of what one operation reports: the service chooses the values, and a subscription lasts as long as its client. */
const maxReported = { values: 1000, characters: 100 } as const;

/**
 * Reports each unknown value once, although a page of rows may have it many times and a subscription may show it again
 * and again. Values beyond the bounds are cut or not reported.
 */
export function oncePerValue(report: GraphContext['onUnknown']): GraphContext['onUnknown'] {
  // Made with the first unknown value: there is rarely one.
  let reported: Set<string> | null = null;
  return (field, raw) => {
    const value = raw.slice(0, maxReported.characters);
    const key = `${field} ${value}`;
    reported ??= new Set();
    if (reported.has(key) || reported.size >= maxReported.values) return;
    reported.add(key);
    report(field, value);
  };
}

/**
 * The context of an operation whose answer may be shared. A member either has the same value for all equal operations
 * of callers with equal rights, or records its use. Each use of a getter isolates the answer. A member that is added to the context
 * must be added here, as one or the other.
 */
export class NotedContext implements GraphContext {
  readonly origin: GraphContext['origin'];
  readonly service: GraphContext['service'];
  readonly versions: GraphContext['versions'];
  readonly portalOrigins: GraphContext['portalOrigins'];
  readonly isProductionService: GraphContext['isProductionService'];
  readonly orgId: GraphContext['orgId'];
  readonly gatewayWebhook: GraphContext['gatewayWebhook'];
  readonly over: GraphContext['over'];
  readonly lastEventId: GraphContext['lastEventId'];
  readonly loaders: GraphContext['loaders'];
  readonly onUnknown: GraphContext['onUnknown'];
  readonly upstreamTotals: GraphContext['upstreamTotals'];
  readonly work: GraphContext['work'];
  readonly isTraced: boolean;
  /**
   * The cursor of a list contains the place and the owner only. The cursor of a stream also needs `events` for its
   * place.
   */
  readonly cursors: GraphContext['cursors'];
  readonly #context: GraphContext;
  readonly #dependencies: Dependencies;

  constructor(context: GraphContext, dependencies: Dependencies) {
    this.origin = context.origin;
    this.service = context.service;
    this.versions = context.versions;
    this.portalOrigins = context.portalOrigins;
    this.isProductionService = context.isProductionService;
    this.orgId = context.orgId;
    this.gatewayWebhook = context.gatewayWebhook;
    this.over = context.over;
    this.lastEventId = context.lastEventId;
    this.loaders = context.loaders;
    this.onUnknown = context.onUnknown;
    this.upstreamTotals = context.upstreamTotals;
    this.work = context.work;
    this.isTraced = context.isTraced;
    this.cursors = context.cursors;
    this.#context = context;
    this.#dependencies = dependencies;
  }

  /** The credential has an end and a name of its own. What the caller may see is in `service.rights`. */
  get caller(): GraphContext['caller'] {
    return this.#use('caller');
  }

  get events(): GraphContext['events'] {
    return this.#use('events');
  }

  get idempotency(): GraphContext['idempotency'] {
    return this.#use('idempotency');
  }

  get mintViewerToken(): GraphContext['mintViewerToken'] {
    return this.#use('mintViewerToken');
  }

  get revokeViewerTokens(): GraphContext['revokeViewerTokens'] {
    return this.#use('revokeViewerTokens');
  }

  get documentTickets(): GraphContext['documentTickets'] {
    return this.#use('documentTickets');
  }

  get launchTickets(): GraphContext['launchTickets'] {
    return this.#use('launchTickets');
  }

  get teamId(): GraphContext['teamId'] {
    return this.#use('teamId');
  }

  get onResync(): GraphContext['onResync'] {
    return this.#use('onResync');
  }

  #use<Name extends keyof GraphContext>(name: Name): GraphContext[Name] {
    this.#dependencies.isolate();
    return this.#context[name];
  }
}

/** Records each read of the log: a new event of the subject can change the result, and so can the age of its event. */
export function noteVersions(versions: Versions, dependencies: Dependencies): Versions {
  return {
    changedOf: async (subjects, maxAgeMs) => {
      dependencies.beginRead();
      const latest = await versions.changedOf(subjects, maxAgeMs);
      dependencies.endRead({ tags: subjects.map(tagOfSubject), expiresAt: Number.POSITIVE_INFINITY });
      return latest;
    },
    readLatest: async (subject, latest, maxAgeMs) => {
      dependencies.beginRead();
      const event = await versions.readLatest(subject, latest, maxAgeMs);
      const ageMs = event === null ? Number.NEGATIVE_INFINITY : Date.now() - event.receivedAt.getTime();
      dependencies.endRead({
        tags: [tagOfSubject(subject)],
        expiresAt: performance.now() + maxAgeMs - ageMs,
      });
      return event;
    },
  };
}
