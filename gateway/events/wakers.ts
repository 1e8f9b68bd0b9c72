import type { NewMessage, Scope } from './log.ts';

/** Those who wait for news, by the narrowest thing they wait for. No queue: a waker only says "read again". */
export interface Wakers {
  readonly wait: (scope: Scope, signal: AbortSignal) => Promise<void>;
  readonly wake: (message: Pick<NewMessage, 'userId' | 'subject'>) => void;
  readonly wakeAll: () => void;
}

export function createWakers(): Wakers {
  const waiting = new Map<string, Set<() => void>>();

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
    wake: ({ userId, subject }) => {
      call('all');
      if (userId !== null) call(`user ${userId}`);
      if (subject !== null) call(`subject ${subject.id}`);
    },
    wakeAll: () => {
      for (const key of [...waiting.keys()]) call(key);
    },
  };
}

function keyOf(scope: Scope): string {
  if (scope.subject !== undefined) return `subject ${scope.subject}`;
  return scope.userId === undefined ? 'all' : `user ${scope.userId}`;
}
