import { type Caller, type OnAccess, Rights } from '../auth/rights.ts';
import {
  createDocumentTickets,
  createLaunchTickets,
  type DocumentTickets,
  type LaunchTickets,
} from '../auth/tickets.ts';
import { Idempotency } from '../events/idempotency.ts';
import { createVersions } from '../events/log.ts';
import { createScheduler } from '../execution/scheduler.ts';
import { createLoaders, type GraphContext } from '../graph/context.ts';
import type { CreateContext } from '../http/yoga.ts';
import type { Upstream } from '../service/client.ts';
import { bindService } from '../service/service.ts';
import { type Dependencies, TracedUpstream } from '../service/trace.ts';
import type { Core } from './core.ts';
import { NotedContext, noteVersions } from './noted-context.ts';
import { Services } from './services.ts';

/** How the parts are made that decide what a caller sees, and what operations share. */
export interface ContextFactories {
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
  readonly createLoaders: typeof createLoaders;
}

export interface ContextParts {
  readonly upstream: Upstream;
  /** Origins a portal link may have beyond PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins: readonly string[];
  /** Ours if left out. */
  readonly factories: Partial<ContextFactories> | undefined;
}

export interface Contexts {
  /** Makes what resolvers reach, for one operation of one caller. */
  readonly create: CreateContext;
  readonly documentTickets: DocumentTickets;
  readonly launchTickets: LaunchTickets;
  readonly services: Services;
}

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
    const traced = new TracedUpstream(parts.upstream, dependencies);
    const onAccess = watchAgain(trail?.watch ?? null, { caller, dependencies });
    const service = services.bind(traced, { caller, signal: left, onAccess });
    const work = scheduler.begin(caller, left);
    const context: GraphContext = {
      ...createTokenActions(core, { caller, onAccess }),
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
      over,
      lastEventId: lastEventId ?? null,
      loaders: make.createLoaders(service, work),
      onUnknown: oncePerValue((field, value) => {
        metrics.countUnknown(field, value);
        dependencies?.addReport(`unknown ${field} ${value}`, () => metrics.countUnknown(field, value));
      }),
      onResync: (reason) => metrics.resyncs.inc({ reason }),
      upstreamTotals: () => traced.totals(),
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

/** The audit trail, with a report of each access for everybody else who is given the answer. */
function watchAgain(
  watch: ((caller: Caller) => OnAccess) | null,
  { caller, dependencies }: Reporting,
): OnAccess | undefined {
  const record = watch?.(caller);
  if (!watch || record === undefined || dependencies === undefined) return record;
  return (access) => {
    record(access);
    const { kind, userId, outcome } = access;
    dependencies.addReport(`${kind} ${outcome} ${userId}`, () => watch(caller)(access));
  };
}

/** One page of rows with one new value is one finding, and so is a subscription that shows it again and again. */
function oncePerValue(tell: GraphContext['onUnknown']): GraphContext['onUnknown'] {
  // Made with the first finding: there is seldom one.
  let told: Set<string> | null = null;
  return (field, value) => {
    const key = `${field} ${value}`;
    if (told?.has(key)) return;
    told = (told ?? new Set()).add(key);
    tell(field, value);
  };
}
