import type { Metrics } from '../metrics.ts';
import { type Basis, createBasis } from '../upstream/basis.ts';
import { type AnswerShelf, createAnswerShelf, type ShelfBounds, type WholeAnswer } from './answer-shelf.ts';
import type { AnswerPlainly, PlainAnswer, PlainAsking } from './plain-answer.ts';

/** As long as a finished read is shared (upstream/coalesce.ts). */
const joinableMs = 1000;

export interface WholeAnswersOptions {
  /** For how long an answer is kept at most; 0 = never. */
  readonly keepMs: number;
  /** Whether all news that anybody has heard were told by now. */
  readonly hearNews: () => Promise<boolean>;
  /** How many changes were told so far. */
  readonly changes: () => number;
  readonly metrics: Metrics;
  readonly bounds?: ShelfBounds;
}

/** A query under way, for all who ask the same meanwhile. */
interface Flight {
  readonly basis: Basis;
  /** What those who joined are answered; null as soon as it is known that each of them must ask for itself. */
  readonly shared: PromiseWithResolvers<PlainAnswer | null>;
  readonly begunAt: number;
  /** How many changes had been told when it began. */
  readonly changes: number;
  /** Of those who wait for it. */
  readonly waiting: Set<AbortSignal>;
  /** Aborts when all of them have left. */
  readonly left: AbortController;
}

/**
 * Gives equal queries of one caller the same bytes: those of an earlier answer, while all that it was made of would
 * still be given as kept reads, and those of one under way, where nothing was told to have changed since it began. Whoever
 * asks has been let in and has paid like everybody; what the operation told, metrics and the audit trail, is told again.
 */
export function giveWholeAnswers(options: WholeAnswersOptions, answerPlainly: AnswerPlainly): AnswerPlainly {
  const { keepMs, hearNews, changes } = options;
  const count = (outcome: string) => options.metrics.wholeAnswers.inc({ outcome });
  const kept: AnswerShelf = createAnswerShelf({
    keepMs,
    bounds: options.bounds,
    onFull: () => count('full'),
  });
  const underWay = new Map<string, Flight>();

  const findKept = async (key: string): Promise<WholeAnswer | null> => {
    const found = kept.take(key);
    if (found === undefined || (found.followsNews && !(await hearNews()))) return null;
    if (found.restsOn.every(({ stands }) => stands)) return found;
    kept.drop(key, found);
    return null;
  };
  const findJoinable = async (key: string): Promise<Flight | null> => {
    if (!underWay.has(key) || !(await hearNews())) return null;
    const flight = underWay.get(key);
    const isNew = flight?.changes === changes() && performance.now() - flight.begunAt < joinableMs;
    return flight !== undefined && isNew && !flight.left.signal.aborted ? flight : null;
  };
  const takeOff = (key: string): Flight => {
    const flight: Flight = {
      basis: createBasis({
        onQuery: () => {
          count('miss');
          underWay.set(key, flight);
        },
        onApart: () => flight.shared.resolve(null),
      }),
      shared: Promise.withResolvers(),
      begunAt: performance.now(),
      changes: changes(),
      waiting: new Set(),
      left: new AbortController(),
    };
    return flight;
  };
  const lead = async (key: string, asking: PlainAsking): Promise<PlainAnswer | null> => {
    const flight = takeOff(key);
    const { basis, shared, left } = flight;
    const leave = wait(flight, asking.left);
    try {
      const answer = await answerPlainly({ ...asking, left: left.signal, basis });
      const restsOn = answer === null ? null : basis.restsOn();
      if (answer !== null && restsOn !== null) kept.put(key, { answer, restsOn, told: basis.told() });
      shared.resolve(answer);
      return answer;
    } finally {
      shared.resolve(null);
      leave();
      if (underWay.get(key) === flight) underWay.delete(key);
    }
  };
  const join = async (flight: Flight, asking: PlainAsking): Promise<PlainAnswer | null> => {
    const leave = wait(flight, asking.left);
    const answer = await flight.shared.promise;
    leave();
    return answer;
  };

  return async (asking) => {
    // What an operation asked of the service is its own.
    if (asking.head.trace !== null) return await answerPlainly(asking);
    const key = keyOf(asking);
    const found = await findKept(key);
    if (found !== null) {
      count('hit');
      for (const tellAgain of found.told) tellAgain();
      return found.answer;
    }
    const flight = await findJoinable(key);
    const joined = flight === null ? null : await join(flight, asking);
    if (flight === null || joined === null) return await lead(key, asking);
    count('joined');
    for (const tellAgain of flight.basis.told()) tellAgain();
    return joined;
  };
}

/** One key for each credential: what two callers may share, and for whom the audit trail tells it, is never asked here. */
function keyOf({ head, body }: PlainAsking): string {
  const { authorization, origin, mediaType } = head;
  const from = origin === null ? '' : `from ${origin}`;
  // Byte by byte: whatever two bodies mean, they are the same or they are not.
  return `${authorization}\n${from}\n${mediaType}\n${body.toString('latin1')}`;
}

/** Waits for a flight until the function it returns is called; when the last one who waits has left, it is aborted. */
function wait({ waiting, left }: Flight, own: AbortSignal): () => void {
  const leave = () => {
    waiting.delete(own);
    if (waiting.size === 0) left.abort(own.reason);
  };
  waiting.add(own);
  if (own.aborted) leave();
  else own.addEventListener('abort', leave, { once: true });
  return () => {
    own.removeEventListener('abort', leave);
    waiting.delete(own);
  };
}
