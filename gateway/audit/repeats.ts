import type { Access, Caller } from '../auth/rights.ts';

/** One line of the trail: an access, or a count of equal accesses. */
export interface AccessRecord {
  /** When it happened; of a count, the time of the last access. */
  readonly at: number;
  readonly caller: Caller;
  readonly access: Access;
  /** Set for a count of accesses without lines of their own. */
  readonly repeated: Repeated | null;
}

export interface Repeated {
  /** The time of the first access counted. */
  readonly since: number;
  readonly count: number;
}

const windowMs = 60_000;
/** Equal accesses within a minute that have a line each. Repeated refusals add no information. */
const linesPerWindow = { ok: 20, otherwise: 1 } as const;
const maxWindows = 10_000;

interface Window {
  readonly caller: Caller;
  readonly access: Access;
  /** By `performance.now`: the clock may be set back. */
  readonly endsAt: number;
  lines: number;
  since: number;
  lastAt: number;
  count: number;
}

/**
 * Prevents a caller from filling the disk with audit lines. Of equal accesses of one caller within a minute, the first have
 * a line each; the others share one line, written when the minute is over. At most 10,000 such windows are open: one more
 * closes the oldest.
 */
export class RepeatedAccesses {
  readonly #write: (record: AccessRecord) => void;
  /** Ordered by their end. */
  readonly #windows = new Map<string, Window>();
  #timer: NodeJS.Timeout | null = null;

  constructor(write: (record: AccessRecord) => void) {
    this.#write = write;
  }

  add(caller: Caller, access: Access): void {
    const at = Date.now();
    this.#endUntil(performance.now());
    const key = keyOf(caller, access);
    const window = this.#windows.get(key) ?? this.#begin(key, { caller, access, at });
    const lines = access.outcome === 'ok' ? linesPerWindow.ok : linesPerWindow.otherwise;
    if (window.lines < lines) {
      window.lines += 1;
      this.#write({ at, caller, access, repeated: null });
      return;
    }
    if (window.count === 0) window.since = at;
    window.count += 1;
    window.lastAt = at;
  }

  /** Writes the counts so far. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#endUntil(Number.POSITIVE_INFINITY);
  }

  #begin(key: string, { caller, access, at }: Omit<AccessRecord, 'repeated'>): Window {
    const [oldest] = this.#windows;
    if (oldest !== undefined && this.#windows.size >= maxWindows) this.#end(...oldest);
    const window = {
      caller,
      access,
      endsAt: performance.now() + windowMs,
      lines: 0,
      since: at,
      lastAt: at,
      count: 0,
    };
    this.#windows.set(key, window);
    this.#endIn(windowMs);
    return window;
  }

  #endIn(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const now = performance.now();
      this.#endUntil(now);
      const [next] = this.#windows.values();
      if (next !== undefined) this.#endIn(Math.max(1, next.endsAt - now));
    }, ms).unref();
  }

  #endUntil(time: number): void {
    for (const [key, window] of this.#windows) {
      if (window.endsAt > time) return;
      this.#end(key, window);
    }
  }

  #end(key: string, { caller, access, lastAt, since, count }: Window): void {
    this.#windows.delete(key);
    if (count > 0) this.#write({ at: lastAt, caller, access, repeated: { since, count } });
  }
}

function keyOf(caller: Caller, { kind, userId, outcome }: Access): string {
  const who = caller.kind === 'USER' ? [caller.userId, caller.tokenId] : [caller.keyName];
  return JSON.stringify([caller.kind, ...who, kind, userId, outcome]);
}
