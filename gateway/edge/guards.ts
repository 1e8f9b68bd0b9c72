import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  specifiedRules,
  validate,
  visit,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { parseLimited } from './parse.ts';
import { findVariableFaults, quietly } from './values.ts';

/** What one operation may be. Generous for people, out of reach for floods. */
const limits = {
  /** Fields inside fields. Introspection needs 13. */
  depth: 15,
  /** Fields at the root, aliases and fragments included. */
  rootFields: 20,
  /** Fields under other names, in the whole document. */
  aliases: 50,
  /**
   * Fields times the rows they may have, each expected call to the service 100 (graph/cost.ts): at most 5,000
   * calls. 20 users, 20 orders and 20 markers each, cost about 100,000.
   */
  complexity: 500_000,
} as const;

/**
 * The guards of every operation, in one plugin for HTTP, SSE and WebSocket: they sit in the enveloped parse, validate,
 * execute and subscribe. They answer and never throw: a throw would close a socket with 4500.
 */
export function useGuards(): Plugin {
  return {
    onParse: ({ setParseFn }) => {
      setParseFn((source, options) => parseLimited(source, options));
    },
    onValidate: ({ setValidationFn }) => {
      setValidationFn((schema, document, rules = specifiedRules) =>
        validate(schema, document, rules.map(quietly)),
      );
    },
    onExecute: ({ args, setResultAndStopExecution }) => {
      const errors = findRefusals(args);
      if (errors.length > 0) setResultAndStopExecution({ errors });
    },
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const errors = findRefusals(args);
      if (errors.length > 0) setResultAndStopExecution({ errors });
    },
  };
}

interface Request {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: { readonly [name: string]: unknown } | null | undefined;
  readonly contextValue?: unknown;
}

function findRefusals(request: Request): readonly GraphQLError[] {
  const { document, schema, variableValues } = request;
  const operation = getOperationAST(document, request.operationName);
  // Which operation is meant is for the executor to say; it runs none.
  if (!operation) return [];
  const tooWide = findWidth(document, operation);
  if (tooWide !== null) return [tooWide];
  const faults = findVariableFaults(schema, operation, variableValues ?? {});
  if (faults.length > 0) return faults;
  const refusal = findCost(request, operation);
  return refusal === null ? [] : [refusal];
}

function findWidth(document: DocumentNode, operation: OperationDefinitionNode): GraphQLError | null {
  if (countAliases(document) > limits.aliases) return refuse(`more than ${limits.aliases} aliases`);
  if (countRootFields(document, operation) > limits.rootFields)
    return refuse(`more than ${limits.rootFields} fields at its root`);
  return null;
}

function findCost(request: Request, operation: OperationDefinitionNode): GraphQLError | null {
  const measured = tryMeasure(request, operation);
  if (measured instanceof GraphQLError) return measured;
  if (measured.depth > limits.depth) return refuse(`more than ${limits.depth} levels`);
  if (measured.complexity > limits.complexity)
    return refuse('more rows than one request may ask for; ask for fewer with `first`');
  return null;
}

/** Arguments whose variables do not fit are found while measuring; thrown from here they would close a socket. */
function tryMeasure(
  request: Request,
  operation: OperationDefinitionNode,
): ReturnType<typeof measure> | GraphQLError {
  try {
    return measure(request, operation);
  } catch {
    return new GraphQLError('A variable does not fit the argument it is used for.', {
      extensions: { code: 'BAD_USER_INPUT' },
    });
  }
}

function refuse(what: string): GraphQLError {
  return new GraphQLError(`The operation has ${what}.`, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}

/** Of a document with several operations only the one that is run counts; the measure takes the first it finds. */
function measure(
  { document, ...request }: Request,
  operation: OperationDefinitionNode,
): { readonly depth: number; readonly complexity: number } {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return complexityFromQuery(
    { ...document, definitions: [operation, ...fragments] },
    {
      schema: request.schema,
      variables: request.variableValues ?? {},
      ctx: request.contextValue ?? {},
    },
  );
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

/** As the executor collects them: through all fragments, each named one once. */
function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, definition.selectionSet);
  }
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1;
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + count(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      return fragment === undefined ? sum : sum + count(fragment);
    }, 0);
  return count(operation.selectionSet);
}
