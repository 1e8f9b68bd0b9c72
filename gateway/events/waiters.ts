import type { AppendNotice, Scope } from './log.ts';

/** How often the end of the log is looked at, in milliseconds: what a lost hint costs at most. */
export const lookEveryMs = 1000;

/** Those who wait for news, by the narrowest thing they wait for. No queue: a waker only says "read again". */
export interface Waiters {
  readonly wait: (scope: Scope, signal: AbortSignal) => Promise<void>;
  /** Tells listeners first, then wakes whom it concerns; `null`: everybody, because anything may be new. */
  readonly wake: (news: AppendNotice | null) => void;
  readonly onAppend: (listener: (news: AppendNotice | null) => void) => () => void;
}

export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>();
  const listeners = new Set<(news: AppendNotice | null) => void>();

  const call = (key: string) => {
    const resolvers = waiting.get(key);
    waiting.delete(key);
    for (const resolve of resolvers ?? []) resolve();
  };

  return {
    wait: (scope, signal) => {
      if (signal.aborted) return Promise.resolve();
      const key = keyOf(scope);
      const { promise, resolve } = Promise.withResolvers<void>();
      const done = () => {
        signal.removeEventListener('abort', done);
        resolvers.delete(done);
        // The last one to leave takes the key along, or every order ever followed would stay in the map.
        if (resolvers.size === 0 && waiting.get(key) === resolvers) waiting.delete(key);
        resolve();
      };
      const resolvers = waiting.get(key) ?? new Set();
      waiting.set(key, resolvers.add(done));
      signal.addEventListener('abort', done, { once: true });
      return promise;
    },
    wake: (news) => {
      for (const listener of listeners) listener(news);
      if (news === null) {
        for (const key of [...waiting.keys()]) call(key);
        return;
      }
      call('all');
      if (news.userId !== null) call(`user ${news.userId}`);
      if (news.subject !== null) call(`subject ${news.subject.id}`);
    },
    onAppend: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function keyOf(scope: Scope): string {
  if (scope.subject !== undefined) return `subject ${scope.subject}`;
  return scope.userId === undefined ? 'all' : `user ${scope.userId}`;
}
