import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isScalarType,
} from 'graphql';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));

/** A place for a text: an argument of a field, or an input field at any depth inside one. */
export interface Place {
  /** As people say it: `Mutation.createOrder(input).patientDetails.email`. */
  readonly name: string;
  /** As the schema has it: `OrderPatientInput.email`, or `User.orders(after:)`. */
  readonly coordinate: string;
  readonly isSubscription: boolean;
  readonly query: string;
  /** The variables of the query with a text at this place, and what is required else. */
  readonly variablesWith: (text: string) => Readonly<Record<string, unknown>>;
}

type Field = GraphQLField<unknown, unknown>;
type Path = readonly string[];

/** What a value of a scalar is where another place is tried; a scalar that is missing here fails the walk. */
const samples: Readonly<Record<string, unknown>> = {
  String: 'x',
  ID: '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11',
  Int: 1,
  Float: 1,
  Boolean: true,
  Date: '1990-01-01',
  DateTime: '2026-01-01T00:00:00.000Z',
  EventCursor: 'x',
  // Comes in a multipart request only.
  File: null,
};
const notText = ['Int', 'Float', 'Boolean', 'File'];

/** A value with a text at a path inside it, and with what is required beside it. */
function sampleOf(type: GraphQLInputType, path: Path | null, text: string): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [sampleOf(nullable.ofType, path, text)];
  if (isScalarType(nullable)) return path === null ? samples[nullable.name] : text;
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (!isInputObjectType(nullable)) return null;
  const [next, ...rest] = path ?? [];
  const fields = Object.values(nullable.getFields());
  const [first] = fields;
  const isGiven = (field: (typeof fields)[number]) =>
    field.name === next || isRequiredInputField(field) || (nullable.isOneOf && !next && field === first);
  return Object.fromEntries(
    fields
      .filter(isGiven)
      .map((field) => [field.name, sampleOf(field.type, field.name === next ? rest : null, text)]),
  );
}

/** The paths to the texts of a type, each with its coordinate. */
function pathsIn(type: GraphQLInputType, coordinate: string, around: Path): readonly [Path, string][] {
  const named = getNamedType(type);
  if (isScalarType(named)) {
    if (!(named.name in samples)) throw new Error(`Say in samples what a ${named.name} is.`);
    return notText.includes(named.name) ? [] : [[[], coordinate]];
  }
  if (!isInputObjectType(named) || around.includes(named.name)) return [];
  return Object.values(named.getFields()).flatMap((field) =>
    pathsIn(field.type, `${named.name}.${field.name}`, [...around, named.name]).map(
      ([path, at]): [Path, string] => [[field.name, ...path], at],
    ),
  );
}

/** The fields that lead from Query to each type, the shortest way first; every root is its own beginning. */
function findWays(): ReadonlyMap<string, readonly string[]> {
  const ways = new Map<string, readonly string[]>();
  const query = schema.getQueryType();
  for (const root of [query, schema.getMutationType(), schema.getSubscriptionType()]) {
    if (root) ways.set(root.name, []);
  }
  const open = query ? [query] : [];
  for (const type of open) {
    const way = ways.get(type.name) ?? [];
    for (const field of Object.values(type.getFields())) {
      const target = getNamedType(field.type);
      const isNew = isObjectType(target) && !ways.has(target.name);
      if (!isNew || field.args.some(isRequiredArgument) || way.length > 10) continue;
      ways.set(target.name, [...way, field.name]);
      open.push(target);
    }
  }
  return ways;
}

const ways = findWays();

function queryOf(type: GraphQLObjectType, field: Field, given: readonly GraphQLArgument[]): string {
  const way = ways.get(type.name) ?? [];
  const isRoot = way.length === 0;
  const declared = given.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const selection = isCompositeType(getNamedType(field.type)) ? '{ __typename }' : '';
  const inner = `{ ${field.name}(${passed}) ${selection} }`;
  const body = way.reduceRight((text, name) => `{ ${name} ${text} }`, inner);
  return `${isRoot ? type.name.toLowerCase() : 'query'} (${declared}) ${body}`;
}

function placesOf(type: GraphQLObjectType, field: Field, argument: GraphQLArgument): readonly Place[] {
  const given = field.args.filter((arg) => arg === argument || isRequiredArgument(arg));
  const query = queryOf(type, field, given);
  const name = `${type.name}.${field.name}(${argument.name})`;
  return pathsIn(argument.type, `${type.name}.${field.name}(${argument.name}:)`, []).map(
    ([path, coordinate]) => ({
      name: [name, ...path].join('.'),
      coordinate,
      isSubscription: type === schema.getSubscriptionType(),
      query,
      variablesWith: (text) =>
        Object.fromEntries(
          given.map((arg) => [arg.name, sampleOf(arg.type, arg === argument ? path : null, text)]),
        ),
    }),
  );
}

const objects = Object.values(schema.getTypeMap()).filter(
  (type): type is GraphQLObjectType => isObjectType(type) && !type.name.startsWith('__'),
);

/** Every place of the schema that takes a text. */
export const places: readonly Place[] = objects.flatMap((type) =>
  Object.values(type.getFields()).flatMap((field) =>
    field.args.flatMap((argument) => (ways.has(type.name) ? placesOf(type, field, argument) : [])),
  ),
);

/** Every coordinate of a text, found without a way to it. */
export const coordinates: readonly string[] = Object.values(schema.getTypeMap()).flatMap((type) => {
  if (type.name.startsWith('__')) return [];
  const isText = (input: GraphQLInputType) => {
    const named = getNamedType(input);
    return isScalarType(named) && !notText.includes(named.name);
  };
  if (isInputObjectType(type)) {
    const texts = Object.values(type.getFields()).filter((field) => isText(field.type));
    return texts.map(({ name }) => `${type.name}.${name}`);
  }
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) =>
    field.args.filter((arg) => isText(arg.type)).map((arg) => `${type.name}.${field.name}(${arg.name}:)`),
  );
});
