import { defaultFieldResolver, type GraphQLSchema, getNamedType, isUnionType } from 'graphql';
import { isGatewayError, withOutcome } from '../errors.ts';
import { builder } from './builder.ts';
import type { GraphContext } from './context.ts';
import {
  type FeatureNotEnabled,
  type IdempotencyConflict,
  type InputIssue,
  type InputRejected,
  inputRejected,
  issueCodes,
  type NotFound,
  refusalCodes,
  toInputIssues,
  type UserError,
} from './user-error.ts';

type Member = PothosSchemaTypes.ObjectRef<typeof builder.$inferSchemaTypes, { readonly kind: string }>;

/** The result of a mutation: what was made or changed, or a refusal. The `kind` of a value is the name of its type. */
export function mutationResult<Type extends Member>(
  name: string,
  description: string,
  types: readonly Type[],
) {
  return builder.unionType(name, {
    description,
    types: [...types],
    resolveType: ({ kind }: { readonly kind: string }) => kind,
  });
}

/** The enum of a closed set of codes: the values are the codes, the descriptions their meanings. */
function codeEnum<Code extends string>(
  name: string,
  description: string,
  meanings: Readonly<Record<Code, string>>,
) {
  const values = Object.entries<string>(meanings).map(([code, text]) => [code, { description: text }]);
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as Record<Code, { readonly description: string }>,
  });
}

const userErrorCode = codeEnum(
  'UserErrorCode',
  'Why something was refused. New values may be added.',
  refusalCodes,
);
const inputIssueCode = codeEnum(
  'InputIssueCode',
  'What is wrong with a part of an input. New values may be added.',
  issueCodes,
);

export const userErrorRef = builder.interfaceRef<UserError>('UserError').implement({
  description: 'A refusal that a program can branch on and a person can read.',
  fields: (t) => ({
    code: t.expose('code', {
      type: userErrorCode,
      nullable: false,
      description: 'Why it was refused, for programs.',
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
    path: t.exposeStringList('path', {
      nullable: false,
      description: 'Where in the input, in the names of this schema.',
    }),
    code: t.field({
      type: inputIssueCode,
      nullable: false,
      description: 'What is wrong there, for programs.',
      resolve: ({ code }) => code ?? 'INVALID',
    }),
    message: t.exposeString('message', {
      nullable: false,
      description: 'What is wrong there, in an English sentence.',
    }),
  }),
});

export const inputRejectedRef = builder.objectRef<InputRejected>('InputRejected').implement({
  description: 'The input was refused, by the gateway or by the service; nothing was done.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    issues: t.field({
      type: [inputIssueRef],
      nullable: false,
      description: 'What is wrong, as far as it is known.',
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

/** The refusals that almost every mutation can meet. */
export const usualRefusals = [inputRejectedRef, notFoundRef, featureNotEnabledRef] as const;

export const idempotencyConflictRef = builder
  .objectRef<IdempotencyConflict>('IdempotencyConflict')
  .implement({
    description: 'The idempotency key was used before with another input; nothing was done.',
    interfaces: [userErrorRef],
  });

/**
 * Makes each mutation whose result is a union return a malformed id (arguments.ts) as InputRejected. The two others, and
 * queries, have an error for it. Ids are read before anything else is done.
 */
export function refuseMalformedIds(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const result = getNamedType(field.type);
    if (!isUnionType(result) || !result.getTypes().some(({ name }) => name === 'InputRejected')) continue;
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = async (root, args, context, info) => {
      try {
        return await resolve(root, args, context, info);
      } catch (error) {
        if (!isGatewayError(error, 'BAD_USER_INPUT') || error.issues.length === 0) throw error;
        return inputRejected(toInputIssues(error.issues));
      }
    };
  }
  return schema;
}

type Run = () => unknown;

function aroundMutations(
  schema: GraphQLSchema,
  around: (run: Run, context: GraphContext) => Promise<unknown>,
): GraphQLSchema {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const resolve = field.resolve ?? defaultFieldResolver;
    field.resolve = (root, args, context, info) => around(() => resolve(root, args, context, info), context);
  }
  return schema;
}

/**
 * Clears the loaders before each mutation and before its result, so that both read anew. Mutations of one operation run
 * one after the other, so no other load is in progress.
 */
export function clearLoaders(schema: GraphQLSchema): GraphQLSchema {
  return aroundMutations(schema, async (run, { loaders }) => {
    loaders.clear();
    try {
      return await run();
    } finally {
      loaders.clear();
    }
  });
}

/** Makes the error of a call to the service say that nothing was done, where the mutation has not begun a write. */
export function nameOutcomes(schema: GraphQLSchema): GraphQLSchema {
  return aroundMutations(schema, async (run, { service }) => {
    const before = service.writes;
    try {
      return await run();
    } catch (error) {
      throw service.writes === before && isFailedRead(error) ? withOutcome(error, false) : error;
    }
  });
}

/** Whether a call to the service failed whose error says nothing of a write. */
function isFailedRead(error: unknown): boolean {
  return isGatewayError(error) && error.code.startsWith('UPSTREAM_') && error.mayBeDone === undefined;
}
