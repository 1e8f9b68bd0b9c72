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
  let [clockOffset, pausedUntil] = [offsetOfClock(), 0];
  const watchClock = () => {
    const jumpMs = offsetOfClock() - clockOffset;
    clockOffset += jumpMs;
    if (jumpMs < -maxJumpMs) pausedUntil = 0;
    if (jumpMs <= maxJumpMs) return;
    pausedUntil = performance.now() + dayMs;
    const advice = 'Nothing is deleted for a day. If the clock is wrong now, set it right before then.';
    log.warn('events.clock_set_forward', { offSeconds: Math.round(jumpMs / 1000), advice });
  };
  const prune = async () => {
    watchClock();
    if (isPruning || performance.now() < pausedUntil) return;
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

/** How far the clock is ahead of the process's own time, which nobody can set. */
function offsetOfClock(): number {
  return Date.now() - performance.now();
}
