import DataLoader from 'dataloader';
import type { Revocation } from '../auth/revocations.ts';
import type { Caller } from '../auth/rights.ts';
import type { DocumentTickets, LaunchTickets } from '../auth/tickets.ts';
import type { ViewerTokens } from '../auth/viewer-tokens.ts';
import type { Cursors } from '../events/cursor.ts';
import type { Idempotency } from '../events/idempotency.ts';
import type { EventLog, GapReason, Versions } from '../events/log.ts';
import type { Service } from '../service/service.ts';
import type { UpstreamTotals } from '../service/trace.ts';
import type { Work } from './cost.ts';

/** Everything a resolver can reach. One per operation; a subscription has one for its whole life. */
export interface GraphContext {
  readonly caller: Caller;
  /** The browser's `Origin`, as it was sent; null where none was. */
  readonly origin: string | null;
  /** The service as this caller may use it: every answer has passed the owner check. */
  readonly service: Service;
  readonly events: EventLog;
  /** The newest versions that the log has of subjects, such as orders. */
  readonly versions: Versions;
  readonly cursors: Cursors;
  readonly idempotency: Idempotency;
  readonly mintViewerToken: ViewerTokens['mint'];
  /** Revokes viewer tokens; returns the time of the revocation. */
  readonly revokeViewerTokens: (what: Omit<Revocation, 'at'>) => Promise<Date>;
  readonly documentTickets: DocumentTickets;
  readonly launchTickets: LaunchTickets;
  readonly portalOrigins: readonly string[];
  readonly teamId: () => string | null;
  /** Whether the service is known to be a production deployment (SERVICE_DEPLOYMENT). */
  readonly isProductionService: boolean;
  /** The organization of operations that name none, in the management graph; null = none is configured. */
  readonly orgId: string | null;
  /** The webhook that points at this gateway, in the management graph; null in the other one. */
  readonly gatewayWebhook: GatewayWebhook | null;
  /** Aborts when a stream must end: the client has left, its token has ended or the gateway stops. */
  readonly over: AbortSignal;
  /** The `Last-Event-ID` of an EventSource that reconnects; null without the header. */
  readonly lastEventId: string | null;
  readonly loaders: Loaders;
  /** Reports a value of the service for an open enum field (`Order.origin`) that the graph does not know. */
  readonly onUnknown: (field: string, value: string) => void;
  /** Reports that a stream must begin anew because its history is gone. */
  readonly onResync: (reason: GapReason) => void;
  /** The calls that the operation has made to the service so far. */
  readonly upstreamTotals: () => UpstreamTotals;
  /** The processor cost of the operation so far. */
  readonly work: Work;
  /** Whether the answer shows `upstreamTotals`; for gateway keys only. */
  readonly isTraced: boolean;
}

/** `OTHER_TEAM`: it arrived, and events of this team are dead letters here. */
export type TestEventOutcome = 'ARRIVED' | 'OTHER_TEAM' | 'NOT_ARRIVED';

export interface SecretReplacement {
  /** The service signs with it now. */
  readonly secret: string;
  /** The service was seen to sign with it before; null = no such secret is known. */
  readonly replaced: string | null;
}

/** The webhook over which events of the service come to this gateway, and its secrets. `place` names one webhook. */
export interface GatewayWebhook {
  /** The public address of the gateway's webhook endpoint; null = PUBLIC_URL is not set. */
  readonly url: string | null;
  /** Accepts a secret, at every gateway over one event log. Resolves when it is durable. */
  readonly accept: (place: string, secret: string) => Promise<void>;
  /** Ends the secrets with which the service no longer signs. */
  readonly replaceOthers: (place: string, replacement: SecretReplacement) => Promise<void>;
  /** Sends an event to the address and waits until it is stored, for 15 s at most. */
  readonly sendTestEvent: (teamId: string, secret: string) => Promise<TestEventOutcome>;
  /** Whether secrets of this webhook are accepted. */
  readonly hasSecrets: (place: string) => boolean;
  /** Accepts no secret of this webhook any more, or only not this one. */
  readonly dropSecrets: (place: string, secret?: string) => Promise<void>;
  /** Runs one after the other. @throws GatewayError RATE_LIMITED when too many wait */
  readonly inTurn: <T>(run: () => Promise<T>) => Promise<T>;
}

/** A kind of loader: its batch function and its cache key. Defined once, instantiated per operation. */
export interface LoaderKind<Key, Value> {
  readonly batch: (service: Service, keys: readonly Key[]) => Promise<readonly (Value | Error)[]>;
  readonly keyOf: (key: Key) => string;
}

/** The loaders of one operation. */
export interface Loaders {
  readonly of: <Key, Value>(kind: LoaderKind<Key, Value>) => DataLoader<Key, Value, string>;
  /** Drops all loaded values. Called before and after each mutation, whose result must not show earlier values. */
  readonly clear: () => void;
  /** The same, and restarts the time limit of reads. Called before each event of a subscription. */
  readonly beginAnew: () => void;
}

/** Loaders that batch and cache for one operation. */
export function createLoaders(service: Service, work: Work): Loaders {
  // Made with the first loader: most subscriptions that wait need none, and there are many.
  let made: Map<unknown, unknown> | null = null;
  return {
    of: <Key, Value>(kind: LoaderKind<Key, Value>) => {
      const existing = made?.get(kind);
      // The map is keyed by the kind itself, so its value has the kind's types.
      if (existing !== undefined) return existing as DataLoader<Key, Value, string>;
      const loader = new DataLoader<Key, Value, string>((keys) => kind.batch(service, keys), {
        cacheKeyFn: kind.keyOf,
        // Fields that wait for a turn may load more rows; without this a heavy operation would make extra calls.
        batchScheduleFn: (dispatch) => afterMicrotasks(() => work.whenIdle(dispatch)),
      });
      made ??= new Map();
      made.set(kind, loader);
      return loader;
    },
    clear: () => {
      made = null;
      service.readAnew();
    },
    beginAnew: () => {
      made = null;
      service.beginAnew();
    },
  };
}

const resolved = Promise.resolve();

/** As in DataLoader itself: after the callbacks of all promises settled by now have run. */
function afterMicrotasks(run: () => void): void {
  void resolved.then(() => process.nextTick(run));
}

/** Loads each key by itself, a failed one as its Error: for resources without a batch call. */
export function loadEach<Key, Value>(
  keys: readonly Key[],
  load: (key: Key) => Promise<Value>,
): Promise<readonly (Value | Error)[]> {
  return Promise.all(
    keys.map((key) =>
      load(key).catch((error: unknown) => (error instanceof Error ? error : new Error('The load failed.'))),
    ),
  );
}
