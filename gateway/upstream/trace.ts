import type { ReadOptions, Upstream, UpstreamCall, WriteOptions } from './client.ts';
import type { AnsweredBy } from './coalesce.ts';
import type { OpenOptions, UpstreamFile } from './file.ts';

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

/** The service with a count of what is asked of it through here. A class, so that its methods are shared: each operation has one. */
export class TracedUpstream implements Asked {
  readonly #upstream: Asked;
  #asked = 0;
  #shared = 0;
  #kept = 0;
  #waiting = 0;
  #since = 0;
  #ms = 0;

  constructor(upstream: Asked) {
    this.#upstream = upstream;
  }

  read(call: UpstreamCall, options: ReadOptions): Promise<unknown> {
    const onAnswered = (by: AnsweredBy) => {
      if (by === 'shared') this.#shared += 1;
      else this.#kept += 1;
      options.onAnswered?.(by);
    };
    return this.#time(this.#upstream.read(call, { ...options, onAnswered }));
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
    this.#asked += 1;
    if (this.#waiting === 0) this.#since = performance.now();
    this.#waiting += 1;
    try {
      return await answer;
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#ms += performance.now() - this.#since;
    }
  }
}
