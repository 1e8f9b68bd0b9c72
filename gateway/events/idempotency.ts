import { GatewayError, isGatewayError, withOutcome } from '../errors.ts';

/**
 * Stores the outcome of a write under the caller's idempotency key, beside the event log and as durable. The service itself
 * has no idempotency for testkit orders, so a repeated request must find its first answer.
 */
export interface IdempotencyRecords {
  /** Claims the key for a first attempt, or returns the state of an earlier one. */
  readonly begin: (key: string, fingerprint: string) => Promise<EarlierAttempt>;
  /** Whether the key is claimed with another fingerprint. Claims nothing. */
  readonly isOfAnother: (key: string, fingerprint: string) => Promise<boolean>;
  /**
   * Claims the key for a new attempt after one that began at `since` and never settled; false when another attempt has
   * claimed or settled it meanwhile.
   */
  readonly reclaim: (key: string, since: Date) => Promise<boolean>;
  /** Stores the answer of the attempt. From now on it is replayed. */
  readonly finish: (key: string, answer: unknown) => Promise<void>;
  /** Frees the key: the attempt certainly had no effect. */
  readonly release: (key: string) => Promise<void>;
}

export type EarlierAttempt =
  | { readonly kind: 'first' }
  | { readonly kind: 'finished'; readonly answer: unknown }
  /** The outcome is not known (a lost answer, a killed process). */
  | {
      readonly kind: 'unsettled';
      readonly since: Date;
      /** How long ago it was claimed by the clock of the store, which all gateways share; not negative. */
      readonly ageMs: number;
    }
  /** The key was used with another input. */
  | { readonly kind: 'conflict' };

/** How long the service may still work on an attempt whose outcome is not known, in milliseconds. */
const settleMs = 60_000;

/** One write that must happen at most once under its key. Answers are JSON values. */
export interface Attempt {
  readonly key: string;
  /** Differs for every different input. */
  readonly fingerprint: string;
  /** Does the write; null when its subject does not exist. */
  readonly perform: () => Promise<unknown>;
  /**
   * Looks for the effect of an attempt made at this time or later whose answer was lost; null when there is none, rejects
   * when it cannot be told from others. Null in place of the function when no read can show it.
   */
  readonly recover: ((since: Date) => Promise<unknown>) | null;
  /** The answer to store when the service succeeded, but its answer cannot be read or found. */
  readonly unreadable: unknown;
}

export type Outcome =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'conflict' };

interface Running {
  readonly fingerprint: string;
  readonly outcome: Promise<Outcome>;
}

/** Performs writes at most once per key. */
export class Idempotency {
  readonly #records: IdempotencyRecords;
  readonly #running = new Map<string, Running>();

  constructor(records: IdempotencyRecords) {
    this.#records = records;
  }

  /**
   * A repeated attempt gets the first answer, one at the same time joins the first, and one whose answer was lost looks for
   * its effect.
   * @throws GatewayError IDEMPOTENCY_UNSETTLED while the outcome of an earlier attempt cannot be known;
   *   EVENT_LOG_UNAVAILABLE, which says whether the write may have been done; otherwise what `perform` throws
   */
  async run(attempt: Attempt): Promise<Outcome> {
    const { key, fingerprint } = attempt;
    const same = this.#running.get(key);
    if (same) return same.fingerprint === fingerprint ? await same.outcome : { kind: 'conflict' };
    const outcome = this.#settle(attempt).finally(() => this.#running.delete(key));
    this.#running.set(key, { fingerprint, outcome });
    return await outcome;
  }

  /**
   * Records that the attempt with this key has an effect, such as the order of this id; false when another attempt has it.
   * So a search for the effect of a lost attempt never finds the effect of another.
   */
  async hold(effect: string, key: string): Promise<boolean> {
    const { kind } = await this.#records.begin(effect, key);
    return kind !== 'conflict';
  }

  /** Whether an attempt with another key has the effect. */
  async isOfAnother(effect: string, key: string): Promise<boolean> {
    return await this.#records.isOfAnother(effect, key);
  }

  async #settle(attempt: Attempt): Promise<Outcome> {
    const earlier = await this.#records.begin(attempt.key, attempt.fingerprint).catch(throwAs(false));
    if (earlier.kind === 'conflict') return { kind: 'conflict' };
    if (earlier.kind === 'finished') return { kind: 'answer', answer: earlier.answer };
    if (earlier.kind === 'unsettled') {
      const found = (await attempt.recover?.(earlier.since).catch(throwAs(true))) ?? null;
      if (found !== null) return await this.#finish(attempt.key, found);
      const remainingMs = settleMs - earlier.ageMs;
      if (remainingMs > 0) throw unsettled(remainingMs);
      // Claimed again, so that the wait for another lost answer begins now and not at the first attempt. Of several
      // gateways one gets the claim; the others find it claimed just now.
      const isReclaimed = await this.#records.reclaim(attempt.key, earlier.since).catch(throwAs(true));
      if (!isReclaimed) return await this.#settle(attempt);
    }
    return await this.#perform(attempt);
  }

  async #perform(attempt: Attempt): Promise<Outcome> {
    const since = new Date();
    let answer: unknown;
    try {
      answer = await attempt.perform();
    } catch (error) {
      return await this.#handleFailure(attempt, error, since);
    }
    if (answer !== null) return await this.#finish(attempt.key, answer);
    await this.#release(attempt.key);
    return { kind: 'nothing' };
  }

  /** A refusal frees the key. After any other failure the answer may be lost, so its effect is looked for at once. */
  async #handleFailure(attempt: Attempt, error: unknown, since: Date): Promise<Outcome> {
    if (isRefusal(error)) {
      await this.#release(attempt.key);
      throw error;
    }
    const found = await attempt.recover?.(since).catch(() => undefined);
    if (found !== null && found !== undefined) return await this.#finish(attempt.key, found);
    if (!isGatewayError(error)) throw error;
    // The service reported success: never again under this key, even though nobody can show the effect.
    if (isSuccess(error.status)) return await this.#finish(attempt.key, attempt.unreadable);
    // No read could look, or the service may still be working: the key stays claimed.
    if (found === undefined || !error.isOwnFailure) throw error;
    // The service reported a failure, and there is no effect.
    await this.#release(attempt.key);
    throw error.withOutcome(false);
  }

  async #finish(key: string, answer: unknown): Promise<Outcome> {
    await this.#records.finish(key, answer).catch(throwAs(true));
    return { kind: 'answer', answer };
  }

  async #release(key: string): Promise<void> {
    await this.#records.release(key).catch(throwAs(false));
  }
}

/** Throws an error again, which says then whether the write may have been done. */
function throwAs(mayBeDone: boolean): (error: unknown) => never {
  return (error) => {
    throw withOutcome(error, mayBeDone);
  };
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

function unsettled(remainingMs: number): GatewayError {
  return new GatewayError(
    'IDEMPOTENCY_UNSETTLED',
    'An earlier attempt under this idempotencyKey had no answer and may still be at work. Repeat the same call later.',
    { retryAfterMs: remainingMs, mayBeDone: true },
  );
}
