import { GatewayError, isGatewayError } from '../errors.ts';
import type { IdempotencyRecords } from './idempotency-records.ts';

/** How long after an attempt with no known outcome the service may still be working on it, in milliseconds. */
const settleMs = 60_000;

/** One write that must happen at most once under its key. Answers are JSON values. */
export interface Attempt {
  readonly key: string;
  /** Differs for every different input. */
  readonly fingerprint: string;
  /** Does it; null when what it is about does not exist. */
  readonly perform: () => Promise<unknown>;
  /**
   * Looks for what an attempt made at this time or later with a lost answer may have done; null = nothing. Null
   * in place of the function: nobody can look.
   */
  readonly recover: ((since: Date) => Promise<unknown>) | null;
  /** What to keep when the service said that it is done, but in an answer that cannot be read or found. */
  readonly unreadable: unknown;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflict' };

export interface Idempotency {
  /**
   * Performs a write at most once per key: a repeated one gets the first answer, one that runs at the same
   * time joins it, one whose answer was lost looks for what it did.
   * @throws GatewayError IDEMPOTENCY_UNSETTLED while the outcome of an earlier attempt cannot be known; what
   *   `perform` throws otherwise
   */
  readonly run: (attempt: Attempt) => Promise<Outcome>;
}

interface Running {
  readonly fingerprint: string;
  readonly outcome: Promise<Outcome>;
}

export function createIdempotency(records: IdempotencyRecords): Idempotency {
  const running = new Map<string, Running>();
  return {
    run: (attempt) => {
      const { key, fingerprint } = attempt;
      const same = running.get(key);
      if (same)
        return same.fingerprint === fingerprint ? same.outcome : Promise.resolve({ kind: 'conflict' });
      const outcome = settle(records, attempt).finally(() => running.delete(key));
      running.set(key, { fingerprint, outcome });
      return outcome;
    },
  };
}

async function settle(records: IdempotencyRecords, attempt: Attempt): Promise<Outcome> {
  const earlier = await records.begin(attempt.key, attempt.fingerprint);
  if (earlier.kind === 'conflict') return { kind: 'conflict' };
  if (earlier.kind === 'finished') return { kind: 'answer', answer: earlier.answer };
  if (earlier.kind === 'unsettled') {
    const found = (await attempt.recover?.(earlier.since).catch(stillOpen)) ?? null;
    if (found !== null) return await finish(records, attempt.key, found);
    const remainingMs = earlier.since.getTime() + settleMs - Date.now();
    if (remainingMs > 0) throw unsettled(remainingMs);
    // Claimed anew, so that an answer lost once more is waited for from now on and not from the first try. Of
    // several gateways one gets it; the others find it claimed just now.
    if (!(await records.reclaim(attempt.key, earlier.since))) return await settle(records, attempt);
  }
  return await perform(records, attempt);
}

async function perform(records: IdempotencyRecords, attempt: Attempt): Promise<Outcome> {
  const since = new Date();
  try {
    const answer = await attempt.perform();
    if (answer !== null) return await finish(records, attempt.key, answer);
    await records.release(attempt.key);
    return { kind: 'nothing' };
  } catch (error) {
    return await afterFailure(records, attempt, { error, since });
  }
}

/** A refusal frees the key. After a fault the answer may be lost, so what was done is looked for at once. */
async function afterFailure(
  records: IdempotencyRecords,
  attempt: Attempt,
  { error, since }: Failure,
): Promise<Outcome> {
  if (isRefusal(error)) {
    await records.release(attempt.key);
    throw error;
  }
  const found = await attempt.recover?.(since).catch(() => undefined);
  if (found !== null && found !== undefined) return await finish(records, attempt.key, found);
  if (!isGatewayError(error)) throw error;
  // It said that it is done: never again under this key, even though nobody can show what was done.
  if (isSuccess(error.status)) return await finish(records, attempt.key, attempt.unreadable);
  // Nobody could look, or it may still be working: the key stays claimed.
  if (found === undefined || !error.isOwnFailure) throw error;
  // It said that it failed, and shows nothing done.
  await records.release(attempt.key);
  throw error.withOutcome(false);
}

/** What an earlier attempt did is open while nobody can look. */
function stillOpen(error: unknown): never {
  throw isGatewayError(error) ? error.withOutcome(true) : error;
}

interface Failure {
  readonly error: unknown;
  /** When the attempt began. */
  readonly since: Date;
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

function isRefusal(error: unknown): boolean {
  if (!isGatewayError(error)) return false;
  return (
    error.notSent ||
    isGatewayError(
      error,
      'UPSTREAM_REJECTED',
      'UPSTREAM_FORBIDDEN',
      'UPSTREAM_UNAUTHORIZED',
      'UPSTREAM_RATE_LIMITED',
      'FORBIDDEN',
    )
  );
}

async function finish(records: IdempotencyRecords, key: string, answer: unknown): Promise<Outcome> {
  await records.finish(key, answer);
  return { kind: 'answer', answer };
}

function unsettled(remainingMs: number): GatewayError {
  return new GatewayError(
    'IDEMPOTENCY_UNSETTLED',
    'An earlier attempt under this idempotencyKey had no answer and may still be at work. Repeat the same call later.',
    { retryAfterMs: remainingMs, mayBeDone: true },
  );
}
