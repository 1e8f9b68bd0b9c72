import { complexityFromQuery } from '@pothos/plugin-complexity';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** The estimated size of an operation. Every list counts as full. */
export interface Measure {
  readonly depth: number;
  /** The number of fields. The fields of a fragment count at each spread. */
  readonly breadth: number;
  readonly complexity: number;
}

interface Measurable {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  /** Their values fit their types (validation.ts). */
  readonly variableValues: VariableValues;
}

export type VariableValues = { readonly [name: string]: unknown };

/**
 * A key of everything that the measure of an operation depends on. Costs depend only on numbers and on the lengths of lists
 * (tested for every field of the schema). Whether a variable fits its argument depends only on whether it is missing or null.
 */
export function costKey(
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: VariableValues,
): string {
  let key = '';
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const isCounted = typeof value === 'number' || value === null || value === undefined;
    key += Array.isArray(value) ? `of ${value.length} ` : `${isCounted ? value : 'given'} `;
  }
  return key;
}

/**
 * Measures an operation. In a document with several operations, only the requested one is measured; the plugin would
 * measure the first.
 * @throws when a variable does not fit its argument
 */
export function measureOperation(
  { schema, document, variableValues }: Measurable,
  operation: OperationDefinitionNode,
): Measure {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return complexityFromQuery(
    { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] },
    { schema, variables: variableValues, ctx: {} },
  );
}

/** Limits of one document, besides its tokens (prepared-document.ts): generous for people, out of reach for floods. */
const limits = {
  /** Fields at the root, aliases and fragments included. */
  rootFields: 20,
  /** Fields under other names, in the whole document. */
  aliases: 50,
  /** `@include` and its like, in the whole document. */
  directives: 50,
} as const;

/** Counts over a whole document, whichever of its operations is requested. */
export interface WidthCounts {
  readonly aliases: number;
  readonly directives: number;
}

interface CountedDocument extends DocumentNode {
  readonly width: WidthCounts;
}

/** The error for a document that is too wide; null for any other. */
export function findWidth(
  document: CountedDocument,
  operation: OperationDefinitionNode,
): GraphQLError | null {
  const { aliases, directives } = document.width;
  if (aliases > limits.aliases) return refuse(`more than ${limits.aliases} aliases`);
  if (directives > limits.directives) return refuse(`more than ${limits.directives} directives`);
  if (countRootFields(document, operation) > limits.rootFields)
    return refuse(`more than ${limits.rootFields} fields at its root`);
  return null;
}

/** The refusal of an operation that `has` too much of something. */
export function refuse(what: string): GraphQLError {
  return new GraphQLError(`The operation has ${what}.`, { extensions: { code: 'QUERY_TOO_COSTLY' } });
}

/**
 * `__typename` has no resolver of ours, so it costs no points (graph/cost.ts). But its aliases can be the largest part
 * of a row.
 */
const weightOfTypename = 10;

export function countWidth(document: DocumentNode): WidthCounts {
  let [aliases, directives] = [0, 0];
  visit(document, {
    Field: ({ alias, name }) => {
      if (alias) aliases += name.value === '__typename' ? weightOfTypename : 1;
    },
    Directive: () => {
      directives += 1;
    },
  });
  return { aliases, directives };
}

/** Counts like the executor: through all fragments, each of them once. */
function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  const fragments = new Map<string, SelectionSetNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, definition.selectionSet);
  }
  const countIn = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + 1;
      if (selection.kind === Kind.INLINE_FRAGMENT) return sum + countIn(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      fragments.delete(selection.name.value);
      return fragment === undefined ? sum : sum + countIn(fragment);
    }, 0);
  return countIn(operation.selectionSet);
}
