import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type ParseOptions,
  parse,
  type Source,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';

/** What one operation may be. Generous for people, out of reach for floods. */
const limits = {
  /** Lexical tokens of the document. */
  tokens: 1000,
  /** Fields inside fields. Introspection needs 13. */
  depth: 15,
  /** Fields at the root, aliases included. */
  rootFields: 20,
  /** Fields under other names, in the whole document. */
  aliases: 50,
  /**
   * Fields times the rows they may have, each expected call to the service 100 more (graph/cost.ts): at most 5,000
   * calls. 20 users, 20 orders and 20 markers each, cost about 100,000.
   */
  complexity: 500_000,
} as const;

/**
 * The guards of every operation, in one plugin for HTTP, SSE and WebSocket: they sit in the enveloped parse,
 * execute and subscribe. They answer and never throw: a throw would close a socket with 4500.
 */
export function useGuards(): Plugin {
  return {
    onParse: ({ setParseFn }) => {
      setParseFn((source, options) => parseLimited(source, options));
    },
    onExecute: ({ args, setResultAndStopExecution }) => {
      const refusal = findRefusal(args);
      if (refusal !== null) setResultAndStopExecution({ errors: [refusal] });
    },
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const refusal = findRefusal(args);
      if (refusal !== null) setResultAndStopExecution({ errors: [refusal] });
    },
  };
}

interface Operation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
  readonly contextValue?: unknown;
}

function findRefusal(operation: Operation): GraphQLError | null {
  if (countAliases(operation.document) > limits.aliases) return refuse(`more than ${limits.aliases} aliases`);
  if (countRootFields(operation.document) > limits.rootFields)
    return refuse(`more than ${limits.rootFields} fields at its root`);
  const measured = tryMeasure(operation);
  if (measured instanceof GraphQLError) return measured;
  if (measured.depth > limits.depth) return refuse(`more than ${limits.depth} levels`);
  if (measured.complexity > limits.complexity)
    return refuse('more rows than one request may ask for; ask for fewer with `first`');
  return null;
}

/** Variables that do not fit are found while measuring; thrown from here they would close a socket. */
function tryMeasure(operation: Operation): ReturnType<typeof measure> | GraphQLError {
  try {
    return measure(operation);
  } catch (error) {
    const message = error instanceof GraphQLError ? error.message : 'The operation cannot be carried out.';
    return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
  }
}

function refuse(what: string): GraphQLError {
  return new GraphQLError(`The operation has ${what}.`, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}

/** The code is set here, where parsing happens for every transport, and not in one transport's own way. */
function parseLimited(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    return parse(source, { ...options, maxTokens: limits.tokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw new GraphQLError(error.message, {
      source: error.source ?? null,
      positions: error.positions ?? null,
      extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    });
  }
}

function measure(operation: Operation): { readonly depth: number; readonly complexity: number } {
  return complexityFromQuery(operation.document, {
    schema: operation.schema,
    variables: operation.variableValues ?? {},
    ctx: operation.contextValue ?? {},
  });
}

/** Counted once per document: parsed documents are cached, so the count is too. */
const aliasCounts = new WeakMap<DocumentNode, number>();

function countAliases(document: DocumentNode): number {
  const counted = aliasCounts.get(document);
  if (counted !== undefined) return counted;
  let aliases = 0;
  visit(document, {
    Field: (field) => {
      if (field.alias) aliases += 1;
    },
  });
  aliasCounts.set(document, aliases);
  return aliases;
}

function countRootFields(document: DocumentNode): number {
  const sizes = document.definitions.map((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet.selections.length : 0,
  );
  return Math.max(0, ...sizes);
}
