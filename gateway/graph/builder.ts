import SchemaBuilder, { type FieldMap } from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import { DirectiveLocation, GraphQLDirective, GraphQLError, specifiedDirectives } from 'graphql';
import { DateResolver, DateTimeResolver, JSONResolver, URLResolver } from 'graphql-scalars';
import { type Scope, scopes } from '../auth/rights.ts';
import type { GraphContext } from './context.ts';
import { usualCost } from './cost.ts';

/** The types that scalars have in resolvers. */
type ScalarTypes = {
  ID: { Input: string; Output: string };
  DateTime: { Input: Date; Output: Date };
  Date: { Input: Date; Output: string };
  URL: { Input: URL; Output: string };
  JSON: { Input: unknown; Output: unknown };
  File: { Input: File; Output: never };
  EventCursor: { Input: string; Output: string };
  Scope: { Input: Scope; Output: Scope };
};

/** The schema under construction. Fields are nullable unless they say otherwise (docs/queries.md). */
export const builder = new SchemaBuilder<{ Context: GraphContext; Scalars: ScalarTypes }>({
  plugins: [ComplexityPlugin],
  complexity: { fieldComplexity: usualCost },
});

/**
 * The directives of the specification, as clients know them. graphql-js 17 also allows `@deprecated` on directives, and
 * clients in other languages refuse a schema that names a place which they do not know.
 */
export const directives = specifiedDirectives.map((directive) => {
  const { locations, ...config } = directive.toConfig();
  const known = locations.filter((place) => place !== DirectiveLocation.DIRECTIVE_DEFINITION);
  return new GraphQLDirective({ ...config, locations: known });
});

builder.queryType({ description: 'Everything that can be read.' });
builder.mutationType({ description: 'Everything that can be changed.' });
builder.subscriptionType({ description: 'Everything that can be followed live.' });

builder.addScalarType('DateTime', DateTimeResolver, {
  description: 'An instant as an RFC 3339 timestamp in UTC, such as 2026-03-01T09:30:00.000Z.',
});
builder.addScalarType('Date', DateResolver, { description: 'A calendar day, such as 2026-03-01.' });
builder.addScalarType('URL', URLResolver, { description: 'An absolute http or https address.' });
builder.addScalarType('JSON', JSONResolver, { description: 'Any JSON value, as the service sent it.' });
builder.scalarType('EventCursor', {
  description:
    'A place in a stream of changes. It is opaque: store the newest one and send it as `after` to continue there.',
  serialize: (cursor) => cursor,
  parseValue: (value) => {
    if (typeof value === 'string') return value;
    throw new GraphQLError('An EventCursor is text.');
  },
});
builder.scalarType('Scope', {
  description: `What a viewer token may allow: ${scopes.join(', ')}. New scopes may be added. launch:portal opens the portal with everything of the user, also for a token that is limited to some orders.`,
  serialize: (scope) => scope,
  parseValue: (value) => {
    const scope = scopes.find((each) => each === value);
    if (scope !== undefined) return scope;
    throw new GraphQLError('A Scope is one of the names in its description.');
  },
});
builder.scalarType('File', {
  description: 'A file of a multipart request (GraphQL multipart request specification).',
  serialize: () => {
    throw new TypeError('A File is never an answer.');
  },
  parseValue: (value) => {
    if (value instanceof File) return value;
    throw new GraphQLError('A File comes as a part of a multipart/form-data request.');
  },
});

/** The `t` of an input type's fields. */
export type InputFields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

/** The `t` of an object type's fields. */
export type Fields<Parent> = PothosSchemaTypes.ObjectFieldBuilder<typeof builder.$inferSchemaTypes, Parent>;

/** The `fields` of an object type. */
export type DefineFields<Parent> = (t: Fields<Parent>) => FieldMap;
