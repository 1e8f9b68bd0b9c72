import type { Config } from '../config.ts';
import type { ErrorCode } from '../errors.ts';

/** What the primary says to a worker. */
export type Order =
  /** The configuration is read once, by the primary: a replaced worker has that of the others. */
  | { readonly kind: 'start'; readonly number: number; readonly config: Config }
  | { readonly kind: 'tell-metrics'; readonly asking: number }
  | { readonly kind: 'metrics-of-all'; readonly asking: number; readonly answers: readonly unknown[] };

/** What a worker says to the primary. */
export type Report =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'cannot-start'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'ask-metrics'; readonly asking: number }
  | { readonly kind: 'metrics'; readonly asking: number; readonly answer: unknown };
