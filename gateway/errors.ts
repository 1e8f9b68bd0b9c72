/**
 * The closed set of error codes and what each one means to the person who meets it.
 * Every code is in docs/errors.md, and every code there is here (tested).
 */
export const errorCodes = {
  BAD_REQUEST: 'The HTTP request is not a GraphQL request this endpoint understands.',
  GRAPHQL_PARSE_FAILED: 'The document is not GraphQL.',
  GRAPHQL_VALIDATION_FAILED: 'The document does not fit the schema.',
  BAD_USER_INPUT: 'An argument or variable is not what its description asks for.',
  BAD_CURSOR: 'The cursor was not issued for this list or stream and this caller.',
  QUERY_TOO_COSTLY: 'The operation is deeper, wider or costlier than one request may be.',
  RATE_LIMITED: 'The caller has asked for more than one caller may in a minute, or at once.',
  OPERATION_NOT_LISTED: 'Viewers may send only listed operations, and this is none of them.',
  PERSISTED_QUERY_NOT_FOUND: 'No listed operation has the id that was sent in place of a document.',
  UNAUTHENTICATED: 'The request carries no valid gateway key or viewer token.',
  FORBIDDEN: 'The caller is known, yet may not do this.',
  NOT_FOUND: 'What is asked for does not exist, or the caller may not see it.',
  IDEMPOTENCY_UNSETTLED: 'An earlier attempt under this key has no known outcome yet; ask again later.',
  ABANDONED: 'The client left before the service had answered.',
  UPSTREAM_TIMEOUT: 'The service did not answer in time.',
  UPSTREAM_UNAVAILABLE: 'The service could not be reached or failed.',
  UPSTREAM_RATE_LIMITED: 'The service asks to be called less often.',
  UPSTREAM_UNAUTHORIZED: "The service refused the gateway's key.",
  UPSTREAM_FORBIDDEN: 'The service does not allow this team to do that.',
  UPSTREAM_REJECTED: 'The service refused the request as it stands.',
  UPSTREAM_UNREADABLE: 'The service answered with something that is not its documented JSON.',
  PORTAL_URL_REFUSED: 'The service issued a portal link to an address this gateway does not allow.',
  WEBHOOK_UNVERIFIED: 'The webhook signature is missing, wrong or too old.',
  WEBHOOK_TOO_LARGE: 'The webhook body is larger than the limit.',
  WEBHOOK_ENCODED: 'The webhook body is compressed; it must be sent as it was signed.',
  WEBHOOK_FLOODED: 'More webhooks are in hand than the gateway takes at once.',
  EVENT_LOG_UNAVAILABLE: 'The event log cannot be written or read at the moment.',
  EVENT_LOG_LOCKED: 'Another process holds the event log.',
  EVENT_LOG_DAMAGED: 'The event log file failed its integrity check.',
  EVENT_LOG_WEAK: 'The event log would not keep what it acknowledges.',
  CONFIG_INVALID: 'The gateway cannot start as it is configured.',
  INTERNAL: 'The gateway failed; the log line with the same requestId says why.',
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** One fault the service named in a 422, without the rejected value. */
export interface UpstreamIssue {
  /** Where, as the service names it: `['body', 'shipping_details', 'zip']`. */
  readonly location: readonly string[];
  readonly message: string;
}

export interface GatewayErrorOptions {
  readonly cause?: unknown;
  /** HTTP status of the service's answer, where there was one. */
  readonly status?: number;
  readonly issues?: readonly UpstreamIssue[];
  /** The request certainly never left: nothing can have happened on the other side. */
  readonly notSent?: boolean;
  /** How long the other side asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Of a write: whether it may have been done all the same. Left out where nothing was to be done. */
  readonly mayBeDone?: boolean;
}

/** A day. The service may send any delay; clients never see a longer one than this. */
const maxRetryAfterMs = 86_400_000;

/**
 * The one error class of the gateway. Thrown where the fault is known, turned into an answer in
 * `execution/mask.ts`, told apart by `code` and never by text. The message is a sentence for a person: no
 * upstream body, no URL, no id of another person.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly status: number | undefined;
  readonly issues: readonly UpstreamIssue[];
  readonly notSent: boolean;
  readonly retryAfterMs: number | undefined;
  readonly mayBeDone: boolean | undefined;

  constructor(code: ErrorCode, message: string, options: GatewayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = options.status;
    this.issues = options.issues ?? [];
    this.notSent = options.notSent ?? false;
    this.retryAfterMs =
      options.retryAfterMs === undefined ? undefined : Math.min(options.retryAfterMs, maxRetryAfterMs);
    this.mayBeDone = options.mayBeDone;
  }

  /** The same error, with another word on whether what was asked for may have been done. */
  withOutcome(mayBeDone: boolean): GatewayError {
    const { cause, status, issues, notSent, retryAfterMs } = this;
    return new GatewayError(this.code, this.message, {
      cause,
      issues,
      notSent,
      mayBeDone,
      ...(status === undefined ? {} : { status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /**
   * Whether the service itself said that it failed, rather than nothing. 502 and 504 are a proxy's words for
   * "no answer": they say nothing of the service behind it.
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
