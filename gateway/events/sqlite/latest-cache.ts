import { LRUCache } from 'lru-cache';
import type { Latest } from '../log.ts';

/** At about 300 bytes each: more orders than are shown between two changes of one of them, and at most 6 MB. */
const maxSubjects = 20_000;

/**
 * Caches the newest version of each requested subject: a page of 100 orders requests 100. A read is one step of this
 * thread, so a cached version was in the file then. A write replaces the entry before anybody is notified of the write.
 */
export class LatestCache {
  readonly #read: (subjects: readonly string[]) => ReadonlyMap<string, Latest>;
  readonly #cached = new LRUCache<string, { readonly latest: Latest | null }>({
    // With `max` it would allocate room for all of them at once.
    maxSize: maxSubjects,
    sizeCalculation: () => 1,
  });

  /** @param read is asked for those that are not cached, all at once */
  constructor(read: (subjects: readonly string[]) => ReadonlyMap<string, Latest>) {
    this.#read = read;
  }

  latestOf(subjects: readonly string[]): readonly (Latest | null)[] {
    const cached = subjects.map((subject) => this.#cached.get(subject));
    const others = subjects.filter((_, index) => cached[index] === undefined);
    const found = others.length === 0 ? null : this.#read(others);
    for (const subject of others) this.#cached.set(subject, { latest: found?.get(subject) ?? null });
    return subjects.map((subject, index) => cached[index]?.latest ?? found?.get(subject) ?? null);
  }

  /**
   * Replaces an older version that was read. Where there is none, the next read asks the file, where another process may have
   * appended a newer one. Of what others append this process learns within a second, as for every other cached version.
   */
  replace(subject: string, latest: Latest): void {
    const cached = this.#cached.peek(subject);
    if (cached === undefined || (cached.latest?.position ?? 0) > latest.position) return;
    this.#cached.set(subject, { latest });
  }

  delete(subject: string): void {
    this.#cached.delete(subject);
  }

  clear(): void {
    this.#cached.clear();
  }
}
