import { SharedCache } from '../cache/shared-cache.ts';
import type { Config } from '../config/config.ts';
import type { AppendNotice, EventLog } from '../events/log.ts';
import type { Metrics } from '../metrics.ts';
import { Upstream, type UpstreamOptions } from '../service/client.ts';
import { type Change, readTouched, toText, touchedBy } from '../service/tags.ts';
import type { WebhookOutcome } from '../webhooks/endpoint.ts';

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
