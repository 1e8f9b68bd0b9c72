import { PortalError, type PortalErrorCode } from './errors.ts';
import { type Fields, readFields, readText } from './fields.ts';

/** The gateway's codes, and its types of refusals, that mean something of their own to the widget; every other one is GATEWAY_ERROR. */
const CODES: Readonly<Record<string, PortalErrorCode>> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  NOT_FOUND: 'NOT_FOUND',
  BAD_USER_INPUT: 'INPUT_REJECTED',
  UPSTREAM_TIMEOUT: 'TIMEOUT',
  PORTAL_URL_REFUSED: 'URL_REJECTED',
  PortalUrlRejected: 'PORTAL_REJECTED',
  FeatureNotEnabled: 'FEATURE_NOT_ENABLED',
  NotFound: 'NOT_FOUND',
  InputRejected: 'INPUT_REJECTED',
};

/** The widget's code for a code of the gateway, or for the type of a refusal. */
export function toErrorCode(name: unknown): PortalErrorCode {
  return CODES[String(name)] ?? 'GATEWAY_ERROR';
}

/**
 * Whether the errors leave no data at all. If only a part is missing, such as the name of a test, the rest is shown.
 */
export function isRefusal({ data, errors }: Fields): boolean {
  return Boolean(errors) && !Object.values(readFields(data)).some(Boolean);
}

/** `extensions.code` of the first GraphQL error, or nothing. */
export function readErrorCode(errors: unknown): string {
  return readText(readExtensions(errors).code) ?? '';
}

/**
 * The `errors` of a GraphQL answer as one PortalError, without the texts of the gateway.
 * @param forbidden the code for what the token may not do
 */
export function toGatewayError(errors: unknown, forbidden: PortalErrorCode = 'UNAUTHENTICATED'): PortalError {
  const sent = readErrorCode(errors);
  const code = sent === 'FORBIDDEN' ? forbidden : toErrorCode(sent);
  return new PortalError(code, readText(readExtensions(errors).requestId));
}

function readExtensions(errors: unknown): Fields {
  return readFields(readFields(readFields(errors)[0]).extensions);
}
