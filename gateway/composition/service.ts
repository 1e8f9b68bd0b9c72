import type { Caller, OnAccess, Rights } from '../auth/rights.ts';
import { SharedCache } from '../cache/shared-cache.ts';
import { listOrders, ordersPath } from '../domain/order/read/rest.ts';
import { listUsers } from '../domain/user/rest.ts';
import type { AppendNotice } from '../events/log.ts';
import { Upstream, type UpstreamOptions } from '../service/client.ts';
import type { bindService, Service, ServiceOptions } from '../service/service.ts';
import { type Change, readTouched, toText, touchedBy } from '../service/tags.ts';
import type { WebhookOutcome } from '../webhooks/endpoint.ts';
import type { Core } from './core.ts';
import { teamMark } from './webhook-readers.ts';

/** The timeout of readiness checks, which need an answer soon even if the service is slow. */
const probeMs = 2000;
/** The pause after a failed attempt to learn the team. */
const teamRetryMs = 10_000;

export interface ServicesParts {
  readonly upstream: Upstream;
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
}

interface Binding extends Pick<ServiceOptions, 'calls' | 'timeoutMs'> {
  readonly caller: Caller;
  /** Aborts the calls. */
  readonly signal: AbortSignal;
  readonly onAccess?: OnAccess | undefined;
}

/** The service as each caller, and the gateway itself, may use it. Every answer names the team. */
export class Services {
  readonly #core: Core;
  readonly #parts: ServicesParts;
  #teamId: string | null;
  #earlierTeamId: string | null = null;
  #asking: Promise<unknown> | null = null;

  constructor(core: Core, parts: ServicesParts) {
    this.#core = core;
    this.#parts = parts;
    this.#teamId = core.config.teamId;
  }

  /** The configured team, else the team in the service's first answer. */
  get teamId(): string | null {
    return this.#teamId;
  }

  bind({ caller, onAccess, ...operation }: Binding): Service {
    return this.#parts.bindService(this.#parts.upstream, {
      ...operation,
      rights: this.#parts.createRights(caller, onAccess),
      paths: { [ordersPath]: this.#core.config.ordersPath },
      onTeam: (id) => this.#noteTeam(id),
      onUnreadable: this.#core.metrics.countUnreadable,
    });
  }

  /** The service as the gateway itself uses it, not on behalf of a caller. */
  bindOwn(signal: AbortSignal): Service {
    return this.bind({ caller: { kind: 'TEAM' }, signal });
  }

  /** Whether the service answers, within two seconds, both lists that everything starts from. */
  async isReachable(): Promise<boolean> {
    return await this.#probe((service) =>
      Promise.all([
        listUsers(service, { offset: 0, limit: 1 }),
        listOrders(service, {}, { page: 1, size: 1 }),
      ]),
    );
  }

  /**
   * The team whose events are delivered. Asks the service if no answer has named the team yet, with `earlier` only if no
   * earlier run has learned it either: webhooks do not wait for the service after a restart. Null if it is unknown: every
   * signed event is then accepted as ours.
   */
  async learnTeam(from: 'earlier' | 'service'): Promise<string | null> {
    if (this.#teamId !== null) return this.#teamId;
    this.#earlierTeamId ??= await this.#core.store.log.readMark(teamMark).catch(() => null);
    if (from === 'service' || this.#earlierTeamId === null) await this.#askForTeam();
    // The earlier team is not assigned to `#teamId`: the service's first answer may correct it.
    return this.#teamId ?? this.#earlierTeamId;
  }

  #noteTeam(id: string): void {
    if (this.#teamId !== null) return;
    this.#teamId = id.toLowerCase();
    // Stored for commands, and for a start while the service is unavailable. If the log cannot be written now, the next
    // start writes it.
    this.#core.store.log.writeMark(teamMark, this.#teamId).catch(() => undefined);
  }

  /** One call at a time, with a pause after it. */
  #askForTeam(): Promise<unknown> {
    this.#asking ??= this.#probe((service) => listUsers(service, { offset: 0, limit: 1 })).finally(() => {
      const forget = () => {
        this.#asking = null;
      };
      setTimeout(forget, teamRetryMs).unref();
    });
    return this.#asking;
  }

  async #probe(ask: (service: Service) => Promise<unknown>): Promise<boolean> {
    try {
      await ask(this.bindOwn(AbortSignal.timeout(probeMs)));
      return true;
    } catch {
      return false;
    }
  }
}

export interface ServiceClient {
  readonly upstream: Upstream;
  /** Shared by reads of the service and whole answers; stores nothing with READ_CACHE_SECONDS=0. */
  readonly cache: SharedCache;
  /**
   * Whether the cache has been notified of all events that any gateway received; false while webhooks cannot be stored.
   */
  readonly catchUp: () => Promise<boolean> | boolean;
  /**
   * Notes the outcome of each webhook. While webhooks cannot be stored, answers that depend on events are not taken
   * from the cache.
   */
  readonly noteOutcome: (outcome: WebhookOutcome) => void;
}

export interface UpstreamParts {
  readonly serviceUrl: string;
  readonly readKey: UpstreamOptions['readKey'];
}

/** Counts the calls to the service, and logs those that failed. */
export function observeCalls({
  log,
  metrics,
}: Pick<Core, 'log' | 'metrics'>): Pick<UpstreamOptions, 'onCall' | 'onFailure'> {
  return {
    onCall: (operation, outcome, seconds) => {
      metrics.upstreamCalls.inc({ operation, outcome });
      metrics.upstreamSeconds.observe({ operation }, seconds);
    },
    onFailure: ({ operation, method }, { code, status, reason }) =>
      log.debug('service.failed', {
        ...{ operation, method, code },
        ...(status === undefined ? {} : { status }),
        ...(reason === undefined ? {} : { characters: reason.length }),
      }),
  };
}

/** Outcomes that show that the log can be written. */
const taken: ReadonlySet<WebhookOutcome> = new Set(['accepted', 'duplicate', 'altered', 'dead']);

/**
 * The service behind a cache. The event log invalidates the cache before it wakes a waiter and before a webhook is
 * acknowledged. So no answer that is given after a change is older than the change, at any gateway over the log.
 */
export function openServiceClient(
  { serviceUrl, readKey }: UpstreamParts,
  { config, log, metrics, store }: Pick<Core, 'config' | 'log' | 'metrics' | 'store'>,
): ServiceClient {
  const cache = new SharedCache({ ttlMs: config.readCacheSeconds * 1000 });
  let isMissingWebhooks = false;
  const catchUp = () => {
    if (isMissingWebhooks) return false;
    const caughtUp = store.log.catchUp();
    if (caughtUp === null) return true;
    return caughtUp.then(
      () => true,
      () => false,
    );
  };
  const upstream = new Upstream({
    url: serviceUrl,
    apiKey: config.service.apiKey,
    apiKeyHeader: config.apiKeyHeader,
    usesProxy: config.service.usesProxy,
    ...observeCalls({ log, metrics }),
    onCache: (outcome, operation) => {
      if (outcome === 'joined') metrics.upstreamShared.inc({ operation });
      else metrics.readCache.inc({ outcome: outcome === 'cached' ? 'hit' : outcome });
    },
    onDropped: (why) => metrics.readCache.inc({ outcome: why }),
    cache,
    readKey,
    catchUp,
    // Called even if this gateway caches nothing, because others may. If it cannot reach the log, the TTL bounds the
    // age of their answers.
    onWritten: (touched) => store.log.publish(toText(touched)).catch(() => undefined),
  });
  store.log.onAppend((notice) =>
    cache.invalidate(notice === null ? 'everything' : touchedBy(toChange(notice))),
  );
  store.log.subscribe((message) => cache.invalidate(readTouched(message)));
  return {
    upstream,
    cache,
    catchUp,
    noteOutcome: (outcome) => {
      if (taken.has(outcome)) isMissingWebhooks = false;
      if (outcome !== 'unavailable') return;
      isMissingWebhooks = true;
      cache.invalidate('everything');
    },
  };
}

function toChange({ userId, subject }: AppendNotice): Change {
  return { userId, subjectId: subject?.id ?? null, by: 'event' };
}
