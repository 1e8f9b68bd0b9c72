import { type Caller, Rights, rightsKeyOf } from '../auth/rights.ts';
import type { LoadControl, SharedCache } from '../cache/shared-cache.ts';
import type { DocumentCache } from '../execution/document/prepared-document.ts';
import type { Metrics } from '../metrics.ts';
import { Dependencies, type Report } from '../service/trace.ts';
import { isCompressible } from './compressed-answers.ts';
import type { AnswerDirectly, DirectRequest } from './direct-path.ts';
import type { DirectAnswer } from './direct-request.ts';

/** Writing this many bytes takes about as much processor time as a request. */
const bytesPerPoint = 64 * 1024;
const bytesPerReport = 200;

export interface WholeAnswersOptions {
  readonly cache: SharedCache;
  /** Whether the cache has been notified of every event of the log. */
  readonly catchUp: () => Promise<boolean> | boolean;
  readonly metrics: Metrics;
  /** Long requests without a cached answer take turns. */
  readonly documents: Pick<DocumentCache, 'waitForTurn'>;
  /** Requests without a cached answer wait while all connections to the service are busy (service/connections.ts). */
  readonly waitForConnection: (caller: Caller) => Promise<void> | null;
  /** Charges points for an answer that was made for another request. */
  readonly charge: (caller: Caller, points: number) => void;
  /** Requests with equal keys share an answer. Default: one key for equal rights and equal requests. */
  readonly answerKey?: ((request: DirectRequest) => string) | undefined;
}

interface WholeAnswer {
  /** Null for requests that Yoga answers. */
  readonly answer: DirectAnswer | null;
  /** The operation's reports to metrics and the audit trail. */
  readonly reports: readonly Report[];
}

/**
 * Answers equal queries of callers with equal rights with the same bytes: those of a cached answer, until one of its
 * reads expires or is invalidated, or those of an answer in flight. The caller is authenticated and charged. The
 * operation's reports to metrics and the audit trail are repeated for it.
 */
export function shareWholeAnswers(
  options: WholeAnswersOptions,
  answerDirectly: AnswerDirectly,
): AnswerDirectly {
  const { cache, catchUp, documents, waitForConnection, metrics, charge, answerKey = keyOf } = options;
  const count = (outcome: 'hit' | 'joined' | 'miss' | 'full') => metrics.wholeAnswers.inc({ outcome });
  const onDropped = (why: 'changed' | 'full') => {
    if (why === 'full') count('full');
  };

  const load = async (request: DirectRequest, key: string, { signal, detach }: LoadControl) => {
    const dependencies = new Dependencies(detach);
    const answering = answerDirectly({ ...request, left: signal, dependencies });
    // By now it is known whether this is a query. Only queries share answers.
    if (dependencies.isQuery) count('miss');
    else detach();
    try {
      const answer = await answering;
      if (answer === null) detach();
      const reports = [...dependencies.reports.values()];
      const size = key.length + sizeOf(answer) + reports.length * bytesPerReport;
      const { tags, expiresAt } = dependencies;
      return { value: { answer, reports }, size, tags: answer === null ? null : tags, expiresAt };
    } catch (error) {
      detach();
      throw error;
    }
  };

  const waitCounted = (caller: Caller) => {
    const connection = waitForConnection(caller);
    if (connection === null) return null;
    metrics.waitingOperations.inc();
    return connection.then(() => metrics.waitingOperations.dec());
  };
  /** Null when there is nothing to wait for: then equal requests of one turn of the event loop are joined. */
  const waitToBegin = ({ body, caller }: DirectRequest) => {
    const turn = documents.waitForTurn(body);
    return turn === null ? waitCounted(caller) : turn.then(() => waitCounted(caller));
  };

  return async (request) => {
    // A traced operation reports its own calls, so it shares nothing.
    if (isTraced(request)) {
      await waitToBegin(request);
      return await answerDirectly(request);
    }
    const key = answerKey(request);
    let isThere = cache.has(key);
    const turn = isThere ? null : waitToBegin(request);
    // Another request may have stored it meanwhile.
    if (turn !== null) isThere = await turn.then(() => cache.has(key));
    // Without a cached answer there is nothing to invalidate.
    const caughtUp = !isThere || catchUp();
    const isCaughtUp = typeof caughtUp === 'boolean' ? caughtUp : await caughtUp;
    let isShared = false;
    const { value } = await cache.get<WholeAnswer>(key, {
      load: (control) => {
        isShared = false;
        return load(request, key, control);
      },
      since: isCaughtUp ? undefined : cache.now(),
      signal: request.left,
      onShared: (how) => {
        isShared = true;
        count(how === 'cached' ? 'hit' : 'joined');
      },
      onDropped,
    });
    if (isShared) {
      const seconds = (performance.now() - request.startedAt) / 1000;
      for (const report of value.reports) report(seconds, request.caller);
      charge(request.caller, pointsOf(value.answer));
    }
    return value.answer;
  };
}

function isTraced({ head, caller }: DirectRequest): boolean {
  return head.trace === 'upstream' && new Rights(caller).has('gateway-key');
}

/** The bytes of an answer, and of the compressed form that may be held with it. */
function sizeOf(answer: DirectAnswer | null): number {
  if (answer === null) return 0;
  return isCompressible(answer) ? 2 * answer.body.length : answer.body.length;
}

/** The points of an answer that was made for another request, in addition to the point of this request. */
function pointsOf(answer: DirectAnswer | null): number {
  return answer === null ? 0 : Math.floor(answer.body.length / bytesPerPoint);
}

/** Callers with equal rights share answers: what else an answer takes from its caller makes it private (NotedContext). */
function keyOf({ head, caller, body }: DirectRequest): string {
  const { origin, mediaType } = head;
  const from = origin === null ? '' : `from ${origin}`;
  // Compared byte by byte, without parsing the bodies.
  return `${rightsKeyOf(caller)}\n${from}\n${mediaType}\n${body.toString('latin1')}`;
}
