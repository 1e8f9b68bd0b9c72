import { complexityFromQuery } from '@pothos/plugin-complexity';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../../gateway/graph/schema.ts';

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
  expect(costOf(`{ order(id: "${id}") { id status { raw } events { id } } }`)).toBeLessThan(20);
});
