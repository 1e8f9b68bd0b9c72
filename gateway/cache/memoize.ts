/**
 * Runs something at most once in a while: whoever asks meanwhile gets the latest answer. For what strangers may ask and
 * others must work for.
 */
export function keepRecent<T>(run: () => Promise<T>, keepMs: number): () => Promise<T> {
  let latest: { readonly answer: Promise<T>; readonly until: number } | null = null;
  return () => {
    if (latest === null || performance.now() >= latest.until) {
      latest = { answer: run(), until: performance.now() + keepMs };
    }
    return latest.answer;
  };
}

/** Runs something when it is first asked for, and never again. */
export function once<T>(run: () => Promise<T>): () => Promise<T> {
  return keepRecent(run, Number.POSITIVE_INFINITY);
}
