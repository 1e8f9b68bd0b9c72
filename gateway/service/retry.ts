import { DelegateBackoff, handleWhen, retry } from 'cockatiel';
import { type GatewayError, isGatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';

const maxAttempts = 3;

export interface RetryOptions {
  /** When the whole call must be over, as `performance.now()` milliseconds. */
  readonly deadline: number;
  /** First pause in milliseconds; each further one doubles, with full jitter. */
  readonly baseDelayMs: number;
}

/**
 * Runs a read up to three times. Only transient faults are retried: no answer, 429, 5xx, a broken body. `Retry-After`
 * is honoured. If a pause would exceed the deadline, the read fails at once. Writes are never retried, because the
 * service has no idempotency for most of them (specification, Endpoints).
 */
export async function withRetries<T>(options: RetryOptions, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    // A retry policy is made only after a failure, because nearly every call succeeds.
    return await goOn(options, { error, attempt });
  }
}

function goOn<T>(
  options: RetryOptions,
  failed: { readonly error: unknown; readonly attempt: () => Promise<T> },
) {
  let attempts = 0;
  const policy = retry(
    handleWhen((error) => isWorthRetrying(error) && fitsDeadline(error, options)),
    {
      maxAttempts: maxAttempts - 1,
      backoff: new DelegateBackoff<{ readonly result?: unknown }>(({ result }) => {
        attempts += 1;
        return pauseBefore(readError(result), attempts, options.baseDelayMs);
      }),
    },
  );
  return policy.execute(({ attempt }) => (attempt === 0 ? Promise.reject(failed.error) : failed.attempt()));
}

function isWorthRetrying(error: unknown): error is GatewayError {
  // A broken body of a 2xx may arrive whole at the next attempt. A redirect or an answer that is too long would come
  // again.
  if (isGatewayError(error, 'UPSTREAM_UNREADABLE')) return error.status !== undefined && error.status < 300;
  return isGatewayError(error, 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_RATE_LIMITED');
}

function fitsDeadline(error: GatewayError, options: RetryOptions): boolean {
  const pause = error.retryAfterMs ?? options.baseDelayMs;
  return performance.now() + pause < options.deadline;
}

function readError(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'error' in result ? result.error : undefined;
}

function pauseBefore(error: unknown, attempt: number, baseDelayMs: number): number {
  const jittered = Math.random() * baseDelayMs * 2 ** (attempt - 1);
  const asked = isGatewayError(error) ? (error.retryAfterMs ?? 0) : 0;
  return asked + jittered;
}

/** The service's answer as read from its JSON, and how long that was. */
export interface Fetched {
  readonly json: unknown;
  readonly bytes: number;
}

type Ask = (call: UpstreamCall) => Promise<Fetched>;

/**
 * Makes calls that have two paths. The second is tried when the first is not found or redirects, and is tried first from
 * then on. Redirects are never followed: both paths are on the configured origin, the only one that gets the key.
 * @returns makes a call, and remembers for each call the path that was found
 */
export function createPathChoice(): (call: UpstreamCall, ask: Ask) => Promise<Fetched> {
  /**
   * The first paths of calls whose other path was found last. There is at most one entry for each such call in the
   * code.
   */
  const moved = new Set<string>();
  return async (call, ask) => {
    const { path, otherPath } = call;
    if (otherPath === undefined) return await ask(call);
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
