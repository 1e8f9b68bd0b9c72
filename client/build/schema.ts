import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal';
import {
  buildSchema,
  type GraphQLSchema,
  introspectionFromSchema,
  isAbstractType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
} from 'graphql';

/** graphql-js 17 also allows it on directives, and tools in other languages refuse a schema that names such a place. */
const deprecated = `directive @deprecated(reason: String! = "No longer supported")
  on FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
`;

/**
 * The files that tools read in place of the schema, by name. Everything is derived from its text.
 * @param text `schema.graphql`
 */
export function describeSchema(text: string): Readonly<Record<string, string>> {
  const schema = buildSchema(deprecated + text);
  const introspection = introspectionFromSchema(schema);
  const [types = ''] = outputIntrospectionFile(minifyIntrospection(introspection), {
    fileType: '.d.ts',
    shouldPreprocess: true,
  }).split("import * as gqlTada from 'gql.tada';");
  const scalars = listScalars(schema);
  const keys = listEmbedded(schema).map((name) => `  ${name}: embedded,\n`);
  return {
    'schema.graphql': text,
    'introspection.json': `${JSON.stringify(introspection)}\n`,
    'introspection.d.ts': types,
    'schema.js': `export const possibleTypes = ${toCode(listPossibleTypes(schema))};

export const scalars = ${toCode(scalars)};

const embedded = () => null;

export const keys = {\n${keys.join('')}};\n`,
    'schema.d.ts': `export type { introspection } from './introspection.js';

/** The members of each interface and union, for Apollo's \`InMemoryCache\`. */
export declare const possibleTypes: Record<string, string[]>;

/** The TypeScript type of each scalar, for the \`scalars\` of codegen. */
export declare const scalars: Record<string, string>;

/** Types without an identity of their own, for the \`keys\` of urql's graphcache. */
export declare const keys: Record<string, () => null>;

/** The type of each scalar, for the \`scalars\` of gql.tada. */
export type Scalars = {\n${Object.entries(scalars)
      .map(([name, type]) => `  ${name}: ${type};\n`)
      .join('')}};\n`,
  };
}

function listPossibleTypes(schema: GraphQLSchema): Readonly<Record<string, readonly string[]>> {
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return Object.fromEntries(
    abstract.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
}

/** As JSON carries them: every scalar of the graph is a text, except these two. */
function listScalars(schema: GraphQLSchema): Readonly<Record<string, string>> {
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  const types: Readonly<Record<string, string>> = { JSON: 'unknown', File: 'Blob' };
  return Object.fromEntries(scalars.map(({ name }) => [name, types[name] ?? 'string']));
}

/** Objects that are not refetched by themselves: a cache stores them inside of the object that has them. */
function listEmbedded(schema: GraphQLSchema): readonly string[] {
  const hasNodes = schema.getType('Node') !== undefined;
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) =>
      hasNodes ? !type.getInterfaces().some(({ name }) => name === 'Node') : !type.getFields().id,
    )
    .map(({ name }) => name)
    .filter((name) => !/^(__|(Query|Mutation|Subscription)$)/.test(name));
}

function toCode(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
