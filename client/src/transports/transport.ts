import type { GraphQLResult, Operation } from '../http.ts';

/** One attempt to follow a subscription. */
export interface Attempt {
  readonly operation: Operation;
  readonly signal: AbortSignal;
  /** The gateway has accepted the token. */
  readonly accepted: () => void;
}

/**
 * Yields the results of one attempt, each when it is asked for, and returns when the subscription is over. Throws a
 * LabgraphError when the stream is cut, and `readerWasSlow` when results were left at the gateway.
 */
export type Transport = (attempt: Attempt) => AsyncGenerator<GraphQLResult, void, undefined>;

/** Thrown when the buffer is full and read to its end: the rest comes with the next attempt. */
export const readerWasSlow = Symbol('reader was slow');
