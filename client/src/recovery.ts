import { LabgraphError, transientCodes } from './errors.ts';

const firstPauseMs = 500;
const longestPauseMs = 30_000;
/** A connection that lived this long starts a new count of failures. */
const steadyMs = 5000;

/** How an attempt went until it failed. */
export interface Failed {
  /** Whether the gateway accepted the token. */
  readonly isAccepted: boolean;
  readonly livedMs: number;
}

export interface RecoveryOptions {
  /** Whether a rejected token can be replaced. */
  readonly canRenew: boolean;
  /** Called each time the stream was cut and will be resumed. */
  readonly onRetry?: ((error: LabgraphError) => void) | undefined;
}

/** Decides after each failed attempt whether there is another one, and when. */
export class Recovery {
  readonly #options: RecoveryOptions;
  /** In a row, without an item in between. */
  #failures = 0;
  /** Tokens in a row that were rejected before they were accepted. */
  #rejections = 0;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  received(): void {
    this.#failures = 0;
  }

  /**
   * @returns the milliseconds until the next attempt
   * @throws the error, if another attempt would end in the same way
   */
  pauseAfter(error: unknown, { isAccepted, livedMs }: Failed): number {
    if (!(error instanceof LabgraphError)) throw error;
    if (livedMs > steadyMs) this.#failures = 0;
    if (isAccepted) this.#rejections = 0;
    const isRejected = error.code === 'UNAUTHENTICATED';
    if (isRejected) this.#rejections += 1;
    const isOver = isRejected
      ? !this.#options.canRenew || this.#rejections > 1
      : !transientCodes.includes(error.code);
    if (isOver) throw error;
    this.#options.onRetry?.(error);
    this.#failures += 1;
    // The end of a token is no failure. Tokens that end at once are.
    if (isRejected && (!isAccepted || this.#failures === 1)) return 0;
    return Math.max(error.retryAfterMs, backoffMs(this.#failures));
  }
}

/** Grows with each failure, with jitter so that clients come back one by one. */
function backoffMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.2 + 0.8 * Math.random());
}

/** Resolves after the pause, and at once when the signal aborts or the browser is online again. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      globalThis.removeEventListener?.('online', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    globalThis.addEventListener?.('online', end);
    if (signal.aborted) end();
  });
}
