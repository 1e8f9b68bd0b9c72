import type { Log } from '../log.ts';
import type { EventLog } from './log.ts';

/** Short, because a gateway may be replaced within an hour, and because a pruning may fail. */
const pruneEveryMs = 60_000;
const dayMs = 86_400_000;
/** A clock that is set forward by more than this may be wrong. */
const maxJumpMs = 3_600_000;

export interface PruningOptions {
  readonly retentionDays: number;
  readonly log: Log;
}

/**
 * Deletes old events every minute, first a minute after the start. Not on the day after the clock was set forward: if the clock
 * is wrong now, young events look old.
 * @returns the function that stops it
 */
export function startPruning(events: EventLog, { retentionDays, log }: PruningOptions): () => void {
  let [isPruning, isStopped] = [false, false];
  let believed = offsetOfClock();
  /** By the clock: a machine that sleeps each night looks as if its clock was set forward, and runs for less than a day. */
  let pausedUntil: number | null = null;
  const isPaused = () => {
    const offset = offsetOfClock();
    // A clock that was set back is believed at once, one that was set forward after a day.
    if (offset < believed || (pausedUntil !== null && Date.now() >= pausedUntil)) believed = offset;
    const aheadMs = offset - believed;
    if (aheadMs <= maxJumpMs) {
      pausedUntil = null;
      return false;
    }
    if (pausedUntil === null) {
      pausedUntil = Date.now() + dayMs;
      const advice = 'Nothing is deleted for a day. If the clock is wrong now, set it right before then.';
      log.warn('events.clock_set_forward', { offSeconds: Math.round(aheadMs / 1000), advice });
    }
    return true;
  };
  const prune = async () => {
    if (isPruning || isPaused()) return;
    isPruning = true;
    await events.prune(new Date(Date.now() - retentionDays * dayMs)).catch((error: unknown) => {
      // A gateway that stops interrupts it; the next one continues.
      if (!isStopped) log.error('events.prune_failed', { error });
    });
    isPruning = false;
  };
  const timer = setInterval(prune, pruneEveryMs).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** How far the clock is ahead of the time since the start, which nobody can set. It grows while a machine sleeps. */
function offsetOfClock(): number {
  return Date.now() - performance.now();
}
