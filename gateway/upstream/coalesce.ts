/**
 * Reads that several callers want at once are made once.
 *
 * Two rules decide what "at once" means:
 * 1. Equal reads in flight share one call.
 * 2. A finished read stays shared while the burst of operations that asked for it lasts, one second at most.
 *    Measured: 50 equal nested queries over 50 sockets take the event loop about 500 ms in all, while one
 *    upstream read takes 2 ms; with rule 1 alone, or 100 ms here, most of them repeated it. When the last
 *    operation of the burst has its answer nothing is kept: who asks twice in a row, alone, asks the service twice.
 *    Only after a stampede (8 operations at once) reads stay for 50 ms more: its stragglers, held up by a busy
 *    machine, belong to it (without this, 1 run in 3 on a loaded machine of 2 cores asked twice).
 *
 * Failures are never kept, and `forget` drops everything the moment a webhook or a write changes something.
 */
const keptForMs = 1000;
const stampede = 8;
const stragglersMs = 50;

interface SharedRead {
  readonly promise: Promise<unknown>;
  readonly abort: AbortController;
  waiting: number;
  settledAt: number | null;
}

export interface Coalescer {
  /** The answer for `key`: of an equal read under way or of this burst, else of `read`. */
  readonly share: (
    key: string,
    signal: AbortSignal | undefined,
    read: (signal: AbortSignal) => Promise<unknown>,
    onShared?: () => void,
  ) => Promise<unknown>;
  /** Marks the start of an operation; the function it returns marks its end. */
  readonly begin: () => () => void;
  /** No read that started before now is shared any more. */
  readonly forget: () => void;
}

export interface CoalescerOptions {
  readonly onShared?: (key: string) => void;
}

export function createCoalescer(options: CoalescerOptions = {}): Coalescer {
  const reads = new Map<string, SharedRead>();
  let operations = 0;
  let mostAtOnce = 0;
  let stragglers: NodeJS.Timeout | undefined;

  const isFresh = (read: SharedRead) =>
    read.settledAt === null || (operations > 0 && performance.now() - read.settledAt < keptForMs);
  const endBurst = () => {
    mostAtOnce = 0;
    dropSettled(reads);
  };

  const start = (key: string, read: (signal: AbortSignal) => Promise<unknown>): SharedRead => {
    const abort = new AbortController();
    const shared: SharedRead = { promise: read(abort.signal), abort, waiting: 0, settledAt: null };
    reads.set(key, shared);
    const drop = () => {
      if (reads.get(key) === shared) reads.delete(key);
    };
    shared.promise.then(() => {
      shared.settledAt = performance.now();
      if (operations === 0) drop();
      else setTimeout(drop, keptForMs).unref();
    }, drop);
    return shared;
  };

  return {
    share: async (key, signal, read, onShared) => {
      signal?.throwIfAborted();
      const existing = reads.get(key);
      const isShared = existing !== undefined && isFresh(existing) && !existing.abort.signal.aborted;
      if (isShared) {
        options.onShared?.(key);
        onShared?.();
      }
      return await waitFor(isShared ? existing : start(key, read), signal);
    },
    begin: () => {
      clearTimeout(stragglers);
      operations += 1;
      mostAtOnce = Math.max(mostAtOnce, operations);
      return () => {
        operations -= 1;
        if (operations > 0) return;
        if (mostAtOnce < stampede) endBurst();
        else stragglers = setTimeout(endBurst, stragglersMs).unref();
      };
    },
    forget: () => reads.clear(),
  };
}

function dropSettled(reads: Map<string, SharedRead>): void {
  for (const [key, read] of reads) if (read.settledAt !== null) reads.delete(key);
}

/** Waits for a shared read; when the last one who waits has left, the read itself is aborted. */
async function waitFor(shared: SharedRead, signal: AbortSignal | undefined): Promise<unknown> {
  shared.waiting += 1;
  // One that cannot leave is never taken off the count, so nobody else's leaving aborts its read.
  if (signal === undefined) return await shared.promise;
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => {
    shared.waiting -= 1;
    if (shared.waiting === 0 && shared.settledAt === null) shared.abort.abort(signal.reason);
    reject(signal.reason);
  };
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([shared.promise, left]);
  } finally {
    if (!signal.aborted) shared.waiting -= 1;
    signal.removeEventListener('abort', leave);
  }
}
