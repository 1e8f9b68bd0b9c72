import { setImmediate as nextRound } from 'node:timers/promises';
import type { AppendNotice, Scope } from './log.ts';

/** How often the end of the log is checked, in milliseconds. A lost notice delays a subscriber by this time at most. */
export const checkEveryMs = 1000;
/**
 * So many waiters are woken in one round of the event loop. What each of them then reads and sends takes some 40 µs: ten thousand
 * at once would let everybody else wait for half a second. With fewer the last of a thousand waits longer.
 */
const wokenAtOnce = 200;

/** Waits for appends by subject, by user, or by none of them. There is no queue: a wake-up only means "read again". */
export class Waiters {
  readonly #waiting = new Map<string, Set<(before: number) => void>>();
  readonly #listeners = new Set<(notice: AppendNotice | null) => void>();

  /** @returns a position up to which the scope has nothing after `after` */
  wait(scope: Scope, after: number, signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.resolve(after);
    const key = keyOf(scope);
    const { promise, resolve } = Promise.withResolvers<number>();
    const done = (before: number) => {
      signal.removeEventListener('abort', leave);
      resolvers.delete(done);
      // An empty set is removed, or the map would grow by every order ever followed.
      if (resolvers.size === 0 && this.#waiting.get(key) === resolvers) this.#waiting.delete(key);
      resolve(Math.max(after, before));
    };
    const leave = () => done(0);
    const resolvers = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, resolvers.add(done));
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /**
   * Calls the listeners, then wakes the waiters of the notice; `null` wakes all, because anything may be new.
   * @param before a position up to which waiters were notified of every message. Up to there is nothing for a waiter that
   *   was not woken, so it continues after this position: earlier ones may have been pruned meanwhile.
   */
  wake(notice: AppendNotice | null, before = 0): void {
    for (const listener of this.#listeners) listener(notice);
    void this.#resolve(notice === null ? [...this.#waiting.keys()] : keysOf(notice), before);
  }

  /** @returns removes the listener */
  onAppend(listener: (notice: AppendNotice | null) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #resolve(keys: readonly string[], before: number): Promise<void> {
    const woken = keys.map((key) => this.#waiting.get(key) ?? []);
    // Who waits from now on has read what is new.
    for (const key of keys) this.#waiting.delete(key);
    let count = 0;
    for (const resolvers of woken) {
      for (const resolve of resolvers) {
        resolve(before);
        count += 1;
        if (count % wokenAtOnce === 0) await nextRound();
      }
    }
  }
}

function keyOf(scope: Scope): string {
  if (scope.subject !== undefined) return `subject ${scope.subject}`;
  return scope.userId === undefined ? 'all' : `user ${scope.userId}`;
}

function keysOf({ userId, subject }: AppendNotice): readonly string[] {
  const keys = ['all'];
  if (userId !== null) keys.push(`user ${userId}`);
  if (subject !== null) keys.push(`subject ${subject.id}`);
  return keys;
}
