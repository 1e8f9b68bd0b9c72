import type { AppendNotice, Scope } from './log.ts';

/** How often the end of the log is checked, in milliseconds. A lost notice delays a subscriber by this time at most. */
export const checkEveryMs = 1000;

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
    if (notice === null) {
      for (const key of [...this.#waiting.keys()]) this.#resolve(key, before);
      return;
    }
    this.#resolve('all', before);
    if (notice.userId !== null) this.#resolve(`user ${notice.userId}`, before);
    if (notice.subject !== null) this.#resolve(`subject ${notice.subject.id}`, before);
  }

  /** @returns removes the listener */
  onAppend(listener: (notice: AppendNotice | null) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #resolve(key: string, before: number): void {
    const resolvers = this.#waiting.get(key);
    this.#waiting.delete(key);
    for (const resolve of resolvers ?? []) resolve(before);
  }
}

function keyOf(scope: Scope): string {
  if (scope.subject !== undefined) return `subject ${scope.subject}`;
  return scope.userId === undefined ? 'all' : `user ${scope.userId}`;
}
