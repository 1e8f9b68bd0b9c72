import { PortalError, type PortalErrorCode } from './errors.ts';
import { isFields, readText } from './order.ts';

/** The gateway's codes that mean something of their own to the widget; every other one is GATEWAY_ERROR. */
const CODES: Readonly<Record<string, PortalErrorCode>> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  // A token too narrow for the question: a new one, asked for with its scope and order, may do.
  FORBIDDEN: 'UNAUTHENTICATED',
  NOT_FOUND: 'NOT_FOUND',
  BAD_USER_INPUT: 'INPUT_REJECTED',
  UPSTREAM_TIMEOUT: 'TIMEOUT',
  PORTAL_URL_REFUSED: 'URL_REJECTED',
};

/** `extensions.code` of the first GraphQL error, or null. */
export function readErrorCode(errors: unknown): string | null {
  return readText(readExtensions(errors)?.code);
}

/** The `errors` of a GraphQL answer as one PortalError, without the texts of the gateway. */
export function toGatewayError(errors: unknown): PortalError {
  const requestId = readText(readExtensions(errors)?.requestId);
  return new PortalError(CODES[readErrorCode(errors) ?? ''] ?? 'GATEWAY_ERROR', { requestId });
}

function readExtensions(errors: unknown): Readonly<Record<string, unknown>> | null {
  const first: unknown = Array.isArray(errors) ? errors[0] : null;
  return isFields(first) && isFields(first.extensions) ? first.extensions : null;
}
