import type { AppendNotice } from '../log.ts';
import type { Waiters } from '../waiters.ts';
import type { BusEntry } from './codec.ts';

/**
 * The positions that this gateway knows of: by its own appends, by the bus, and by checks of the log's end. It notifies the
 * waiters of every message once, whichever comes first: an append's answer and the bus use two connections, in any order.
 */
export class Positions {
  readonly #waiters: Waiters;
  #head: number;
  #busPosition: number;
  /** Waiters were notified of everything up to here without single messages. */
  #notifiedThrough: number;
  /** Messages that waiters were notified of before the bus brought them. */
  readonly #ahead = new Set<number>();

  /** @param end the end of the log: nothing up to there is new */
  constructor(waiters: Waiters, end: number) {
    this.#waiters = waiters;
    this.#head = end;
    this.#busPosition = end;
    this.#notifiedThrough = end;
  }

  /** The newest known position. */
  get head(): number {
    return this.#head;
  }

  /** The bus was read up to here. */
  get busPosition(): number {
    return this.#busPosition;
  }

  /** Takes an append of this gateway. @param notice null for a dead letter */
  noteOwn(position: number, notice: AppendNotice | null): void {
    this.#head = Math.max(this.#head, position);
    if (notice === null || position <= Math.max(this.#busPosition, this.#notifiedThrough)) return;
    this.#ahead.add(position);
    this.#waiters.wake(notice);
  }

  noteBus({ position, previous, notice }: BusEntry): void {
    // Two connections read the bus (pubsub.ts).
    if (position <= this.#busPosition) return;
    const isNext = previous === this.#busPosition;
    this.#busPosition = position;
    if (!isNext && position > this.#notifiedThrough) {
      this.noteLoss(position);
      return;
    }
    this.#head = Math.max(this.#head, position);
    if (this.#ahead.delete(position) || position <= this.#notifiedThrough || notice === null) return;
    this.#waiters.wake(notice);
  }

  /** Bus entries were lost, or the log was replaced: anything up to its end may be new. */
  noteLoss(end: number): void {
    this.#head = end;
    this.#notifiedThrough = end;
    this.#busPosition = Math.min(this.#busPosition, end);
    this.#ahead.clear();
    this.#waiters.wake(null);
  }
}
