import { type GatewayError, isGatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';
import type { Fetched } from './failure.ts';

export interface Attempts {
  /** How many there were. */
  readonly attempts: number;
  /** When the whole call must be over, as `performance.now()` milliseconds. */
  readonly deadline: number;
  /** First pause in milliseconds; each further one doubles, with full jitter. */
  readonly baseDelayMs: number;
}

/**
 * How many milliseconds to wait before the next attempt of a read; null when there is none. Only transient faults are
 * retried: no answer, 429, 5xx, a broken body. `Retry-After` is honoured. If a pause would exceed the deadline, the read
 * fails at once.
 */
export function pauseBeforeRetry(
  error: unknown,
  { attempts, deadline, baseDelayMs }: Attempts,
): number | null {
  if (!isWorthRetrying(error)) return null;
  if (performance.now() + (error.retryAfterMs ?? baseDelayMs) >= deadline) return null;
  return (error.retryAfterMs ?? 0) + Math.random() * baseDelayMs * 2 ** (attempts - 1);
}

function isWorthRetrying(error: unknown): error is GatewayError {
  // A broken body of a 2xx may arrive whole at the next attempt. A redirect or an answer that is too long would come
  // again.
  if (isGatewayError(error, 'UPSTREAM_UNREADABLE')) return error.status !== undefined && error.status < 300;
  return isGatewayError(error, 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_RATE_LIMITED');
}

type Ask = (call: UpstreamCall) => Promise<Fetched>;

/**
 * Makes calls that have two paths. The second is tried when the first is not found or redirects, and is tried first from
 * then on. Redirects are never followed: both paths are on the configured origin, the only one that gets the key.
 * @returns makes a call, and remembers for each call the path that was found
 */
export function createPathChoice(): (call: UpstreamCall, otherPath: string, ask: Ask) => Promise<Fetched> {
  /**
   * The first paths of calls whose other path was found last. There is at most one entry for each such call in the
   * code.
   */
  const moved = new Set<string>();
  return async (call, otherPath, ask) => {
    const { path } = call;
    const isMoved = moved.has(path);
    const first = await tryAt(call, isMoved ? otherPath : path, ask);
    if (first.isThere) return first.fetched;
    const second = await tryAt(call, isMoved ? path : otherPath, ask);
    if (second.isThere && !isMoved) moved.add(path);
    else moved.delete(path);
    if (second.isThere) return second.fetched;
    if ('error' in first) throw first.error;
    return first.fetched;
  };
}

type Tried =
  | { readonly isThere: boolean; readonly fetched: Fetched }
  | { readonly isThere: false; readonly error: unknown };

async function tryAt(call: UpstreamCall, path: string, ask: Ask): Promise<Tried> {
  try {
    const fetched = await ask({ ...call, path });
    return { isThere: fetched.json !== undefined, fetched };
  } catch (error) {
    if (isRedirect(error)) return { isThere: false, error };
    throw error;
  }
}

function isRedirect(error: unknown): boolean {
  const status = isGatewayError(error, 'UPSTREAM_UNREADABLE') ? (error.status ?? 0) : 0;
  return status >= 300 && status < 400;
}
