import { complexityFromQuery } from '@pothos/plugin-complexity';
import fc from 'fast-check';
import { type GraphQLField, getNullableType, isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../gateway/domain/schema.ts';
import type { PreparedDocument } from '../../gateway/execution/document/prepared-document.ts';
import { DocumentCache } from '../../gateway/execution/document/prepared-document.ts';
import { createTrustedDocuments } from '../../gateway/execution/document/trusted-documents.ts';

const documents = [
  '{ viewer { kind } }',
  'query ($id: ID!) { order(id: $id) { id labTest { name } } }',
  'query ($first: Int) { users(first: $first) { nodes { orders(first: 3) { nodes { id } } } } }',
  // Null is no number of rows; a default replaces only an argument that is left out.
  'query ($first: Int = 7, $more: Int = 2) { users(first: $first) { nodes { ...some } } } fragment some on User { orders(first: $more) { nodes { id } } }',
  'query ($slug: String, $first: Int!) { markers(labSlug: $slug, first: $first) { nodes { name } } }',
  // An argument that must not be null, and a variable that may be.
  'query ($id: ID = "1") { order(id: $id) { id } }',
  // As many calls as ids; one id alone is a list of one.
  'query ($ids: [ID!]!, $first: Int) { nodes(nodeIds: $ids) { ... on User { orders(first: $first) { nodes { id } } } } }',
];
const trustedDocuments = createTrustedDocuments({
  mode: 'off',
  files: [],
  whereBuilt: [],
  onUntrusted: () => {},
});
const cache = new DocumentCache({ schema, trustedDocuments, isOpen: false });
const prepare = (text: string) => cache.prepare(text, { kind: 'TEAM' });

const anyValue = fc.oneof(
  fc.constantFrom(null, undefined, 0, -0, 1, 20, 21, 1e9, -5, 'a', ''),
  fc.integer(),
  fc.string(),
);
const variables = fc.record({
  id: anyValue,
  ids: fc.oneof(fc.array(fc.string(), { maxLength: 5 }), anyValue),
  first: anyValue,
  more: anyValue,
  slug: anyValue,
});

function outcomeOf(run: () => unknown): unknown {
  try {
    return run();
  } catch {
    return 'does not fit';
  }
}

test('the cached measure of a document equals a new measure, for any variables', () => {
  const asking = fc.record({ text: fc.constantFrom(...documents), variableValues: variables });
  fc.assert(
    fc.property(fc.array(asking, { minLength: 1, maxLength: 40 }), (requests) => {
      for (const { text, variableValues } of requests) {
        const document = prepare(text);
        const anew = () => complexityFromQuery(text, { schema, variables: variableValues, ctx: {} });
        expect(outcomeOf(() => measureWith(document, variableValues))).toEqual(outcomeOf(anew));
      }
    }),
  );
});

test('a measure is remembered for variables that differ in nothing that counts', () => {
  const document = prepare(
    'query ($id: ID!, $first: Int) { order(id: $id) { id } users(first: $first) { nodes { id } } }',
  );
  const measure = (variables: VariableValues) => measureWith(document, variables);
  expect(measure({ id: 'b', first: 3 })).toBe(measure({ id: 'a', first: 3 }));
  expect(measure({ id: 'a', first: 4 })).not.toEqual(measure({ id: 'a', first: 3 }));
});

test('each operation of a document has its own measure', () => {
  const document = prepare('query a { viewer { kind } } query b { viewer { kind scopes } }');
  const measures = document.definitions.map((operation) =>
    operation.kind === 'OperationDefinition' ? document.measure(operation, {}).breadth : null,
  );
  expect(measures).toEqual([2, 3]);
});

test('no cost of a field goes by anything but its numbers and the lengths of its lists', () => {
  const costs = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) => Object.values(type.getFields()))
    .filter(({ extensions }) => typeof extensions.complexity === 'function');
  expect(costs.flatMap(readByCost)).toContain('Int');
  expect(costs.flatMap((field) => readByCost(field).filter((type) => !/^Int$|^\[/.test(type)))).toEqual([]);
});

/** The types of the arguments that a field's cost looks at. */
function readByCost(field: GraphQLField): readonly string[] {
  const read: string[] = [];
  const args = new Proxy(
    {},
    {
      get: (_target, name) => {
        read.push(String(getNullableType(field.args.find((arg) => arg.name === name)?.type)));
      },
      ownKeys: () => {
        read.push('all of them');
        return [];
      },
    },
  );
  const context = new Proxy(
    {},
    {
      get: () => {
        read.push('the context');
      },
    },
  );
  const cost = field.extensions.complexity;
  if (typeof cost === 'function') cost(args, context, field);
  return read;
}

type VariableValues = Readonly<Record<string, unknown>>;

function measureWith(document: PreparedDocument, variableValues: VariableValues): unknown {
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('The operation comes first.');
  return document.measure(operation, variableValues);
}
