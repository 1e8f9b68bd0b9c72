/**
 * Runs something with a signal that aborts when another does, with its reason, and with a TimeoutError when the time is
 * up. Linked by hand: `AbortSignal.any` and `AbortSignal.timeout` keep weak references that the garbage collector looks
 * through, and there are two for each call.
 */
export async function runWithin<T>(
  ms: number,
  left: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const within = new AbortController();
  const leave = () => within.abort(left.reason);
  if (left.aborted) leave();
  const timer = setTimeout(() => within.abort(new DOMException('', 'TimeoutError')), ms);
  left.addEventListener('abort', leave, { once: true });
  try {
    return await run(within.signal);
  } finally {
    clearTimeout(timer);
    left.removeEventListener('abort', leave);
  }
}
