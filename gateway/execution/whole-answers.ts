import type { Caller } from '../auth/rights.ts';
import type { LoadControl, SharedCache } from '../cache/shared-cache.ts';
import type { AnswerPlainly, PlainAnswer, PlainAsking } from '../http/direct-answer.ts';
import type { Metrics } from '../metrics.ts';
import { Dependencies } from '../service/trace.ts';

/** Writing this many bytes takes about as much processor time as a request. */
const bytesPerPoint = 64 * 1024;
const bytesPerReport = 200;

export interface WholeAnswersOptions {
  readonly cache: SharedCache;
  /** Whether all news that anybody has received have reached the cache by now. */
  readonly catchUp: () => Promise<boolean>;
  readonly metrics: Metrics;
  /** Resolves when a request without a cached answer may be answered; null when that is now. */
  readonly waitForTurn: (body: Buffer) => Promise<void> | null;
  /** Charges points for an answer that was not made for its caller. */
  readonly charge: (caller: Caller, points: number) => void;
  /** Requests with equal keys share an answer; one key for each credential where left out. */
  readonly answerKey?: ((asking: PlainAsking) => string) | undefined;
}

interface WholeAnswer {
  /** Null for what must be answered by Yoga's own handler. */
  readonly answer: PlainAnswer | null;
  /** What the operation reported to metrics and the audit trail. */
  readonly reports: readonly (() => void)[];
}

/**
 * Gives equal queries of one caller the same bytes: those of an earlier answer, until one of its reads has expired or has
 * been invalidated, and those of one in flight. Whoever asks has been let in and has paid like everybody; what the
 * operation reported, to metrics and the audit trail, is reported again.
 */
export function giveWholeAnswers(options: WholeAnswersOptions, answerPlainly: AnswerPlainly): AnswerPlainly {
  const { cache, catchUp, waitForTurn, metrics, charge, answerKey = keyOf } = options;
  const count = (outcome: 'hit' | 'joined' | 'miss' | 'full') => metrics.wholeAnswers.inc({ outcome });
  const onDropped = (why: 'changed' | 'full') => {
    if (why === 'full') count('full');
  };

  const load = async (asking: PlainAsking, key: string, { signal, detach }: LoadControl) => {
    const dependencies = new Dependencies(detach);
    const answering = answerPlainly({ ...asking, left: signal, dependencies });
    // It is known at once whether this is a query: nothing else is ever given to another.
    if (dependencies.isQuery) count('miss');
    else detach();
    try {
      const answer = await answering;
      if (answer === null) detach();
      const reports = [...dependencies.reports.values()];
      const size = key.length + (answer?.body.length ?? 0) + reports.length * bytesPerReport;
      const { tags, expiresAt } = dependencies;
      return { value: { answer, reports }, size, tags: answer === null ? null : tags, expiresAt };
    } catch (error) {
      detach();
      throw error;
    }
  };

  return async (asking) => {
    // A traced operation reports its own calls, so it shares nothing.
    if (asking.head.trace !== null) return await answerPlainly(asking);
    const key = answerKey(asking);
    // Where there is nothing to give, nothing is waited for.
    const isCached = cache.has(key);
    const isCaughtUp = !isCached || (await catchUp());
    const turn = isCached ? null : waitForTurn(asking.body);
    if (turn !== null) await turn;
    let isShared = false;
    const { value } = await cache.get<WholeAnswer>(key, {
      load: (control) => {
        isShared = false;
        return load(asking, key, control);
      },
      since: isCaughtUp ? undefined : cache.now(),
      signal: asking.left,
      onShared: (how) => {
        isShared = true;
        count(how === 'cached' ? 'hit' : 'joined');
      },
      onDropped,
    });
    if (isShared) {
      for (const report of value.reports) report();
      charge(asking.caller, pointsOf(value.answer));
    }
    return value.answer;
  };
}

/** The points of an answer that was made for another, in addition to the point of its request. */
function pointsOf(answer: PlainAnswer | null): number {
  return answer === null ? 0 : Math.floor(answer.body.length / bytesPerPoint);
}

/** One key for each credential: what two callers may share, and for whom the audit trail records it, is never asked here. */
function keyOf({ head, body }: PlainAsking): string {
  const { authorization, origin, mediaType } = head;
  const from = origin === null ? '' : `from ${origin}`;
  // Byte by byte: whatever two bodies mean, they are the same or they are not.
  return `${authorization}\n${from}\n${mediaType}\n${body.toString('latin1')}`;
}
