/** The codes of the gateway that an operation can end with (docs/errors.md). */
export const gatewayCodes = [
  'BAD_REQUEST',
  'NOT_ACCEPTABLE',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'BAD_CURSOR',
  'QUERY_TOO_COSTLY',
  'RATE_LIMITED',
  'OPERATION_NOT_LISTED',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'NOT_FOUND',
  'IDEMPOTENCY_UNSETTLED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_UNAUTHORIZED',
  'UPSTREAM_FORBIDDEN',
  'UPSTREAM_REJECTED',
  'UPSTREAM_UNREADABLE',
  'PORTAL_URL_REFUSED',
  'EVENT_LOG_UNAVAILABLE',
  'INTERNAL',
] as const;

/**
 * The closed set of codes: those of the gateway, and the client's own. NETWORK_FAILED: no answer arrived.
 * TOKEN_UNAVAILABLE: the function `token` failed, or took longer than 15 s; `cause` says which. ANSWER_UNREADABLE: the answer is not GraphQL over HTTP.
 * DOCUMENT_NOT_RESUMABLE: the subscription does not declare `$after` or does not select `cursor`. UNKNOWN: a code of a newer gateway.
 */
export type LabgraphErrorCode =
  | (typeof gatewayCodes)[number]
  | 'NETWORK_FAILED'
  | 'TOKEN_UNAVAILABLE'
  | 'ANSWER_UNREADABLE'
  | 'DOCUMENT_NOT_RESUMABLE'
  | 'UNKNOWN';

/** One entry of `errors` in a GraphQL answer. */
export interface GraphQLErrorEntry {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface LabgraphErrorOptions {
  readonly cause?: unknown;
  readonly requestId?: string | null;
  readonly errors?: readonly GraphQLErrorEntry[];
  readonly data?: unknown;
}

/** The one error class of the client. Branch on `code`, never on the message. */
export class LabgraphError extends Error {
  readonly code: LabgraphErrorCode;
  /** Finds the request in the gateway's log; null if there was no answer. */
  readonly requestId: string | null;
  /** The answer's `errors`; empty if there was no answer. */
  readonly errors: readonly GraphQLErrorEntry[];
  /** The rest of an answer of which a part failed, for example one of two mutations; otherwise undefined. */
  readonly data: unknown;

  constructor(code: LabgraphErrorCode, options: LabgraphErrorOptions = {}) {
    const { errors = [], requestId, data } = options;
    super(errors[0]?.message ?? code, options);
    this.name = 'LabgraphError';
    this.code = code;
    this.errors = errors;
    this.requestId = requestId ?? readText(errors[0]?.extensions?.requestId);
    this.data = data;
  }

  /** How long the gateway asks the caller to wait, in milliseconds; 0 if it does not say. */
  get retryAfterMs(): number {
    return 1000 * (Number(this.errors[0]?.extensions?.retryAfterSeconds) || 0);
  }
}

/** The errors of an answer as one error, with the code of the first. */
export function toLabgraphError(
  errors: readonly GraphQLErrorEntry[],
  options: LabgraphErrorOptions = {},
): LabgraphError {
  const sent = errors[0]?.extensions?.code;
  const code = gatewayCodes.find((known) => known === sent) ?? 'UNKNOWN';
  return new LabgraphError(code, { ...options, errors });
}

/** The codes of errors after which the same operation may succeed later. After any other code it is not repeated. */
export const transientCodes: readonly LabgraphErrorCode[] = [
  'NETWORK_FAILED',
  'TOKEN_UNAVAILABLE',
  'RATE_LIMITED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_UNREADABLE',
  'EVENT_LOG_UNAVAILABLE',
  'INTERNAL',
];

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
