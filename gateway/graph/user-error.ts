import { builder } from './builder.ts';

/** The closed set of refusals, and what each one means. Every code stands in docs/errors.md (tested). */
export const refusalCodes = {
  NOT_FOUND: 'What the input names does not exist, or the caller may not see it.',
  INPUT_REJECTED: 'The input was refused; `issues` says what is wrong.',
  IDEMPOTENCY_CONFLICT: 'The idempotency key was used before with another input.',
  FEATURE_NOT_ENABLED: 'The service has not enabled this feature for the team.',
  DEMOGRAPHICS_MISSING: 'The portal needs demographics for the user, and none are set.',
  PORTAL_URL_REJECTED: 'The service refused to create a portal link for another reason.',
  CANCEL_REFUSED: 'The order can no longer be cancelled.',
  CLIENT_USER_ID_TAKEN: 'Another user of the team has this reference; the refusal names them.',
  UNDO_REFUSED: 'The deletion of a user cannot be undone.',
  SLOT_UNAVAILABLE: 'The slot is gone, or its booking key was used or has expired.',
  APPOINTMENT_REFUSED: 'The order or its present appointment does not allow it.',
  DOCUMENT_NOT_READY: 'The service does not have the document yet.',
  ORDER_UPDATE_REFUSED: 'The order can no longer be moved to another day, or never waited for one.',
  PHYSICIAN_REQUIRED: "Orders on this lab account need a physician of the team's own.",
} as const;

export type RefusalCode = keyof typeof refusalCodes;

/** A refusal that is data: part of a mutation's result, never of `errors`. */
export interface UserError {
  readonly kind: string;
  readonly code: RefusalCode;
  readonly message: string;
}

/** One fault of an input. */
export interface InputIssue {
  /** Where, in the names of this schema: `['shippingDetails', 'zip']`. */
  readonly path: readonly string[];
  readonly message: string;
}

export interface InputRejected extends UserError {
  readonly kind: 'InputRejected';
  readonly issues: readonly InputIssue[];
}

export interface NotFound extends UserError {
  readonly kind: 'NotFound';
  readonly code: 'NOT_FOUND';
}

export interface FeatureNotEnabled extends UserError {
  readonly kind: 'FeatureNotEnabled';
  readonly code: 'FEATURE_NOT_ENABLED';
}

export interface IdempotencyConflict extends UserError {
  readonly kind: 'IdempotencyConflict';
}

export const userErrorRef = builder.interfaceRef<UserError>('UserError').implement({
  description: 'A refusal that a program can branch on and a person can read.',
  fields: (t) => ({
    code: t.exposeString('code', {
      nullable: false,
      description: 'A stable code in capitals, such as NOT_FOUND.',
    }),
    message: t.exposeString('message', {
      nullable: false,
      description: 'A sentence for a person, in English.',
    }),
  }),
  resolveType: (error) => error.kind,
});

export const inputIssueRef = builder.objectRef<InputIssue>('InputIssue').implement({
  description: 'One thing that is wrong with an input. Never repeats the value itself.',
  fields: (t) => ({
    path: t.stringList({
      nullable: false,
      description: 'Where in the input, in the names of this schema.',
      resolve: (issue) => [...issue.path],
    }),
    message: t.exposeString('message', { nullable: false, description: 'What is wrong there.' }),
  }),
});

export const inputRejectedRef = builder.objectRef<InputRejected>('InputRejected').implement({
  description: 'The input was refused, by the gateway or by the service; nothing was done.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    issues: t.field({
      type: [inputIssueRef],
      nullable: false,
      description: 'What is wrong, as far as it was said.',
      resolve: (error) => error.issues,
    }),
  }),
});

export const notFoundRef = builder.objectRef<NotFound>('NotFound').implement({
  description: 'What the input names does not exist, or the caller may not see it: the two look the same.',
  interfaces: [userErrorRef],
});

export const featureNotEnabledRef = builder.objectRef<FeatureNotEnabled>('FeatureNotEnabled').implement({
  description: 'The service has not enabled this feature for the team.',
  interfaces: [userErrorRef],
});

export const idempotencyConflictRef = builder
  .objectRef<IdempotencyConflict>('IdempotencyConflict')
  .implement({
    description: 'The idempotency key was used before with another input; nothing was done.',
    interfaces: [userErrorRef],
  });

export function notFound(what: string): NotFound {
  return { kind: 'NotFound', code: 'NOT_FOUND', message: `There is no such ${what}.` };
}

export function featureNotEnabled(): FeatureNotEnabled {
  return {
    kind: 'FeatureNotEnabled',
    code: 'FEATURE_NOT_ENABLED',
    message: 'The service has not enabled this feature for your team. Ask your account contact.',
  };
}

export function inputRejected(issues: readonly InputIssue[]): InputRejected {
  return {
    kind: 'InputRejected',
    code: 'INPUT_REJECTED',
    message:
      issues.length > 0
        ? 'The input was refused; see issues for what is wrong.'
        : 'The service refused the input without saying what is wrong.',
    issues,
  };
}

/** A server of the team has to say whom it means; a viewer token says so itself. */
export function userNeeded(): InputRejected {
  return inputRejected([{ path: ['userId'], message: 'Name the user: a gateway key stands for none.' }]);
}

export function idempotencyConflict(): IdempotencyConflict {
  return {
    kind: 'IdempotencyConflict',
    code: 'IDEMPOTENCY_CONFLICT',
    message: 'This idempotencyKey was used before with another input. Use a new key for a new request.',
  };
}

/**
 * The service's issues in the names of this schema: `['body', 'shipping_details', 'zip']` becomes
 * `['shippingDetails', 'zip']`.
 * @param names what is called otherwise here than there, by the service's name
 */
export function toInputIssues(
  issues: readonly { readonly location: readonly string[]; readonly message: string }[],
  names: Readonly<Record<string, string>> = {},
): readonly InputIssue[] {
  const known = new Map(Object.entries({ 'x-idempotency-key': 'idempotencyKey', ...names }));
  return issues.map(({ location, message }) => ({
    path: location
      .filter((part, index) => index > 0 || !/^(body|query|path|header)$/.test(part))
      .map((part) => known.get(part) ?? toCamelCase(part)),
    message,
  }));
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
