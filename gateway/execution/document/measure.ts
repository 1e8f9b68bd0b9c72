import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';

/** How much an operation asks for, its lists weighed as full. */
export interface Measure {
  readonly depth: number;
  /** Fields, those of a fragment wherever it stands. */
  readonly breadth: number;
  readonly complexity: number;
}

interface Measurable {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  /** Known to fit their types (values.ts). */
  readonly variableValues: VariableValues;
}

export type VariableValues = { readonly [name: string]: unknown };

/**
 * What the measure of an operation depends on, as a key: costs go by numbers and nothing else (tested for every field of the
 * schema), and whether a variable fits its argument by whether it is there, or null.
 */
export function whatCounts(
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: VariableValues,
): string {
  let key = '';
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    key += typeof value === 'number' || value === null || value === undefined ? `${value} ` : 'given ';
  }
  return key;
}

/**
 * Measures an operation. Of a document with several only the one that is run counts; the plugin takes the first it finds.
 * @throws where a variable does not fit the argument it is used for
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
