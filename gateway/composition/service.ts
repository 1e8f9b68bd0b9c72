import type { Caller, OnAccess, Rights } from '../auth/rights.ts';
import { SharedCache } from '../cache/shared-cache.ts';
import type { Config } from '../config/config.ts';
import { listOrders, ordersPath } from '../domain/order/read/rest.ts';
import { listUsers } from '../domain/user/rest.ts';
import type { AppendNotice, EventLog } from '../events/log.ts';
import type { Metrics } from '../metrics.ts';
import { Upstream, type UpstreamOptions } from '../service/client.ts';
import type { bindService, Service } from '../service/service.ts';
import { type Change, readTouched, toText, touchedBy } from '../service/tags.ts';
import type { Asked } from '../service/trace.ts';
import type { WebhookOutcome } from '../webhooks/endpoint.ts';
import type { Core } from './core.ts';
import { teamMark } from './webhook-readers.ts';

/** Probes need their answer soon, however slow the service is. */
const probeMs = 2000;
/** Time from a failed attempt to learn the team to the next. */
const teamRetryMs = 10_000;

export interface ServicesParts {
  readonly upstream: Upstream;
  readonly createRights: (caller: Caller, onAccess?: OnAccess) => Rights;
  readonly bindService: typeof bindService;
}

interface Binding {
  readonly caller: Caller;
  /** Aborts the calls. */
  readonly signal: AbortSignal;
  readonly onAccess: OnAccess | undefined;
}

/** The service as each caller, and the gateway itself, may use it. Every answer names the team. */
export class Services {
  readonly #core: Core;
  readonly #parts: ServicesParts;
  #teamId: string | null;
  #asking: Promise<unknown> | null = null;

  constructor(core: Core, parts: ServicesParts) {
    this.#core = core;
    this.#parts = parts;
    this.#teamId = core.config.teamId;
  }

  /** As configured, otherwise as the service's first answer named it. */
  get teamId(): string | null {
    return this.#teamId;
  }

  bind(to: Asked, { caller, signal, onAccess }: Binding): Service {
    return this.#parts.bindService(to, {
      rights: this.#parts.createRights(caller, onAccess),
      paths: { [ordersPath]: this.#core.config.ordersPath },
      signal,
      onTeam: (id) => this.#noteTeam(id),
      onUnreadable: this.#core.metrics.countUnreadable,
    });
  }

  /** The service as the gateway itself uses it, not on behalf of a caller. */
  bindOwn(signal: AbortSignal): Service {
    return this.bind(this.#parts.upstream, { caller: { kind: 'TEAM' }, signal, onAccess: undefined });
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
   * The team whose events are delivered. Asks the service if no answer has named it yet; while the service does not answer,
   * the team that an earlier run learned counts. Null if nobody knows it: a signed event is then taken as ours.
   */
  async learnTeam(): Promise<string | null> {
    if (this.#teamId === null) await this.#askForTeam();
    // Not assigned to `#teamId`: the service's first answer may correct it.
    return this.#teamId ?? (await this.#core.store.log.readMark(teamMark).catch(() => null));
  }

  #noteTeam(id: string): void {
    if (this.#teamId !== null) return;
    this.#teamId = id.toLowerCase();
    // For commands, and for a start while the service is away. If the log cannot be written now, the next start writes it.
    this.#core.store.log.writeMark(teamMark, this.#teamId).catch(() => undefined);
  }

  /** One call at a time, and none for a while after it. */
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
  /** Whether all news that anybody has received have reached the cache by now; not while webhooks cannot be stored. */
  readonly catchUp: () => Promise<boolean>;
  /** Notes what became of each webhook: while they cannot be stored, nothing that depends on them is given from the cache. */
  readonly noteIntake: (outcome: WebhookOutcome) => void;
}

export interface UpstreamParts {
  readonly config: Config;
  readonly serviceUrl: string;
  readonly readKey: UpstreamOptions['readKey'];
}

/** What shows that the log takes webhooks. */
const taken: ReadonlySet<WebhookOutcome> = new Set(['accepted', 'duplicate', 'altered', 'dead']);

/**
 * The service behind a cache that the event log invalidates, before anyone is woken and before a webhook is acknowledged:
 * an answer given after a change is never from before it, at any gateway over the log.
 */
export function openServiceClient(
  { config, serviceUrl, readKey }: UpstreamParts,
  { log, metrics }: { readonly log: EventLog; readonly metrics: Metrics },
): ServiceClient {
  const cache = new SharedCache({ ttlMs: config.readCacheSeconds * 1000 });
  let isMissingWebhooks = false;
  const catchUp = async () => {
    if (isMissingWebhooks) return false;
    return await log.catchUp().then(
      () => true,
      () => false,
    );
  };
  const upstream = new Upstream({
    url: serviceUrl,
    apiKey: config.service.apiKey,
    apiKeyHeader: config.apiKeyHeader,
    onCall: (operation, outcome, seconds) => {
      metrics.upstreamCalls.inc({ operation, outcome });
      metrics.upstreamSeconds.observe({ operation }, seconds);
    },
    onCache: (outcome, operation) => {
      if (outcome === 'joined') metrics.upstreamShared.inc({ operation });
      else metrics.readCache.inc({ outcome: outcome === 'cached' ? 'hit' : outcome });
    },
    cache,
    readKey,
    catchUp,
    // Also where this gateway stores nothing: others may. Where only this one cannot reach the log, the TTL bounds what they give.
    onWritten: (touched) => log.publish(toText(touched)).catch(() => undefined),
  });
  log.onAppend((notice) => cache.invalidate(notice === null ? 'everything' : touchedBy(toChange(notice))));
  log.subscribe((message) => cache.invalidate(readTouched(message)));
  return {
    upstream,
    cache,
    catchUp,
    noteIntake: (outcome) => {
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
