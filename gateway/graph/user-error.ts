import { type GatewayError, isGatewayError, type UpstreamIssue } from '../errors.ts';

/** The closed set of refusals with their meanings. docs/errors.md lists every code (tested). */
export const refusalCodes = {
  NOT_FOUND: 'What the input names does not exist, or the caller may not see it.',
  INPUT_REJECTED: 'The input was refused; `issues` says what is wrong.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used before with another input.',
  FEATURE_NOT_ENABLED: 'The service has not enabled this feature for the team.',
  DEMOGRAPHICS_MISSING: 'The portal needs demographics for the user, and none are set.',
  PORTAL_URL_REJECTED: 'The service refused to create a portal link for another reason.',
  CANCEL_REFUSED: 'The order can no longer be cancelled.',
  CLIENT_USER_ID_TAKEN: 'Another user of the team has this reference; the refusal names them.',
  TEAM_REFERENCE_TAKEN: 'Another team of the organization has this reference; the refusal names it.',
  GATEWAY_ADDRESS_UNKNOWN: 'The gateway does not know its public address.',
  UNDO_REFUSED: 'The deletion of a user cannot be undone.',
  SLOT_UNAVAILABLE: 'The slot is gone, or its booking key was used or has expired.',
  APPOINTMENT_REFUSED: 'The order or its present appointment does not allow it.',
  DOCUMENT_NOT_READY: 'The service does not have the document yet.',
  ORDER_UPDATE_REFUSED: 'The order can no longer be moved to another day, or never waited for one.',
  PHYSICIAN_REQUIRED: "Orders on this lab account need a physician of the team's own.",
} as const;

export type RefusalCode = keyof typeof refusalCodes;

/** A refusal that is data: part of a mutation's result, never of `errors`. `kind` is the name of its type in the graph. */
export interface UserError<Kind extends string = string, Code extends RefusalCode = RefusalCode> {
  readonly kind: Kind;
  readonly code: Code;
  readonly message: string;
}

/** The closed set of faults of an input, with their meanings. */
export const issueCodes = {
  REQUIRED: 'Something must be given here.',
  TOO_LONG: 'It is longer or larger than allowed.',
  CONFLICT: 'It cannot be given together with another part of the input.',
  TAKEN: 'Another order has this value already.',
  INVALID: 'The value is not allowed here for another reason; the message says why.',
} as const;

export type IssueCode = keyof typeof issueCodes;

/** One fault of an input. */
export interface InputIssue {
  /** Where, in the names of this schema: `['shippingDetails', 'zip']`. */
  readonly path: readonly string[];
  readonly message: string;
  /** INVALID where left out. */
  readonly code?: IssueCode;
}

export interface InputRejected extends UserError<'InputRejected'> {
  readonly issues: readonly InputIssue[];
}

export type NotFound = UserError<'NotFound', 'NOT_FOUND'>;
export type FeatureNotEnabled = UserError<'FeatureNotEnabled', 'FEATURE_NOT_ENABLED'>;
export type IdempotencyConflict = UserError<'IdempotencyConflict'>;

export function notFound(what: string): NotFound {
  return { kind: 'NotFound', code: 'NOT_FOUND', message: `There is no such ${what}.` };
}

function featureNotEnabled(error: GatewayError): FeatureNotEnabled {
  const message = 'The service has not enabled this feature for your team. Ask your account contact.';
  return { kind: 'FeatureNotEnabled', code: 'FEATURE_NOT_ENABLED', message: withReason(message, error) };
}

export function inputRejected(issues: readonly InputIssue[]): InputRejected {
  return {
    kind: 'InputRejected',
    code: 'INPUT_REJECTED',
    message: 'The input was refused; see issues for what is wrong.',
    issues,
  };
}

/** The service's refusal of an input. @param names the names that differ in this schema, by the service's name */
function inputRejectedBy(error: GatewayError, names: Readonly<Record<string, string>> = {}): InputRejected {
  const rejected = inputRejected(toInputIssues(error.issues, names));
  if (error.issues.length > 0) return rejected;
  const said = error.reason === undefined ? ' without saying what is wrong' : '';
  return { ...rejected, message: withReason(`The service refused the input${said}.`, error) };
}

/** The message of a refusal, with the service's own reason behind it where the service stated one. */
export function withReason(message: string, error: unknown): string {
  const reason = isGatewayError(error) ? error.reason : undefined;
  return reason === undefined ? message : `${message} The service says: "${reason}"`;
}

/** The caller with a gateway key must name the user. A viewer token names its own. */
export function userNeeded(): InputRejected {
  return inputRejected([
    { path: ['userId'], code: 'REQUIRED', message: 'Name the user: a gateway key belongs to no user.' },
  ]);
}

export function idempotencyConflict(): IdempotencyConflict {
  return {
    kind: 'IdempotencyConflict',
    code: 'IDEMPOTENCY_CONFLICT',
    message: 'This idempotencyKey was used before with another input. Use a new key for a new request.',
  };
}

/** Whether the service refused a write, for a reason of its own or because the feature is not enabled. */
export function isRefusal(error: unknown): boolean {
  return isGatewayError(error, 'UPSTREAM_REJECTED', 'UPSTREAM_FORBIDDEN');
}

/**
 * The service's refusal of a write as data.
 * @param names the names that differ in this schema, by the service's name
 * @throws the error itself when it is no refusal, or came after something may have been done
 */
export function toRefusal(
  error: unknown,
  names: Readonly<Record<string, string>> = {},
): InputRejected | FeatureNotEnabled {
  if (isGatewayError(error) && error.mayBeDone) throw error;
  if (isGatewayError(error, 'UPSTREAM_FORBIDDEN')) return featureNotEnabled(error);
  if (isGatewayError(error, 'UPSTREAM_REJECTED')) return inputRejectedBy(error, names);
  throw error;
}

/**
 * The service's issues in the names of this schema: `['body', 'shipping_details', 'zip']` becomes
 * `['shippingDetails', 'zip']`.
 * @param names the names that differ in this schema, by the service's name
 */
export function toInputIssues(
  issues: readonly UpstreamIssue[],
  names: Readonly<Record<string, string>> = {},
): readonly InputIssue[] {
  const known = new Map(Object.entries({ 'x-idempotency-key': 'idempotencyKey', ...names }));
  return issues.map(({ location, message, kind }) => ({
    code: toIssueCode(kind),
    path: location
      .filter((part, index) => index > 0 || !/^(body|query|path|header)$/.test(part))
      .map((part) => known.get(part) ?? toCamelCase(part)),
    message,
  }));
}

/** @param kind the service's word for the fault, such as `missing` or `string_too_long`; `conflict` is the gateway's */
function toIssueCode(kind: string | null): IssueCode {
  if (kind === 'missing') return 'REQUIRED';
  if (kind === 'conflict') return 'CONFLICT';
  return kind?.endsWith('too_long') ? 'TOO_LONG' : 'INVALID';
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
