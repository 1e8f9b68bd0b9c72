import type { Upstream } from './client.ts';

/** What one operation has asked of the service so far. */
export interface UpstreamTotals {
  /** Calls made for it; a call that is tried again is one. */
  readonly calls: number;
  /** Reads answered by an equal read of the same burst (coalesce.ts). */
  readonly shared: number;
  /** Always 0: nothing is kept beyond a burst. */
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
  let shared = 0;
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
  const onShared = () => {
    shared += 1;
  };
  return {
    upstream: {
      ...upstream,
      read: (call, options) => timed(() => upstream.read(call, { ...options, onShared })),
      write: (call) => timed(() => upstream.write(call)),
      open: (call, options) => timed(() => upstream.open(call, options)),
    },
    totals: () => ({ calls: asked - shared, shared, cached: 0, ms: Math.round(ms) }),
  };
}
