import { createExpiry } from '../cache/expiry.ts';
import { anyChange, isTouched, type Touched } from './change.ts';
import { describeEnd } from './failure.ts';
import { type Bounds, createShelf, type Fetched, type SharedRead, type Standing } from './shelf.ts';

/**
 * Reads that several callers want are made once. One mechanism, three lifetimes of an answer:
 * 1. Equal reads in flight share one call.
 * 2. A finished read stays shared while the burst of operations that asked for it lasts, one second at most.
 *    Measured: 50 equal nested queries over 50 sockets take the event loop about 500 ms in all, while one
 *    upstream read takes 2 ms; with rule 1 alone, or 100 ms here, most of them repeated it. When the last
 *    operation of the burst has its answer nothing is left of it.
 *    Only after a stampede (8 operations at once) reads stay for 50 ms more: its stragglers, held up by a busy
 *    machine, belong to it (without this, 1 run in 3 on a loaded machine of 2 cores asked twice).
 * 3. What says what it rests on is kept for `keepMs`, for those whom a kept answer will do, until something
 *    touches it.
 *
 * Failures are never kept. A change drops what it touches the moment it is told, and a read that began before it
 * is neither shared nor kept after it, however late its answer comes: what an answer rests on is known only once it
 * is there, so each read under way notes what it misses.
 */
const burstMs = 1000;
const stampede = 8;
const stragglersMs = 50;
/** A byte of JSON takes some five in memory, parsed and read. */
const defaultBounds: Bounds = { answers: 20_000, bytes: 32 * 1024 * 1024 };

/** What is asked for, besides its key. */
export interface Wanted {
  readonly read: (signal: AbortSignal) => Promise<Fetched>;
  readonly signal?: AbortSignal | undefined;
  /** Whether an answer that was kept will do (rule 3). */
  readonly takesKept?: boolean;
  /** What the answer rests on (change.ts); null when it is not to be kept. */
  readonly restsOn?: ((json: unknown) => readonly string[] | null) | undefined;
  /** Told when no call was needed. */
  readonly onAnswered?: ((by: AnsweredBy) => void) | undefined;
  /** Told where the answer is one that an equal read would be given as well, as things stand; whoever read it. */
  readonly onStanding?: ((standing: Standing) => void) | undefined;
}

/** What answered a read without a call of its own: an equal one of its burst, or one that was kept. */
export type AnsweredBy = 'shared' | 'kept';

export interface Coalescer {
  /** The answer for `key`: of an equal read under way or of this burst, one that was kept, else of `read`. */
  readonly share: (key: string, wanted: Wanted) => Promise<unknown>;
  /** Marks the start of an operation; the function it returns marks its end. */
  readonly begin: () => () => void;
  /** No answer from before now is given any more where this touches it. */
  readonly change: (touched: Touched) => void;
  /** How many changes it was told so far. */
  readonly changes: () => number;
}

export interface CoalescerOptions {
  /** For how long an answer is kept at most; 0 = not beyond its burst. */
  readonly keepMs?: number;
  readonly bounds?: Bounds;
  /** Told of each kept answer that is given up before its time. */
  readonly onDropped?: (why: 'changed' | 'full') => void;
}

export function createCoalescer(options: CoalescerOptions = {}): Coalescer {
  const { keepMs = 0, onDropped } = options;
  const shelf = createShelf(options.bounds ?? defaultBounds);
  const keptOnes = createExpiry(keepMs, shelf.drop);
  const onesOfBurst = createExpiry(burstMs, shelf.drop);
  const underWay = new Set<SharedRead>();
  let changes = 0;
  const bursts = createBursts(() => shelf.ofBurst().forEach(shelf.drop));

  /** How an earlier read answers this one as well; null when it does not. */
  const howAnswered = (read: SharedRead, { takesKept }: Wanted): AnsweredBy | null => {
    const { settled } = read;
    if (settled === null) return read.missed.length === 0 && !read.abort.signal.aborted ? 'shared' : null;
    if (takesKept && settled.standing.isKept) return 'kept';
    const isOfBurst = settled.burst !== null && settled.burst === bursts.current();
    return isOfBurst && performance.now() - settled.at < burstMs ? 'shared' : null;
  };
  const settle = (read: SharedRead, fetched: Fetched, wanted: Wanted) => {
    if (!shelf.has(read)) return;
    const names = keepMs === 0 ? null : namesOf(wanted, fetched);
    const isKept = names !== null;
    const restsOn = names ?? [anyChange];
    const isOld = read.missed.some((touched) => isTouched(restsOn, touched));
    const burst = bursts.current();
    if (isOld || !(isKept || burst !== null)) return shelf.drop(read);
    shelf.settle(read, {
      ...fetched,
      at: performance.now(),
      burst,
      standing: { stands: true, isKept, restsOn },
      expiry: isKept ? keptOnes : onesOfBurst,
    });
    for (let left = shelf.dropOverflow(read); left > 0; left -= 1) onDropped?.('full');
  };
  const start = (key: string, wanted: Wanted): SharedRead => {
    const abort = new AbortController();
    const promise = wanted.read(abort.signal);
    const read: SharedRead = { key, promise, abort, waiting: 0, missed: [], settled: null, wasAsked: false };
    shelf.put(read);
    underWay.add(read);
    promise
      .then(
        (fetched) => settle(read, fetched, wanted),
        () => shelf.drop(read),
      )
      .finally(() => underWay.delete(read));
    return read;
  };

  return {
    share: async (key, wanted) => {
      if (wanted.signal?.aborted) throw describeEnd(wanted.signal);
      const existing = shelf.take(key);
      const how = existing === undefined ? null : howAnswered(existing, wanted);
      const read = existing === undefined || how === null ? start(key, wanted) : existing;
      if (how !== null) wanted.onAnswered?.(how);
      const json = read.settled === null ? await waitFor(read, wanted.signal) : read.settled.json;
      tellStanding(read, wanted);
      return json;
    },
    begin: bursts.begin,
    changes: () => changes,
    change: (touched) => {
      changes += 1;
      for (const read of underWay) read.missed.push(touched);
      for (const read of shelf.touched(touched)) {
        if (read.settled?.standing.isKept) onDropped?.('changed');
        shelf.drop(read);
      }
    },
  };
}

/** Who acts on an answer was given a kept one because of the burst, which the answer outlives. */
function tellStanding({ settled }: SharedRead, { takesKept, onStanding }: Wanted): void {
  if (!settled?.standing.stands) return;
  if (takesKept || !settled.standing.isKept) onStanding?.(settled.standing);
}

/** Operations that overlap are one burst. */
function createBursts(onEnd: () => void) {
  let number = 0;
  let operations = 0;
  let mostAtOnce = 0;
  let stragglers: NodeJS.Timeout | undefined;
  const end = () => {
    number += 1;
    mostAtOnce = 0;
    onEnd();
  };
  return {
    /** The burst that lasts; null while nobody asks. */
    current: () => (operations > 0 ? number : null),
    begin: () => {
      clearTimeout(stragglers);
      operations += 1;
      mostAtOnce = Math.max(mostAtOnce, operations);
      return () => {
        operations -= 1;
        if (operations > 0) return;
        if (mostAtOnce < stampede) end();
        else stragglers = setTimeout(end, stragglersMs).unref();
      };
    },
  };
}

/** What is not there (404) is not kept, nor what cannot be read. */
function namesOf({ restsOn }: Wanted, { json }: Fetched): Standing['restsOn'] | null {
  if (typeof json !== 'object' || json === null) return null;
  try {
    return restsOn?.(json) ?? null;
  } catch {
    return null;
  }
}

/** Waits for a shared read; when the last one who waits has left, the read itself is aborted. */
async function waitFor(read: SharedRead, signal: AbortSignal | undefined): Promise<unknown> {
  read.waiting += 1;
  // One that cannot leave is never taken off the count, so nobody else's leaving aborts its read.
  if (signal === undefined) return (await read.promise).json;
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => {
    read.waiting -= 1;
    if (read.waiting === 0 && read.settled === null) read.abort.abort(signal.reason);
    reject(describeEnd(signal));
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    return (await Promise.race([read.promise, left])).json;
  } finally {
    if (!signal.aborted) read.waiting -= 1;
    signal.removeEventListener('abort', leave);
  }
}
