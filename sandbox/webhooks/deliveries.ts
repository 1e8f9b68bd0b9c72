const bucketMs = 5 * 60 * 1000;

/** The intervals of the delivery metric, in milliseconds (public service). */
export const intervals = {
  '5m': bucketMs,
  '15m': 3 * bucketMs,
  '1h': 12 * bucketMs,
  '1d': 288 * bucketMs,
} as const;

/** The points of a series; the longest interval bounds what is held. */
const points = 48;
const heldMs = points * intervals['1d'];

type Outcome = 'delivered' | 'failed';

/** Counts the attempts to deliver webhooks, in steps of five minutes, for 48 days. */
export class Deliveries {
  readonly #buckets = new Map<number, Record<Outcome, number>>();

  add(outcome: Outcome, at: number): void {
    const start = at - (at % bucketMs);
    let bucket = this.#buckets.get(start);
    if (!bucket) {
      bucket = { delivered: 0, failed: 0 };
      this.#buckets.set(start, bucket);
      for (const old of this.#buckets.keys()) if (old < at - heldMs) this.#buckets.delete(old);
    }
    bucket[outcome] += 1;
  }

  /** The sums of 48 intervals up to the one of `now`: its start in seconds, and the number as text (Prometheus). */
  seriesOf(
    outcome: Outcome,
    interval: keyof typeof intervals,
    now: number,
  ): readonly (readonly [number, string])[] {
    const step = intervals[interval];
    const last = now - (now % step);
    return Array.from({ length: points }, (_, index) => {
      const start = last - (points - 1 - index) * step;
      const sum = [...this.#buckets].reduce(
        (total, [at, counts]) => (at >= start && at < start + step ? total + counts[outcome] : total),
        0,
      );
      return [start / 1000, String(sum)] as const;
    });
  }
}
