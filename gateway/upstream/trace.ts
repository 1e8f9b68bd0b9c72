import type { Upstream } from './client.ts';
import type { AnsweredBy } from './coalesce.ts';

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

export interface TracedUpstream {
  readonly upstream: Upstream;
  readonly totals: () => UpstreamTotals;
}

/** The service with a count of what is asked of it through here. */
export function traceUpstream(upstream: Upstream): TracedUpstream {
  let asked = 0;
  const answered = { shared: 0, kept: 0 };
  let waiting = 0;
  let since = 0;
  let ms = 0;
  const timed = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    asked += 1;
    if (waiting === 0) since = performance.now();
    waiting += 1;
    try {
      return await ask();
    } finally {
      waiting -= 1;
      if (waiting === 0) ms += performance.now() - since;
    }
  };
  return {
    upstream: {
      ...upstream,
      read: (call, options) => {
        const onAnswered = (by: AnsweredBy) => {
          answered[by] += 1;
          options.onAnswered?.(by);
        };
        return timed(() => upstream.read(call, { ...options, onAnswered }));
      },
      write: (call, options) => timed(() => upstream.write(call, options)),
      open: (call, options) => timed(() => upstream.open(call, options)),
    },
    totals: () => {
      const { shared, kept } = answered;
      return { calls: asked - shared - kept, shared, cached: kept, ms: Math.round(ms) };
    },
  };
}
