import { existsSync, readFileSync } from 'node:fs';
import { isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../gateway/graph/schema.ts';
import { createSandbox } from '../sandbox/sandbox.ts';

const root = new URL('..', import.meta.url);
const rows = readFileSync(new URL('docs/coverage.md', root), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.includes('sandbox route'))
  .map((line) => line.slice(1, -1).split('|'));
const namesIn = (column: number) =>
  rows.flatMap((row) => [...(row[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

/** `Query.users`, or a type by its name alone. */
function isInSchema(name: string): boolean {
  const [typeName = '', fieldName] = name.split('.');
  const type = schema.getType(typeName);
  if (fieldName === undefined) return type !== undefined;
  return (isObjectType(type) || isInterfaceType(type)) && type.getFields()[fieldName] !== undefined;
}

const { routes } = createSandbox({ apiKey: 'key', webhookSecret: `whsec_${'a'.repeat(32)}` });

/** Not the service's: the controls of the sandbox and the pages a portal link opens. */
const isOwnRoute = (route: string) => / \/(sandbox\/|portal|p\/)/.test(route);

test('the table is read, and so are the routes', () => {
  expect(rows.length).toBeGreaterThan(50);
  expect(routes.length).toBeGreaterThan(50);
});

test('every graph field and type of the table is in the schema', () => {
  const graph = namesIn(2).filter((name) => /^[A-Z]\w+(\.\w+)?$/.test(name));
  expect(graph.length).toBeGreaterThan(60);
  expect(graph.filter((name) => !isInSchema(name))).toEqual([]);
});

test('every root field of the schema stands in the table', () => {
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) =>
    Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
  );
  const covered = new Set(namesIn(2));
  expect(fields.filter((field) => !covered.has(field))).toEqual([]);
});

test('every implementer of ServiceEvent stands in the table', () => {
  const event = schema.getType('ServiceEvent');
  const implementers = isInterfaceType(event) ? schema.getPossibleTypes(event).map(({ name }) => name) : [];
  const covered = new Set(namesIn(2));
  expect(implementers.length).toBeGreaterThan(8);
  expect(implementers.filter((name) => !covered.has(name))).toEqual([]);
});

test('the routes of the table and of the sandbox are the same', () => {
  const documented = new Set(namesIn(3).filter((name) => /^(GET|POST|PATCH|DELETE) \//.test(name)));
  const own = new Set(routes);
  expect([...documented].filter((route) => !own.has(route))).toEqual([]);
  expect([...own].filter((route) => !documented.has(route) && !isOwnRoute(route))).toEqual([]);
});

test('every test that the table names exists', () => {
  const files = namesIn(4);
  expect(files.length).toBeGreaterThan(100);
  expect([...new Set(files)].filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
