import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  specifiedRules,
  validate,
} from 'graphql';
import { createLRUCache } from 'graphql-yoga';
import type { Caller } from '../caller/caller.ts';
import type { ListedOperations } from './listed-operations.ts';
import { parseLimited } from './parse.ts';
import { createResponseError, locationsOf } from './response-error.ts';
import { quietly } from './values.ts';

/** Together with the tokens a document may have (parse.ts): some 100 MB at the very most, and 2 MB as a rule. */
const limits = { documents: 300, length: 10_000 } as const;

/** Reads documents, each once: what was read is kept for the next time it comes, and so is what was wrong with it. */
export interface Documents {
  /**
   * A document that this caller may not send is refused unread.
   * @throws GraphQLError GRAPHQL_PARSE_FAILED, GatewayError OPERATION_NOT_LISTED
   */
  readonly parse: (text: string, caller: Caller) => DocumentNode;
  /** What is wrong with a document that `parse` gave, as this kind of caller is told it. */
  readonly validate: (document: DocumentNode, caller: Caller) => readonly GraphQLError[];
}

export interface DocumentsOptions {
  readonly schema: GraphQLSchema;
  readonly listed: Pick<ListedOperations, 'requireListed'>;
  /** Everybody may look at the schema, because it is the sandbox's; else servers of the team. */
  readonly isOpen: boolean;
}

/** Yoga itself would keep 1,024 of any length: one viewer could fill 0.6 GB with documents that nobody sends twice. */
export function keepDocuments({ schema, listed, isOpen }: DocumentsOptions): Documents {
  const kept = createLRUCache<DocumentNode | GraphQLError>({ max: limits.documents });
  const [toInsiders, toOthers] = [createValidation(schema, true), createValidation(schema, false)];
  return {
    parse: (text, caller) => {
      listed.requireListed(caller, text);
      const known = kept.get(text);
      const read = known ?? tryParse(text);
      if (known === undefined && text.length <= limits.length) kept.set(text, read);
      if (read instanceof GraphQLError) throw read;
      return read;
    },
    validate: (document, caller) => (isOpen || caller.kind === 'TEAM' ? toInsiders : toOthers)(document),
  };
}

function tryParse(text: string): DocumentNode | GraphQLError {
  try {
    return parseLimited(text);
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

const quietRules = specifiedRules.map(quietly);

/** The two kinds of callers are told different things of the same document, so what is wrong with it is kept apart. */
function createValidation(schema: GraphQLSchema, maySeeSchema: boolean) {
  const kept = new WeakMap<DocumentNode, readonly GraphQLError[]>();
  const rules = maySeeSchema ? quietRules : [...quietRules, NoSchemaIntrospectionCustomRule];
  const options = { hideSuggestions: !maySeeSchema };
  return (document: DocumentNode): readonly GraphQLError[] => {
    const known = kept.get(document);
    if (known !== undefined) return known;
    const found = Map.groupBy(validate(schema, document, rules, options), ({ message }) => message);
    const faults = [...found].map(([message, equal]) => toFault(message, equal));
    kept.set(document, faults);
    return faults;
  };
}

/** A longer sentence repeats a name that the client made up: 100 of them made 9 MB of a request of 90 kB. */
const maxSentence = 500;

/** Merges errors with the same message and keeps all locations: an unknown directive used ten times is one error. */
function toFault(message: string, equal: readonly GraphQLError[]): GraphQLError {
  const sentence = message.length <= maxSentence ? message : `${message.slice(0, maxSentence)}…`;
  const locations = equal.flatMap((error) => locationsOf(error) ?? []);
  const extensions = { code: 'GRAPHQL_VALIDATION_FAILED', http: { status: 400, spec: true } };
  return createResponseError({ message: sentence, locations, extensions });
}
