import type { Caller } from '../auth/caller.ts';
import type { AnswerPlainly, PlainAnswer, PlainAsking } from '../http/direct-answer.ts';
import type { Metrics } from '../metrics.ts';
import { createAnswerShelf, type ShelfBounds, type WholeAnswer } from './answer-shelf.ts';
import { createFlights } from './flights.ts';

/** Writing this many bytes takes about as much processor time as a request. */
const bytesPerPoint = 64 * 1024;

export interface WholeAnswersOptions {
  /** For how long an answer is kept at most; 0 = not beyond its burst of operations. */
  readonly keepMs: number;
  /** Whether all news that anybody has heard were told by now. */
  readonly hearNews: () => Promise<boolean>;
  /** How many changes were told so far. */
  readonly changes: () => number;
  /** Marks an operation, for the sharing of reads; the function it returns marks its end. */
  readonly beginOperation: () => () => void;
  readonly metrics: Metrics;
  /** Charges points for a cached answer. */
  readonly charge: (caller: Caller, points: number) => void;
  readonly bounds?: ShelfBounds;
  /** Askings with equal keys share an answer; one key for each credential where left out. */
  readonly answerKey?: ((asking: PlainAsking) => string) | undefined;
}

/**
 * Gives equal queries of one caller the same bytes: those of an earlier answer, while all that it was made of would
 * still be given as shared reads, and those of one under way, where nothing was told to have changed since it began. Whoever
 * asks has been let in and has paid like everybody; what the operation told, metrics and the audit trail, is told again.
 */
export function giveWholeAnswers(options: WholeAnswersOptions, answerPlainly: AnswerPlainly): AnswerPlainly {
  const { keepMs, hearNews, changes, beginOperation, metrics, charge, bounds, answerKey = keyOf } = options;
  const count = (outcome: string) => metrics.wholeAnswers.inc({ outcome });
  const kept = createAnswerShelf({ keepMs, bounds, onFull: () => count('full') });
  const flights = createFlights({ hearNews, changes, beginOperation, count });

  const stillStands = async (found: WholeAnswer): Promise<boolean> => {
    if (found.followsNews && !(await hearNews())) return false;
    return isStanding(found);
  };
  const run = (key: string, asking: PlainAsking) =>
    flights.lead(key, asking.left, async (basis, left) => {
      const { head, caller, body } = asking;
      const answer = await answerPlainly({ head, caller, body, left, basis });
      const restsOn = basis.restsOn();
      if (answer === null || restsOn === null) return answer;
      const made = { answer, restsOn, told: basis.told() };
      if (isStanding(made)) kept.put(key, made);
      return answer;
    });

  return async (asking) => {
    // Whoever asks what an answer cost is told of its own.
    if (asking.head.trace !== null) return await answerPlainly(asking);
    const key = answerKey(asking);
    const found = kept.take(key);
    if (found !== undefined && (await stillStands(found))) {
      count('hit');
      // It belongs to the burst whose reads it was made of, and the burst lasts as long as operations belong to it.
      if (!found.isKept) beginOperation()();
      tellAll(found.told);
      charge(asking.caller, pointsOf(found.answer));
      return found.answer;
    }
    // Where there is none nothing is waited for: of two that come at once the second finds the first under way.
    const joined = flights.isUnderWay(key) ? await flights.join(key, asking.left) : null;
    if (joined === null) return await run(key, asking);
    tellAll(joined.told);
    charge(asking.caller, pointsOf(joined.answer));
    return joined.answer;
  };
}

/** The points of a cached answer, in addition to the point of its request. */
function pointsOf({ body }: PlainAnswer): number {
  return Math.floor(body.length / bytesPerPoint);
}

/** One key for each credential: what two callers may share, and for whom the audit trail tells it, is never asked here. */
function keyOf({ head, body }: PlainAsking): string {
  const { authorization, origin, mediaType } = head;
  const from = origin === null ? '' : `from ${origin}`;
  // Byte by byte: whatever two bodies mean, they are the same or they are not.
  return `${authorization}\n${from}\n${mediaType}\n${body.toString('latin1')}`;
}

function isStanding({ restsOn }: Pick<WholeAnswer, 'restsOn'>): boolean {
  return restsOn.every(({ stands }) => stands);
}

function tellAll(told: WholeAnswer['told']): void {
  for (const tellAgain of told) tellAgain();
}
