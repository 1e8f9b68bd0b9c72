import {
  type GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
  parse,
  printSchema,
  visit,
} from 'graphql';
import './viewer/graph.ts';
import './user/graph.ts';
import './user/graph-demographics.ts';
import './user/graph-connections.ts';
import './user/graph-mutations.ts';
import './lab-account/graph.ts';
import './marker/graph.ts';
import './lab-test/graph.ts';
import './service-event/graph.ts';
import './order/read/graph.ts';
import './order/read/graph-list.ts';
import './order/read/graph-parts.ts';
import './order/place/graph.ts';
import './order/register/graph.ts';
import './order/update/graph.ts';
import './order/stream/graph.ts';
import './appointment/graph.ts';
import './appointment/graph-places.ts';
import './appointment/graph-availability.ts';
import './appointment/graph-mutations.ts';
import './appointment/events.ts';
import './result/graph.ts';
import './portal/graph.ts';
import './lab-report/graph.ts';
import './health-data/graph.ts';
import './health-data/events.ts';
import { builder, directives } from '../graph/builder.ts';
import { meterFields } from '../graph/cost.ts';
import { clearLoaders, nameOutcomes, refuseMalformedIds } from '../graph/mutation-result.ts';
import { needsOf, requirePermissions } from '../graph/permissions.ts';

/** The whole graph. One line above per concept: taking it away takes the concept out of the schema. */
export const schema: GraphQLSchema = meterFields(
  clearLoaders(nameOutcomes(refuseMalformedIds(requirePermissions(builder.toSchema({ directives }))))),
);

const definitions = `"""
Exactly one of the fields of the input is given. Part of GraphQL since 2025; older tools know it from here.
"""
directive @oneOf on INPUT_OBJECT

"""
The scopes that a viewer token needs for this field: all those of one of the lists. A gateway key needs none.
"""
directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION
`;

/**
 * The schema as text, as it is committed in schema.graphql. Introspection does not have `@requiresScopes`. graphql-js prints
 * no directive on a field, so it is inserted into the printed text.
 */
export function printGraph(): string {
  const text = printSchema(lexicographicSortSchema(schema));
  const insertions: { readonly at: number; readonly directive: string }[] = [];
  visit(parse(text), {
    ObjectTypeDefinition: ({ name: type, fields = [] }) => {
      for (const { name, type: result } of fields) {
        const directive = describeNeeds(type.value, name.value);
        if (directive !== null && result.loc !== undefined)
          insertions.push({ at: result.loc.end, directive });
      }
    },
  });
  const ends = [0, ...insertions.map(({ at }) => at)];
  const parts = ends.map((start, index) => text.slice(start, ends[index + 1]));
  const directed = parts.map((part, index) => (insertions[index - 1]?.directive ?? '') + part);
  return `${definitions}\n${directed.join('')}\n`;
}

/** What is inserted behind the type of a field; null where a field needs no scope. */
function describeNeeds(typeName: string, fieldName: string): string | null {
  const type = schema.getType(typeName);
  const field = isObjectType(type) ? type.getFields()[fieldName] : undefined;
  const scopes = field === undefined ? [] : (needsOf(field)?.scopes ?? []);
  if (scopes.length === 0) return null;
  const lists = scopes.map((all) => `[${all.map((scope) => `"${scope}"`).join(', ')}]`).join(', ');
  return ` @requiresScopes(scopes: [${lists}])`;
}
