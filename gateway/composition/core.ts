import { type AuditTrail, openAuditTrail } from '../audit/trail.ts';
import { createRateLimits, type RateLimits } from '../auth/rate-limits.ts';
import { memoize } from '../cache/memoize.ts';
import type { Config } from '../config/config.ts';
import { GatewayError } from '../errors.ts';
import { cursorLagSeconds } from '../events/follow.ts';
import { type EventStore, openEventStore } from '../events/open.ts';
import { createTrustedDocuments, type TrustedDocuments } from '../execution/document/trusted-documents.ts';
import type { Log } from '../log.ts';
import { createMetrics, type Metrics } from '../metrics.ts';
import { type Callers, openCallers } from './callers.ts';

/** Readiness and metrics are public, so their answers are cached for this long. */
export const probeEveryMs = 1000;
/** Where the widget is built to. */
export const widgetFolder = new URL('../../widget/dist/', import.meta.url);

/** The parts of a gateway that most other parts depend on. */
export interface Core {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: EventStore;
  /** Null with AUDIT_TRAIL=off. */
  readonly trail: AuditTrail | null;
  readonly callers: Callers;
  readonly rateLimits: RateLimits;
  readonly trustedDocuments: TrustedDocuments;
  /** Whether each store can be written; null for an audit trail that is off. */
  readonly isLogWritable: () => Promise<boolean>;
  readonly isTrailWritable: () => boolean | null;
  readonly isAllowedOrigin: (origin: string) => boolean;
  /** Also allows pages of this machine and of the gateway's own address: for the embedded sandbox. */
  readonly allowLocalOrigins: (url: string) => void;
  /** Whether the gateway is about to stop, and still answers. */
  isDraining: boolean;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortController;
}

export interface CoreParts {
  readonly config: Config;
  readonly log: Log;
  /** The event log, if it is being opened already. */
  readonly store: Promise<EventStore> | undefined;
}

/**
 * Opens the event log and the audit trail, and makes the parts that authenticate callers.
 * @throws GatewayError EVENT_LOG_LOCKED, EVENT_LOG_DAMAGED, EVENT_LOG_WEAK, EVENT_LOG_UNAVAILABLE, or CONFIG_INVALID
 *   for an audit trail that cannot be written
 */
export async function openCore({ config, log, store: opening }: CoreParts): Promise<Core> {
  const metrics = createMetrics();
  const store = await (opening ?? openEventStore(config.eventLog, { keys: config.eventLogKeys, log }));
  // Afterwards, because each start of the trail is a file: a supervisor starts a gateway without a log once a second.
  const trail = await openTrail(config, log, metrics);
  const isLogWritable = memoize(() => store.log.isWritable(), probeEveryMs);
  const isTrailWritable = () => trail?.isWritable() ?? null;
  metrics.watchEventLog(config.eventLog.kind, isLogWritable);
  metrics.watchExtent(() => store.log.measure());
  metrics.watchCursors(() => cursorLagSeconds(store.log));
  if (trail !== null) metrics.watchAuditTrail(() => trail.isWritable());
  const allowedOrigins = new Set(config.allowedOrigins);
  let isLocalAllowed = false;
  return {
    config,
    log,
    metrics,
    store,
    trail,
    callers: await openCallers({ config, marks: store.log, log }),
    rateLimits: createRateLimits({ ...config.limits, runShared: store.runShared }),
    trustedDocuments: openTrustedDocuments(config, log, metrics),
    isLogWritable,
    isTrailWritable,
    isAllowedOrigin: (origin) => allowedOrigins.has(origin) || (isLocalAllowed && localOrigin.test(origin)),
    allowLocalOrigins: (url) => {
      allowedOrigins.add(url);
      isLocalAllowed = true;
    },
    isDraining: false,
    stopping: new AbortController(),
  };
}

/** Development servers have any port of this machine. */
const localOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

async function openTrail({ auditTrail }: Config, log: Log, metrics: Metrics): Promise<AuditTrail | null> {
  if (auditTrail === null) return null;
  const { folder, keys } = auditTrail;
  const onRecords = (outcome: string, count: number) => metrics.auditRecords.inc({ outcome }, count);
  try {
    return await openAuditTrail({ folder, keys, log, onRecords });
  } catch (cause) {
    const message = '- AUDIT_TRAIL names a folder that cannot be read and written.';
    throw new GatewayError('CONFIG_INVALID', message, { cause });
  }
}

function openTrustedDocuments(config: Config, log: Log, metrics: Metrics): TrustedDocuments {
  const { mode, files } = config.persistedOperations;
  return createTrustedDocuments({
    mode,
    files,
    whereBuilt: [new URL('operations.json', widgetFolder)],
    onUntrusted: (documentHash) => {
      metrics.unlistedOperations.inc();
      if (documentHash !== null) log.info('operation.unlisted', { documentHash });
    },
  });
}
