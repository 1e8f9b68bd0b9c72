import { DelegateBackoff, handleWhen, retry } from 'cockatiel';
import { type GatewayError, isGatewayError } from '../errors.ts';

const maxAttempts = 3;

export interface RetryOptions {
  /** When the whole call must be over, as `performance.now()` milliseconds. */
  readonly deadline: number;
  /** First pause in milliseconds; each further one doubles, with full jitter. */
  readonly baseDelayMs: number;
}

/**
 * Runs a read up to three times. Only faults that may pass are tried again: no answer, 429, 5xx, a broken
 * body. `Retry-After` is honoured; a pause that would outlast the deadline ends the tries at once.
 * Writes never come here: the service has no idempotency for most of them (specification, Endpoints).
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
  // A broken body of a 2xx may come whole the next time; a redirect or an answer that is too long comes again.
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
