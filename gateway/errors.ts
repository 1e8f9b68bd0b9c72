/**
 * The closed set of error codes and their meanings for the person who gets one. docs/errors.md has exactly the same
 * codes (tested).
 */
export const errorCodes = {
  BAD_REQUEST: 'The HTTP request is not a GraphQL request this endpoint understands.',
  NOT_ACCEPTABLE: 'The client accepts no form in which the answer exists.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  BAD_USER_INPUT: 'An argument or variable is not what its description asks for.',
  BAD_CURSOR: 'The cursor was not issued for this list or stream and this caller.',
  QUERY_TOO_COSTLY: 'The operation is deeper, wider or costlier than one request may be.',
  RATE_LIMITED: 'The caller has used its points of this minute, or has too much open at once.',
  OPERATION_NOT_LISTED: 'Viewers may send only listed operations, and this is none of them.',
  PERSISTED_QUERY_NOT_FOUND: 'No listed operation has the id that was sent in place of a document.',
  PERSISTED_QUERY_NOT_SUPPORTED: 'The gateway does not learn documents, and has no list of them.',
  UNAUTHENTICATED: 'The request carries no valid gateway key or viewer token.',
  FORBIDDEN: 'The caller may not do this.',
  NOT_FOUND: 'The requested thing does not exist, or the caller may not see it.',
  IDEMPOTENCY_UNSETTLED: 'An earlier attempt under this key has no known outcome yet; ask again later.',
  ABANDONED: 'The client left before the service had answered.',
  UPSTREAM_TIMEOUT: 'The service did not answer in time.',
  UPSTREAM_UNAVAILABLE: 'The service could not be reached or failed.',
  UPSTREAM_RATE_LIMITED: 'The service asks to be called less often.',
  UPSTREAM_UNAUTHORIZED: "The service refused the gateway's key.",
  UPSTREAM_FORBIDDEN: 'The service does not allow this team to do that.',
  UPSTREAM_REJECTED: 'The service refused the request.',
  UPSTREAM_UNREADABLE: 'The service answered with something that is not its documented JSON.',
  PORTAL_URL_REFUSED: 'The service issued a portal link to an address this gateway does not allow.',
  WEBHOOK_UNVERIFIED: 'The webhook signature is missing, wrong or too old.',
  WEBHOOK_TOO_LARGE: 'The webhook body is larger than the limit.',
  WEBHOOK_ENCODED: 'The webhook body is compressed; it must be sent as it was signed.',
  WEBHOOK_FLOODED: 'The buffer for webhooks is full.',
  EVENT_LOG_UNAVAILABLE: 'The event log cannot be written or read at the moment.',
  EVENT_LOG_LOCKED: 'Another process holds the event log.',
  EVENT_LOG_DAMAGED: 'The event log file failed its integrity check.',
  EVENT_LOG_WEAK: 'The event log may lose events that it acknowledged.',
  CONFIG_INVALID: 'The gateway cannot start as it is configured.',
  INTERNAL: 'The gateway failed; the log line with the same requestId says why.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One fault of the input that the service named in a 422, without the rejected value. */
export interface UpstreamIssue {
  /** The place in the service's names: `['body', 'shipping_details', 'zip']`. */
  readonly location: readonly string[];
  readonly message: string;
  /** The service's word for the fault, such as `missing`; null where it sent none. */
  readonly kind: string | null;
}

export interface GatewayErrorOptions {
  readonly cause?: unknown;
  /** HTTP status of the service's answer, if there was one. */
  readonly status?: number;
  readonly issues?: readonly UpstreamIssue[];
  /** The service's own reason for a refusal, without anything that may be a value (service/reason.ts). */
  readonly reason?: string;
  /** The request was certainly not sent, so it had no effect. */
  readonly notSent?: boolean;
  /** The pause before the next call that the service asks for, in milliseconds. */
  readonly retryAfterMs?: number;
  /** For a write: whether it may have been done in spite of the error. Left out for other calls. */
  readonly mayBeDone?: boolean;
}

/** One day. The service may send any delay; clients never get a longer one than this. */
const maxRetryAfterMs = 86_400_000;

/**
 * The one error class of the gateway. It is thrown where the fault is known, and `execution/mask.ts` turns it into a
 * response. Errors are distinguished by `code` and never by text. The message is a sentence for a person, without
 * upstream body, URL or id of another person.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number | undefined;
  readonly issues: readonly UpstreamIssue[];
  readonly reason: string | undefined;
  readonly notSent: boolean;
  readonly retryAfterMs: number | undefined;
  readonly mayBeDone: boolean | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status;
    this.issues = options.issues ?? [];
    this.reason = options.reason;
    this.notSent = options.notSent ?? false;
    this.retryAfterMs =
      options.retryAfterMs === undefined ? undefined : Math.min(options.retryAfterMs, maxRetryAfterMs);
    this.mayBeDone = options.mayBeDone;
  }

  /** The same error with another `mayBeDone`. */
  withOutcome(mayBeDone: boolean): GatewayError {
    const { cause, status, issues, reason, notSent, retryAfterMs } = this;
    return new GatewayError(this.code, this.message, {
      cause,
      issues,
      notSent,
      mayBeDone,
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /**
   * Whether the service itself reported a failure. 502 and 504 come from a proxy that got no answer, so they reveal
   * nothing about the service behind it.
   */
  get isOwnFailure(): boolean {
    const { status } = this;
    return status !== undefined && status >= 500 && status !== 502 && status !== 504;
  }
}

/** Narrows an unknown thrown value to a GatewayError, optionally of one of the given codes. */
export function isGatewayError(error: unknown, ...codes: readonly ErrorCode[]): error is GatewayError {
  return error instanceof GatewayError && (codes.length === 0 || codes.includes(error.code));
}

/** The thrown value; a GatewayError says then whether a write may have been done. */
export function withOutcome(error: unknown, mayBeDone: boolean): unknown {
  return error instanceof GatewayError ? error.withOutcome(mayBeDone) : error;
}

/** The code of a thrown value: INTERNAL for anything but a GatewayError. */
export function codeOf(error: unknown): ErrorCode {
  return error instanceof GatewayError ? error.code : 'INTERNAL';
}

/** Whether a server's certificate was refused. Then nothing was sent to that server. */
export function isCertificateFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '' }: NodeJS.ErrnoException = error;
  return /^(?!ERR_SSL_).*(CERT|UNABLE_TO_VERIFY)/.test(code);
}
