/** Caches the result of a call for `ttlMs`, so that frequent probes cost no more than one call in that time. */
export function memoize<T>(run: () => Promise<T>, ttlMs = Number.POSITIVE_INFINITY): () => Promise<T> {
  let latest: { readonly result: Promise<T>; readonly until: number } | null = null;
  return () => {
    if (latest === null || performance.now() >= latest.until) {
      latest = { result: run(), until: performance.now() + ttlMs };
    }
    return latest.result;
  };
}
