import { complexityFromQuery } from '@pothos/plugin-complexity';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../gateway/domain/schema.ts';

const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';

function costOf(query: string): number {
  return complexityFromQuery(parse(query), { schema, variables: {}, ctx: {} }).complexity;
}

test.each([
  'results { hasMissing: missing { name } }',
  'resultMetadata { laboratory }',
  'appointment { id }',
  'serviceCenters { siteCode }',
  'user { id }',
])('Order.%s weighs a call for each order', (field) => {
  const of = (first: number) => costOf(`{ orders(first: ${first}) { nodes { ${field} } } }`);
  expect(of(11) - of(10)).toBeGreaterThanOrEqual(100);
});

test.each([
  'demographics { dob }',
  'connections { status }',
  'historicalPulls { notPulled }',
  'orders(first: 1) { totalCount }',
])('User.%s weighs a call for each user', (field) => {
  const of = (first: number) => costOf(`{ users(first: ${first}) { nodes { ${field} } } }`);
  expect(of(11) - of(10)).toBeGreaterThanOrEqual(100);
});

test('what comes with the row weighs little', () => {
  const withRow = costOf(`{ order(id: "${id}") { id status { raw } events { id } } }`);
  expect(withRow - costOf(`{ order(id: "${id}") { id } }`)).toBeLessThan(20);
});

/** Root fields that ask the service nothing themselves. */
const free = [
  'Query.viewer',
  'Mutation.createViewerToken',
  'Mutation.revokeViewerTokens',
  'Subscription.events',
];

test('every field at the root weighs the calls it is expected to make', () => {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const weightless = roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {})
      .filter((field) => {
        const { complexity } = field.extensions;
        const cost = typeof complexity === 'function' ? complexity({}, {}, field) : complexity;
        return (typeof cost === 'object' ? cost.field : cost) < 100;
      })
      .map(({ name }) => `${root?.name}.${name}`),
  );
  expect(weightless).toEqual(free);
});

test.each([
  [1, `{ labReport(id: "${id}") { id } }`],
  [1, `{ order(id: "${id}") { id } }`],
  [11, `{ appointment(id: "${id}") { id } }`],
  [11, '{ node(nodeId: "x") { nodeId } }'],
  [13, '{ nodes(nodeIds: ["x", "y", "z"]) { nodeId } }'],
  [3, `mutation { cancelOrder(id: "${id}") { __typename } }`],
  [0, '{ viewer { kind } }'],
])('%i call: %s', (calls, query) => {
  expect(Math.floor(costOf(query) / 100)).toBe(calls);
});

test('aliases and fragments make a field no cheaper', () => {
  const report = (alias: string) => `${alias}: labReport(id: "${id}") { id }`;
  const plain = costOf(`{ ${report('a')} ${report('b')} ${report('c')} }`);
  expect(plain).toBeGreaterThanOrEqual(300);
  expect(
    costOf(`{ ...f ... on Query { ${report('c')} } } fragment f on Query { ${report('a')} ${report('b')} }`),
  ).toBe(plain);
});
