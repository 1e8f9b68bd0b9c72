/**
 * Remembers what came of a write under the caller's idempotency key, beside the event log and as durable.
 * The service itself has no idempotency for testkit orders, so a repeated request must find its first answer.
 */
export interface IdempotencyRecords {
  /** Claims the key for a first attempt, or tells what became of earlier ones. */
  readonly begin: (key: string, fingerprint: string) => Promise<EarlierAttempt>;
  /**
   * Claims the key for a new attempt after one that began at `since` and never settled; false when somebody else
   * has claimed or settled it meanwhile.
   */
  readonly reclaim: (key: string, since: Date) => Promise<boolean>;
  /** Keeps the answer of the attempt: from now on it is replayed. */
  readonly finish: (key: string, answer: unknown) => Promise<void>;
  /** The attempt came to nothing, for certain: the key is free again. */
  readonly release: (key: string) => Promise<void>;
}

export type EarlierAttempt =
  | { readonly kind: 'first' }
  | { readonly kind: 'finished'; readonly answer: unknown }
  /** An attempt began and nobody knows how it ended (a lost answer, a killed process). */
  | { readonly kind: 'unsettled'; readonly since: Date }
  /** The key was used with another input. */
  | { readonly kind: 'conflict' };
