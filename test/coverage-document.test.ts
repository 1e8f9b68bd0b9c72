import { existsSync } from 'node:fs';
import { isInputObjectType, isInterfaceType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { managementSchema } from '../gateway/domain/management-schema.ts';
import { schema } from '../gateway/domain/schema.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { openServiceDocument } from './contract/service-document.ts';
import { fieldNamesOf, leftOutOf, namesOf, rowsOf, sections } from './support/coverage-tables.ts';

const root = new URL('..', import.meta.url);
const rows = rowsOf(sections.operations);
const namesIn = (column: number) => rows.flatMap((row) => namesOf(row[column]));

/** `Query.users`, or a type by its name alone. */
function isInSchema(name: string, of = schema): boolean {
  const [typeName = '', fieldName] = name.split('.');
  const type = of.getType(typeName);
  if (fieldName === undefined) return type !== undefined;
  if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return false;
  return type.getFields()[fieldName] !== undefined;
}

const { routes, managementRoutes } = createSandbox({
  apiKey: 'key',
  webhookSecret: `whsec_${'a'.repeat(32)}`,
});

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

test('every root field of the schema is in the table', () => {
  const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = types.flatMap((type) =>
    Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
  );
  const covered = new Set(namesIn(2));
  expect(fields.filter((field) => !covered.has(field))).toEqual([]);
});

test('every implementer of ServiceEvent is in the table', () => {
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

const toCamelCase = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The places in the graph that a row names: after a field, or else the field of that name in the row's type. */
function placesOf([, graph = '', shown = '']: readonly string[]): readonly string[] {
  const [type = ''] = namesOf(graph);
  return [...shown.matchAll(/`([^`]+)`(?: `([^`]+)`)?/g)].map(([, field = '', place]) => {
    if (place !== undefined) return place;
    return type.includes('.') ? type : `${type}.${toCamelCase(field)}`;
  });
}

const managementFieldRows = rowsOf(sections.managementFields);
const fieldRows = [...rowsOf(sections.fields), ...managementFieldRows];

test('every public field has a place in the schema or is left out with a reason', () => {
  expect(fieldRows.flatMap(placesOf).length).toBeGreaterThan(750);
  expect(
    rowsOf(sections.fields)
      .flatMap(placesOf)
      .filter((place) => !isInSchema(place)),
  ).toEqual([]);
  expect(
    managementFieldRows.flatMap(placesOf).filter((place) => !isInSchema(place, managementSchema)),
  ).toEqual([]);
  expect(fieldRows.flatMap(leftOutOf).filter(({ reason }) => reason.length < 10)).toEqual([]);
  expect(fieldRows.filter((row) => new Set(fieldNamesOf(row)).size !== fieldNamesOf(row).length)).toEqual([]);
});

/** The operations of the public document that the sandbox has. */
const played = [...routes, ...managementRoutes].map((route) => route.replace(/:(\w+)/g, '{$1}'));

test('the fields are those of the public document, where it is at hand', () => {
  const documented = fieldRows.flatMap((row) =>
    namesOf(row[0]).map((schemaName) => [schemaName, fieldNamesOf(row).toSorted()] as const),
  );
  const bySchema = new Map(documented);
  expect(documented).toHaveLength(bySchema.size);
  expect(bySchema).toEqual(openServiceDocument()?.fieldsOf(played) ?? bySchema);
});

const parameterRows = rowsOf(sections.parameters);

test('every query parameter has a place in the graph or is left out with a reason', () => {
  const schemaOf = ([operation = '']: readonly string[]) =>
    operation.includes(' /v1/org/') ? managementSchema : schema;
  expect(parameterRows.flatMap(placesOf).length).toBeGreaterThan(80);
  expect(
    parameterRows.flatMap((row) => placesOf(row).filter((place) => !isInSchema(place, schemaOf(row)))),
  ).toEqual([]);
  expect(parameterRows.flatMap(leftOutOf).filter(({ reason }) => reason.length < 10)).toEqual([]);
});

test('the query parameters are those of the public document, where it is at hand', () => {
  const documented = parameterRows.map(
    (row) => [namesOf(row[0])[0] ?? '', fieldNamesOf(row).toSorted()] as const,
  );
  const byOperation = new Map(documented);
  expect(documented).toHaveLength(byOperation.size);
  expect(byOperation).toEqual(openServiceDocument()?.queryParametersOf(played) ?? byOperation);
});

test('every operation that is left out has a reason, and the sandbox has none of them', () => {
  const leftOut = rowsOf(sections.missing);
  const names = leftOut.flatMap(([operations]) => namesOf(operations));
  expect(names.length).toBeGreaterThan(20);
  expect(new Set(names).size).toBe(names.length);
  expect(leftOut.filter(([, reason = '']) => reason.trim().length < 10)).toEqual([]);
  const publicOnes = openServiceDocument()?.operations.filter((operation) => !played.includes(operation));
  expect(names.filter((name) => played.includes(name))).toEqual([]);
  expect(names.toSorted()).toEqual((publicOnes ?? names).toSorted());
});

test('every operation of the management interface has a field of its graph, a route of the sandbox, and tests that exist', () => {
  const rows = rowsOf(sections.management).map((row) => row.map(namesOf));
  const named = rows.flatMap((row) => row[2] ?? []);
  expect(named.filter((name) => !isInSchema(name, managementSchema))).toEqual([]);
  const roots = [managementSchema.getQueryType(), managementSchema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}).map((field) => `${type?.name}.${field}`),
  );
  expect(roots.filter((root) => !named.includes(root))).toEqual([]);
  expect(rows.flatMap((row) => row[3] ?? []).toSorted()).toEqual([...managementRoutes].toSorted());
  const files = new Set(rows.flatMap((row) => row[4] ?? []));
  expect([...files].filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
