import type { Entry } from '../cache/shared-cache.ts';

/**
 * What the answer to one operation depends on, noted while it runs: the whole answer is shared like the reads that it was made
 * of (execution/whole-answers.ts). Denied by default: what is not noted here as harmless isolates the answer.
 */
export class Dependencies {
  /** Only the answer to a query is ever given to another. */
  isQuery = false;
  /** When the first of the things expires that the answer was made of. */
  expiresAt = Number.POSITIVE_INFINITY;
  /** What the operation reported to metrics and the audit trail, by key: reported again for each other one that is given its answer. */
  readonly reports = new Map<string, () => void>();
  readonly #tags = new Set<string>();
  readonly #onIsolated: () => void;
  #isStorable = true;
  #pending = 0;

  /** @param onIsolated called when the answer turns out to be for its operation only */
  constructor(onIsolated: () => void) {
    this.#onIsolated = onIsolated;
  }

  /** What all of it depends on; null where the answer is not to be stored, because it was made of anything more. */
  get tags(): readonly string[] | null {
    return this.isQuery && this.#isStorable && this.#pending === 0 ? [...this.#tags] : null;
  }

  /** The answer is for this operation alone. */
  isolate(): void {
    this.forbidStoring();
    this.#onIsolated();
  }

  /** Equal operations in flight are given the answer, and nobody later. */
  forbidStoring(): void {
    this.#isStorable = false;
  }

  /** A read of the service has begun. While it is pending, and when it has failed, the answer is not to be stored. */
  beginRead(): void {
    this.#pending += 1;
  }

  endRead({ tags, expiresAt }: Pick<Entry<unknown>, 'tags' | 'expiresAt'>): void {
    this.#pending -= 1;
    if (tags === null) this.forbidStoring();
    for (const tag of tags ?? []) this.#tags.add(tag);
    this.expiresAt = Math.min(this.expiresAt, expiresAt);
  }

  /** Once for each key. */
  addReport(key: string, report: () => void): void {
    if (!this.reports.has(key)) this.reports.set(key, report);
  }
}
