/** Changed tags; `everything` is every tag. */
export type Invalidation = readonly string[] | 'everything';

/** The most tags that are remembered. With 500 events a second, each of another order, half of them are those of 15 s. */
const maxInvalidated = 30_000;

/** When tags were invalidated, in the time of `SharedCache.now()`. */
export class Invalidations {
  /** The time of the latest one; 0 = none. */
  latest = 0;
  /** The oldest first. */
  readonly #byTag = new Map<string, number>();
  /** What began before this time is out of date: everything was invalidated then, or it is not known any more what was. */
  #all = 0;

  add(invalidation: Invalidation, time: number): void {
    this.latest = time;
    if (invalidation === 'everything') {
      this.#all = time;
      this.#byTag.clear();
      return;
    }
    for (const tag of invalidation) {
      this.#byTag.delete(tag);
      this.#byTag.set(tag, time);
    }
    if (this.#byTag.size > maxInvalidated) this.#forgetOlderHalf();
  }

  /** Whether a value with these tags is out of date, if its load began then. A value without tags never is. */
  touches({ tags, beganAt }: { readonly tags: readonly string[]; readonly beganAt: number }): boolean {
    if (tags.length === 0 || beganAt > this.latest) return false;
    return beganAt < this.#all || tags.some((tag) => beganAt < (this.#byTag.get(tag) ?? 0));
  }

  /** Half at once, because a Map finds its first key slowly after many deletions. */
  #forgetOlderHalf(): void {
    const remaining = maxInvalidated / 2;
    for (const [tag, time] of this.#byTag) {
      if (this.#byTag.size <= remaining) break;
      this.#byTag.delete(tag);
      this.#all = time;
    }
  }
}
