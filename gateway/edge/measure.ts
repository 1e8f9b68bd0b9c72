import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';

/** How much an operation asks for, its lists weighed as full. */
export interface Measure {
  readonly depth: number;
  /** Fields, those of a fragment wherever it stands. */
  readonly breadth: number;
  readonly complexity: number;
}

export interface Measurable {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  /** Known to fit their types (values.ts). */
  readonly variableValues?: VariableValues | null | undefined;
}

type VariableValues = { readonly [name: string]: unknown };

/** Of one operation; `first` is seldom any other than a few. */
const maxKept = 100;
/** Ids may be sent as numbers: what has many of them comes once. */
const maxKeyLength = 200;

/** By what its measure depends on; gone with its document. */
const kept = new WeakMap<OperationDefinitionNode, Map<string, Measure>>();

/**
 * Measures an operation, once for all requests that differ in nothing that counts: to walk a small document with its
 * arguments takes longer than to run it.
 * @throws where a variable does not fit the argument it is used for
 */
export function measureOperation(request: Measurable, operation: OperationDefinitionNode): Measure {
  const measures = kept.get(operation) ?? new Map<string, Measure>();
  const key = whatCounts(operation, request.variableValues ?? {});
  const known = measures.get(key);
  if (known !== undefined) return known;
  const measured = measure(request, operation);
  if (measures.size < maxKept && key.length <= maxKeyLength) kept.set(operation, measures.set(key, measured));
  return measured;
}

/**
 * Costs go by numbers and nothing else (tested for every field of the schema), and whether a variable fits its
 * argument by whether it is there, or null.
 */
function whatCounts({ variableDefinitions = [] }: OperationDefinitionNode, values: VariableValues): string {
  let key = '';
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    key += typeof value === 'number' || value === null || value === undefined ? `${value} ` : 'given ';
  }
  return key;
}

/** Of a document with several operations only the one that is run counts; the measure takes the first it finds. */
function measure(
  { schema, document, variableValues }: Measurable,
  operation: OperationDefinitionNode,
): Measure {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
  return complexityFromQuery(
    { ...document, definitions: [operation, ...fragments] },
    { schema, variables: variableValues ?? {}, ctx: {} },
  );
}
