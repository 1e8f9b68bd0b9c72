import { type Basis, keepApartOnUse } from './basis.ts';
import type { ReadOptions, Upstream, UpstreamCall, WriteOptions } from './client.ts';
import type { AnsweredBy } from './coalesce.ts';
import type { OpenOptions, UpstreamFile } from './file.ts';
import type { Standing } from './shelf.ts';

/** What one operation has asked of the service so far. */
export interface UpstreamTotals {
  /** Calls made for it; a call that is tried again is one. */
  readonly calls: number;
  /** Reads answered by an equal read of the same burst (coalesce.ts). */
  readonly shared: number;
  /** Reads answered by what was kept of an earlier one (coalesce.ts). */
  readonly cached: number;
  /** Milliseconds during which it waited for at least one of them. */
  readonly ms: number;
}

/** What one operation asks of the service. */
export type Asked = Pick<Upstream, 'read' | 'write' | 'open'>;

export interface TracedUpstream {
  readonly upstream: Asked;
  readonly totals: () => UpstreamTotals;
}

/**
 * The service with a count of what is asked of it through here, for one operation.
 * @param basis notes each read; whatever else is used of the service makes the answer its operation's own
 */
export function traceUpstream(upstream: Asked, basis: Basis | undefined): TracedUpstream {
  const asking = new Asking(upstream, basis);
  const totals = () => asking.totals();
  if (basis === undefined) return { upstream: asking, totals };
  return {
    upstream: keepApartOnUse(asking, basis, { read: (call, options) => asking.read(call, options) }),
    totals,
  };
}

/** A class, so that its methods are shared; a read is counted and noted in one layer. */
class Asking implements Asked {
  readonly #upstream: Asked;
  readonly #basis: Basis | undefined;
  #asked = 0;
  #shared = 0;
  #kept = 0;
  #waiting = 0;
  #since = 0;
  #ms = 0;

  constructor(upstream: Asked, basis: Basis | undefined) {
    this.#upstream = upstream;
    this.#basis = basis;
  }

  async read(call: UpstreamCall, options: ReadOptions): Promise<unknown> {
    if (call.isSingleUse) this.#basis?.keepApart();
    const endRead = this.#basis?.beginRead();
    let standing: Standing | null = null;
    this.#begin();
    try {
      const json = await this.#upstream.read(call, {
        ...options,
        onAnswered: (by) => {
          this.#count(by);
          options.onAnswered?.(by);
        },
        onStanding: (shared) => {
          standing = shared;
        },
      });
      // One that fails never ends, whatever is made of its failure.
      endRead?.(standing);
      return json;
    } finally {
      this.#end();
    }
  }

  write(call: UpstreamCall, options?: WriteOptions): Promise<unknown> {
    return this.#time(this.#upstream.write(call, options));
  }

  open(call: UpstreamCall, options: OpenOptions): Promise<UpstreamFile | undefined> {
    return this.#time(this.#upstream.open(call, options));
  }

  totals(): UpstreamTotals {
    const [shared, cached] = [this.#shared, this.#kept];
    return { calls: this.#asked - shared - cached, shared, cached, ms: Math.round(this.#ms) };
  }

  async #time<Result>(answer: Promise<Result>): Promise<Result> {
    this.#begin();
    try {
      return await answer;
    } finally {
      this.#end();
    }
  }

  #begin(): void {
    this.#asked += 1;
    if (this.#waiting === 0) this.#since = performance.now();
    this.#waiting += 1;
  }

  #end(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#ms += performance.now() - this.#since;
  }

  #count(by: AnsweredBy): void {
    if (by === 'shared') this.#shared += 1;
    else this.#kept += 1;
  }
}
