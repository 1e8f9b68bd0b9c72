import { LRUCache } from 'lru-cache';
import type { Latest } from '../log.ts';

/** At about 300 bytes each: more orders than are shown between two changes of one of them, and at most 6 MB. */
const maxSubjects = 20_000;

export interface LatestCache {
  /** The newest version of a subject in the file, read once; null where there is none. */
  readonly of: (subject: string) => Latest | null;
  readonly invalidate: (subject: string) => void;
  readonly clear: () => void;
}

/**
 * Caches the newest version of each subject that was asked for: a page of 100 orders asks for 100. Reading is one step
 * of this thread, so what is cached was in the file then. Whoever notices a write invalidates before anybody is notified.
 */
export function cacheLatest(read: LatestCache['of']): LatestCache {
  const cache = new LRUCache<string, { readonly latest: Latest | null }>({ max: maxSubjects });
  return {
    of: (subject) => {
      const cached = cache.get(subject);
      if (cached !== undefined) return cached.latest;
      const latest = read(subject);
      cache.set(subject, { latest });
      return latest;
    },
    invalidate: (subject) => void cache.delete(subject),
    clear: () => cache.clear(),
  };
}
