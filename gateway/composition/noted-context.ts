import type { Versions } from '../events/log.ts';
import type { GraphContext } from '../graph/context.ts';
import { tagOfSubject } from '../service/tags.ts';
import type { Dependencies } from '../service/trace.ts';

/**
 * The context of an operation whose answer others may be given. Its fields say the same for all of one caller's equal
 * operations, or note what they do. Each use of a getter isolates the answer. A member that is added to the context must
 * be added here, as one or the other.
 */
export class NotedContext implements GraphContext {
  readonly caller: GraphContext['caller'];
  readonly origin: GraphContext['origin'];
  readonly service: GraphContext['service'];
  readonly versions: GraphContext['versions'];
  readonly portalOrigins: GraphContext['portalOrigins'];
  readonly over: GraphContext['over'];
  readonly lastEventId: GraphContext['lastEventId'];
  readonly loaders: GraphContext['loaders'];
  readonly onUnknown: GraphContext['onUnknown'];
  readonly upstreamTotals: GraphContext['upstreamTotals'];
  readonly work: GraphContext['work'];
  readonly isTraced: boolean;
  /** The cursor of a list says its place in the list and whose it is; that of a stream needs `events` for its place. */
  readonly cursors: GraphContext['cursors'];
  readonly #context: GraphContext;
  readonly #dependencies: Dependencies;

  constructor(context: GraphContext, dependencies: Dependencies) {
    this.caller = context.caller;
    this.origin = context.origin;
    this.service = context.service;
    this.versions = context.versions;
    this.portalOrigins = context.portalOrigins;
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

/** Notes each look into the log: news of the subject, and the age of its event, can change what it says. */
export function noteVersions(versions: Versions, dependencies: Dependencies): Versions {
  return {
    latest: async (subject) => {
      dependencies.beginRead();
      const latest = await versions.latest(subject);
      dependencies.endRead({ tags: [tagOfSubject(subject)], expiresAt: Number.POSITIVE_INFINITY });
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
