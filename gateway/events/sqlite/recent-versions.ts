import { LRUCache } from 'lru-cache';
import { firstPositionOf, type Latest } from '../log.ts';

/** At about 300 bytes each at most 6 MB: of 60 changes a second those of five minutes. */
const maxSubjects = 20_000;

/**
 * The newest versions of the subjects that changed last. So a read that asks what has changed lately does not ask the file,
 * which knows most of its subjects from long ago or not at all (decision 0135).
 */
export class RecentVersions {
  /** Every change after this position is here. */
  #start: number;
  readonly #versions = new LRUCache<string, Latest>({
    // With `max` it would allocate room for all of them at once.
    maxSize: maxSubjects,
    sizeCalculation: () => 1,
    dispose: ({ position }, _subject, reason) => {
      if (reason === 'evict') this.#start = Math.max(this.#start, position);
    },
  });

  /** @param end the end of the log */
  constructor(end: number) {
    this.#start = end;
  }

  /**
   * Takes the next change of the log before anybody is notified of it, or a later one that somebody has read in the file
   * already. That one stays the newest.
   */
  add(subject: string, latest: Latest): void {
    const known = this.#versions.peek(subject);
    if (known === undefined || known.position < latest.position) this.#versions.set(subject, latest);
  }

  /** Another process has appended up to this end. */
  restart(end: number): void {
    this.#start = end;
    this.#versions.clear();
  }

  /** The newest version of a subject, where it is one of those that changed last. */
  get(subject: string): Latest | undefined {
    // `get` would count as a use: the least recently changed one is evicted, not the least recently used.
    return this.#versions.peek(subject);
  }

  /** The newest versions of these subjects, null for those that have not changed since then; null where only the file knows. */
  changedSince(since: Date, subjects: readonly string[]): readonly (Latest | null)[] | null {
    if (firstPositionOf(since) <= this.#start) return null;
    return subjects.map((subject) => this.#versions.peek(subject) ?? null);
  }
}
