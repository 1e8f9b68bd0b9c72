import type { Config } from '../config/config.ts';
import type { AppendNotice, EventLog } from '../events/log.ts';
import type { Metrics } from '../metrics.ts';
import { type Change, readTouched, toText, touchedBy } from '../service/change.ts';
import { createUpstream, type Upstream, type UpstreamOptions } from '../service/client.ts';
import type { WebhookOutcome } from '../webhooks/endpoint.ts';

export interface HeardUpstream {
  readonly upstream: Upstream;
  /** Whether all news that anybody has heard were told to it by now; not while webhooks cannot be kept. */
  readonly hearNews: () => Promise<boolean>;
  /** Told what became of each webhook: while they cannot be kept, nothing that rests on them is. */
  readonly noteIntake: (outcome: WebhookOutcome) => void;
}

export interface UpstreamParts {
  readonly config: Config;
  readonly serviceUrl: string;
  readonly factories?: { readonly readKey?: UpstreamOptions['readKey'] };
}

/** What shows that the log takes webhooks. */
const heard: ReadonlySet<WebhookOutcome> = new Set(['accepted', 'duplicate', 'altered', 'dead']);

/**
 * The service, whose answers are kept until the event log hears of a change. The log tells it before anyone is woken
 * and before a webhook is acknowledged: what anybody asks after a change is never an answer from before it, at any
 * gateway over the log.
 */
export function openUpstream(
  { config, serviceUrl, factories }: UpstreamParts,
  { log, metrics }: { readonly log: EventLog; readonly metrics: Metrics },
): HeardUpstream {
  let isDeaf = false;
  const hearNews = async () => {
    if (isDeaf) return false;
    return await log.catchUp().then(
      () => true,
      () => false,
    );
  };
  const upstream = createUpstream({
    url: serviceUrl,
    apiKey: config.service.apiKey,
    apiKeyHeader: config.apiKeyHeader,
    onCall: (operation, outcome, seconds) => {
      metrics.upstreamCalls.inc({ operation, outcome });
      metrics.upstreamSeconds.observe({ operation }, seconds);
    },
    onAnswered: (operation, by) => {
      if (by === 'shared') metrics.upstreamShared.inc({ operation });
      else metrics.readCache.inc({ outcome: 'hit' });
    },
    onMissed: (why) => metrics.readCache.inc({ outcome: why }),
    onDropped: (why) => metrics.readCache.inc({ outcome: why }),
    keepMs: config.readCacheSeconds * 1000,
    readKey: factories?.readKey,
    hearNews,
    // Told even where this gateway keeps nothing: others may. Where the log is out of reach only for this one, time tells them.
    onWritten: (touched) => log.publish(toText(touched)).catch(() => undefined),
  });
  log.onAppend((notice) => upstream.change(notice === null ? 'everything' : touchedBy(toChange(notice))));
  log.subscribe((message) => upstream.change(readTouched(message)));
  return {
    upstream,
    hearNews,
    noteIntake: (outcome) => {
      if (heard.has(outcome)) isDeaf = false;
      if (outcome !== 'unavailable') return;
      isDeaf = true;
      upstream.change('everything');
    },
  };
}

function toChange({ userId, subject }: AppendNotice): Change {
  return { userId, orderId: subject?.id ?? null, by: 'news' };
}
