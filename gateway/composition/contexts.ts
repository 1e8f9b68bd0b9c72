import type { Caller, UserCaller } from '../auth/caller.ts';
import type { Revocation } from '../auth/revocations.ts';
import { type OnAccess, Rights } from '../auth/rights.ts';
import {
  createDocumentTickets,
  createLaunchTickets,
  type DocumentTickets,
  type LaunchTickets,
} from '../auth/tickets.ts';
import type { ViewerTokens } from '../auth/viewer-tokens.ts';
import type { Config } from '../config/config.ts';
import { listOrders, ordersPath } from '../domain/order/read/rest.ts';
import { listUsers } from '../domain/user/rest.ts';
import { Idempotency } from '../events/idempotency.ts';
import type { GapReason } from '../events/log.ts';
import type { EventStore } from '../events/open.ts';
import { createVersions } from '../events/versions.ts';
import type { Scheduler } from '../execution/scheduler.ts';
import { createLoaders, type GraphContext } from '../graph/context.ts';
import type { CreateContext } from '../http/yoga.ts';
import type { Upstream } from '../service/client.ts';
import type { Dependencies } from '../service/dependencies.ts';
import { bindService, type Service } from '../service/service.ts';
import { type Asked, traceUpstream } from '../service/trace.ts';
import { NotedContext, noteVersions } from './noted-context.ts';
import { teamMark } from './webhook-readers.ts';

/** Probes want their answer soon, whatever the service does. */
const probeMs = 2000;
/** How long after a failed try to learn the team it is not tried again. */
const teamRetryMs = 10_000;

/** How the parts are made that decide what a caller sees, and what operations share. */
export interface ContextFactories {
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
  readonly createLoaders: typeof createLoaders;
}

export interface ContextParts {
  readonly config: Config;
  readonly store: EventStore;
  readonly upstream: Upstream;
  /** What accounts for each access of a caller; null = nothing does. */
  readonly watch: ((caller: Caller) => OnAccess) | null;
  readonly mint: ViewerTokens['mint'];
  readonly revoke: (what: Omit<Revocation, 'at'>, by: Caller) => Promise<Date>;
  readonly isRevoked: (caller: UserCaller) => boolean;
  /** Origins a portal link may have beyond PORTAL_ORIGINS: the embedded sandbox's own. */
  readonly portalOrigins: readonly string[];
  /** Told once per operation of a value of an open enum field that the graph does not know. */
  readonly onUnknown: (field: string, value: string) => void;
  /** Told of rows of the service that could not be read, and where they stood. */
  readonly onUnreadable: (operation: string, path: string, rows: number) => void;
  /** Told of a stream that had to begin anew. */
  readonly onResync: (reason: GapReason) => void;
  /** Shares the processor between operations. */
  readonly scheduler: Scheduler;
  /** Ours where left out. */
  readonly factories?: Partial<ContextFactories> | undefined;
}

export interface Contexts {
  /** Makes what resolvers reach, for one operation of one caller. */
  readonly create: CreateContext;
  readonly documentTickets: DocumentTickets;
  readonly launchTickets: LaunchTickets;
  /** The service as the gateway itself uses it, not on behalf of a caller. */
  readonly ownService: (signal: AbortSignal) => Service;
  /**
   * The team whose events are delivered: as configured, else as the service's first answer named it; asks the
   * service when nothing has yet, and goes by what an earlier run learned while it does not answer. Null when it cannot be learned now: a signed event is then taken as ours.
   */
  readonly learnTeam: () => Promise<string | null>;
  /** Whether the service answers both lists that everything starts from, within two seconds. */
  readonly isServiceReachable: () => Promise<boolean>;
}

export function createContexts(parts: ContextParts): Contexts {
  const { config, store, upstream, mint } = parts;
  const make: ContextFactories = {
    createRights: (caller, onAccess) => new Rights(caller, onAccess),
    bindService,
    createLoaders,
    ...parts.factories,
  };
  const versions = createVersions(store.log);
  const idempotency = new Idempotency(store.idempotencyRecords);
  const documentTickets = createDocumentTickets(store.oneTimeValues, parts.isRevoked);
  const launchTickets = createLaunchTickets(store.oneTimeValues, parts.isRevoked);
  const portalOrigins = [...config.portalOrigins, ...parts.portalOrigins];
  let teamId = config.teamId;
  const noteTeam = (id: string) => {
    if (teamId !== null) return;
    teamId = id.toLowerCase();
    // For commands, and for a start while the service is away. One that is lost because the log cannot be written now is written at the next start.
    store.log.writeMark(teamMark, teamId).catch(() => undefined);
  };

  /** What an earlier run learned: not `teamId`, which the service's first answer sets right. */
  const readTeamMark = () => store.log.readMark(teamMark).catch(() => null);

  const bind = (to: Asked, { caller, signal, onAccess }: Bound) =>
    make.bindService(to, {
      rights: make.createRights(caller, onAccess),
      paths: { [ordersPath]: config.ordersPath },
      signal,
      onTeam: noteTeam,
      onUnreadable: parts.onUnreadable,
    });

  const create: CreateContext = ({
    caller,
    left,
    over,
    origin = null,
    isTraced = false,
    lastEventId = null,
    dependencies,
  }) => {
    const traced = traceUpstream(upstream, dependencies);
    const onAccess = watchAgain(parts.watch, { caller, dependencies });
    const service = bind(traced.upstream, { caller, signal: left, onAccess });
    const work = parts.scheduler.begin(caller, left);
    const context: GraphContext = {
      caller,
      origin,
      service,
      events: store.log,
      versions: dependencies === undefined ? versions : noteVersions(versions, dependencies),
      cursors: store.cursors,
      idempotency,
      mintViewerToken: async (claims) => {
        const token = await mint(claims);
        onAccess?.({ kind: 'write viewer-token.create', userId: claims.userId, outcome: 'ok' });
        return token;
      },
      revokeViewerTokens: async (what) => {
        const at = await parts.revoke(what, caller);
        onAccess?.({ kind: 'write viewer-token.revoke', userId: what.userId, outcome: 'ok' });
        return at;
      },
      documentTickets,
      launchTickets,
      portalOrigins,
      teamId: () => teamId,
      over,
      lastEventId,
      loaders: make.createLoaders(service, work),
      onUnknown: oncePerValue((field, value) => {
        parts.onUnknown(field, value);
        dependencies?.addReport(`unknown ${field} ${value}`, () => parts.onUnknown(field, value));
      }),
      onResync: parts.onResync,
      upstreamTotals: traced.totals,
      work,
      isTraced: isTraced && service.rights.has('gateway-key'),
    };
    return dependencies === undefined ? context : new NotedContext(context, dependencies);
  };

  const ownService = (signal: AbortSignal) =>
    bind(upstream, { caller: { kind: 'TEAM' }, signal, onAccess: undefined });

  const probe = async (ask: (service: Service) => Promise<unknown>): Promise<boolean> => {
    const signal = AbortSignal.timeout(probeMs);
    try {
      await ask(ownService(signal));
      return true;
    } catch {
      return false;
    }
  };
  const askForTeam = throttle(() => probe((service) => listUsers(service, { offset: 0, limit: 1 })));

  return {
    create,
    documentTickets,
    launchTickets,
    ownService,
    learnTeam: async () => {
      if (teamId === null) await askForTeam();
      return teamId ?? (await readTeamMark());
    },
    isServiceReachable: () =>
      probe((service) =>
        Promise.all([
          listUsers(service, { offset: 0, limit: 1 }),
          listOrders(service, {}, { page: 1, size: 1 }),
        ]),
      ),
  };
}

/** Whose service it is. */
interface Bound {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly onAccess: OnAccess | undefined;
}

interface Reporting {
  readonly caller: Caller;
  readonly dependencies: Dependencies | undefined;
}

/** The audit trail, with a report of each access for everybody else who is given the answer. */
function watchAgain(watch: ContextParts['watch'], { caller, dependencies }: Reporting): OnAccess | undefined {
  const tell = watch?.(caller);
  if (!watch || tell === undefined || dependencies === undefined) return tell;
  return (access) => {
    tell(access);
    const { kind, userId, outcome } = access;
    dependencies.addReport(`${kind} ${outcome} ${userId}`, () => watch(caller)(access));
  };
}

/** One page of rows with one new value is one finding, and so is a subscription that shows it again and again. */
function oncePerValue(tell: ContextParts['onUnknown']): ContextParts['onUnknown'] {
  // Made with the first finding: there is seldom one.
  let told: Set<string> | null = null;
  return (field, value) => {
    const key = `${field} ${value}`;
    if (told?.has(key)) return;
    told = (told ?? new Set()).add(key);
    tell(field, value);
  };
}

/** Runs one at a time, and not again for a while after it has ended. */
function throttle(run: () => Promise<unknown>): () => Promise<unknown> {
  let running: Promise<unknown> | null = null;
  return () => {
    running ??= run().finally(() => {
      setTimeout(() => {
        running = null;
      }, teamRetryMs).unref();
    });
    return running;
  };
}
