/** The closed set of errors. A code never changes its meaning; hosts branch on it. */
export type PortalErrorCode =
  | 'ENDPOINT_INVALID'
  | 'TOKEN_IN_ATTRIBUTE'
  | 'TOKEN_UNAVAILABLE'
  | 'UNAUTHENTICATED'
  | 'SCOPE_MISSING'
  | 'NETWORK'
  | 'TIMEOUT'
  | 'GATEWAY_ERROR'
  | 'NOT_FOUND'
  | 'INPUT_REJECTED'
  | 'PORTAL_REJECTED'
  | 'DEMOGRAPHICS_MISSING'
  | 'FEATURE_NOT_ENABLED'
  | 'URL_REJECTED';

/**
 * The error of `lastError` and `portal-error`. It never contains a URL, a token or a text of the service. `message` is the
 * sentence that the person sees, in the language of the page; docs/embedding.md explains each code to developers.
 */
export interface PortalErrorReport {
  readonly code: PortalErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly requestId: string | null;
}

/** The sentence for each code. Without one: `other` where trying again may help, else `final`. */
export type ErrorTexts = Readonly<
  Partial<Record<PortalErrorCode, string>> & { readonly other: string; readonly final: string }
>;

const RETRYABLE: readonly PortalErrorCode[] = [
  'TOKEN_UNAVAILABLE',
  'UNAUTHENTICATED',
  'NETWORK',
  'TIMEOUT',
  'GATEWAY_ERROR',
];

/** The one error class of the widget. */
export class PortalError extends Error {
  readonly code: PortalErrorCode;
  /** The client sets it where the error came from an answer over HTTP: see `PortalClient.execute`. */
  requestId: string | null;

  constructor(code: PortalErrorCode, requestId: string | null = null) {
    super(code);
    this.code = code;
    this.requestId = requestId;
  }
}

/** Whether a retry may succeed. */
export function isRetryable(code: PortalErrorCode): boolean {
  return RETRYABLE.includes(code);
}

/** The thrown value as a PortalError; any other value becomes `code`. */
export function toPortalError(cause: unknown, code: PortalErrorCode): PortalError {
  return cause instanceof PortalError ? cause : new PortalError(code);
}

/** The error as a host sees it, frozen. */
export function reportError(
  { code, requestId }: Pick<PortalError, 'code' | 'requestId'>,
  { errors }: { readonly errors: ErrorTexts },
): PortalErrorReport {
  const retryable = isRetryable(code);
  const message = errors[code] ?? (retryable ? errors.other : errors.final);
  return Object.freeze({ code, message, retryable, requestId });
}
