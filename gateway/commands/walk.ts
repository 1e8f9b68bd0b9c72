import type { DeadLetter, EventLog } from '../events/log.ts';

const pageSize = 100;

/** All dead letters, oldest first. */
export async function* walkDeadLetters(log: EventLog): AsyncGenerator<DeadLetter> {
  let after = 0;
  for (;;) {
    const letters = await log.deadLetters(after, pageSize);
    yield* letters;
    const last = letters.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

/**
 * The position after which nothing was pruned. The log reports only whether history after a given position is gone, so
 * this is a binary search.
 */
export async function findStart(log: EventLog): Promise<number> {
  let [low, high] = [0, await log.position()];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const batch = await log.read({}, middle, 1);
    if (batch.kind === 'gap' && batch.reason === 'pruned') low = middle + 1;
    else high = middle;
  }
  return low;
}
