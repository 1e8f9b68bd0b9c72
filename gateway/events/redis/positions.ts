import type { AppendNotice } from '../log.ts';
import type { Waiters } from '../waiters.ts';

/** What an instance has heard of the log, by its own appends, by the bus, and by looking at the end. */
export interface Hints {
  /** The newest position heard of. */
  readonly head: () => number;
  /** How far the bus was read. */
  readonly heard: () => number;
  /** Tells what this instance appended; `null`: nobody is to know (a dead letter). */
  readonly tellOwn: (position: number, news: AppendNotice | null) => void;
  readonly tellHeard: (hint: Hint) => void;
  /** Hints were lost, or the log is not what it was: anything up to its end may be new. */
  readonly lose: (end: number) => void;
}

/** One entry of the bus. */
export interface Hint {
  readonly position: number;
  /** The end of the log before it: another one than the last heard of says that hints were lost. */
  readonly previous: number;
  readonly news: AppendNotice | null;
}

/**
 * Tells every message once, whichever way it is heard of first: an append's own answer and the bus come by two
 * connections, in either order.
 * @param end of the log now: nothing up to there is news
 */
export function createHints(waiters: Waiters, end: number): Hints {
  let [head, heard, covered] = [end, end, end];
  /** Told before the bus brought them. */
  const ahead = new Set<number>();

  const lose = (lostAt: number) => {
    [head, covered, heard] = [lostAt, lostAt, Math.min(heard, lostAt)];
    ahead.clear();
    waiters.wake(null);
  };
  return {
    head: () => head,
    heard: () => heard,
    tellOwn: (position, news) => {
      head = Math.max(head, position);
      if (news === null || position <= Math.max(heard, covered)) return;
      ahead.add(position);
      waiters.wake(news);
    },
    tellHeard: ({ position, previous, news }) => {
      // Two connections read the bus (pubsub.ts).
      if (position <= heard) return;
      const isChained = previous === heard;
      heard = position;
      if (!isChained && position > covered) return lose(position);
      head = Math.max(head, position);
      if (ahead.delete(position) || position <= covered || news === null) return;
      waiters.wake(news);
    },
    lose,
  };
}
