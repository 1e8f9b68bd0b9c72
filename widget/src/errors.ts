/** The closed set of what can go wrong. A code never changes its meaning; hosts branch on it. */
export type PortalErrorCode =
  | 'ENDPOINT_INVALID'
  | 'TOKEN_IN_ATTRIBUTE'
  | 'TOKEN_UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'NETWORK'
  | 'TIMEOUT'
  | 'GATEWAY_ERROR'
  | 'NOT_FOUND'
  | 'INPUT_REJECTED'
  | 'PORTAL_REJECTED'
  | 'DEMOGRAPHICS_MISSING'
  | 'FEATURE_NOT_ENABLED'
  | 'URL_REJECTED';

/** What `lastError` and `portal-error` tell a host: never a URL, a token or a text of the service. */
export interface PortalErrorReport {
  readonly code: PortalErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId: string | null;
}

/** What a person who runs the page needs to know; what a patient reads is in strings.ts. */
const MESSAGES: Record<PortalErrorCode, string> = {
  ENDPOINT_INVALID: 'The endpoint must be an https address, or http on localhost.',
  TOKEN_IN_ATTRIBUTE: 'A token in an attribute was removed and not used. Give a tokenProvider instead.',
  TOKEN_UNAVAILABLE: 'No token: give a tokenProvider, or answer portal-token-request.',
  UNAUTHENTICATED: 'The gateway refused the token.',
  NETWORK: 'The gateway could not be reached.',
  TIMEOUT: 'The gateway did not answer in time.',
  GATEWAY_ERROR: 'The gateway could not answer.',
  NOT_FOUND: 'There is no such order for this token.',
  INPUT_REJECTED: 'The gateway refused the input.',
  PORTAL_REJECTED: 'The service refused to make a portal address.',
  DEMOGRAPHICS_MISSING: 'The user has no demographics yet; the portal needs them.',
  FEATURE_NOT_ENABLED: 'The portal is not enabled for this team.',
  URL_REJECTED: 'The portal address is not an allowed https address.',
};

const RETRYABLE: ReadonlySet<PortalErrorCode> = new Set<PortalErrorCode>([
  'TOKEN_UNAVAILABLE',
  'UNAUTHENTICATED',
  'NETWORK',
  'TIMEOUT',
  'GATEWAY_ERROR',
]);

/** The one error class of the widget. */
export class PortalError extends Error {
  readonly code: PortalErrorCode;
  readonly requestId: string | null;

  constructor(code: PortalErrorCode, options: { cause?: unknown; requestId?: string | null } = {}) {
    super(MESSAGES[code], { cause: options.cause });
    this.name = 'PortalError';
    this.code = code;
    this.requestId = options.requestId ?? null;
  }

  /** The frozen answer for a host; `cause` stays inside. */
  report(): PortalErrorReport {
    const { code, message, requestId } = this;
    return Object.freeze({ code, message, retryable: RETRYABLE.has(code), requestId });
  }
}

/** Whatever was thrown, as a PortalError; what is not ours becomes `code`. */
export function toPortalError(cause: unknown, code: PortalErrorCode): PortalError {
  return cause instanceof PortalError ? cause : new PortalError(code, { cause });
}
