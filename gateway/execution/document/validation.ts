import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  validate,
} from 'graphql';
import { createResponseError, locationsOf } from './response-error.ts';
import { quietly } from './values.ts';

const rules = specifiedRules.map(quietly);
const rulesWithoutIntrospection = [...rules, NoSchemaIntrospectionCustomRule];

/** Callers that may see the schema also get GraphQL's suggestions of its names. */
export interface ValidationOptions {
  readonly maySeeSchema: boolean;
}

/** The validation errors of a document, each message once. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  { maySeeSchema }: ValidationOptions,
): readonly GraphQLError[] {
  const errors = validate(schema, document, maySeeSchema ? rules : rulesWithoutIntrospection, {
    hideSuggestions: !maySeeSchema,
  });
  const byMessage = Map.groupBy(errors, ({ message }) => message);
  return [...byMessage].map(([message, equal]) => mergeEqual(message, equal));
}

/** A longer message repeats a name that the client made up: 100 of them made 9 MB of a request of 90 kB. */
const maxMessage = 500;

/** Merges errors with the same message and keeps all locations: an unknown directive used ten times is one error. */
function mergeEqual(message: string, equal: readonly GraphQLError[]): GraphQLError {
  const short = message.length <= maxMessage ? message : `${message.slice(0, maxMessage)}…`;
  const locations = equal.flatMap((error) => locationsOf(error) ?? []);
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400, spec: true } };
  return createResponseError({ message: short, locations, extensions });
}
