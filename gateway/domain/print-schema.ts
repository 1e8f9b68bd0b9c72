import { isObjectType, lexicographicSortSchema, parse, printSchema, visit } from 'graphql';
import { needsOf } from '../graph/permissions.ts';
import { schema } from './schema.ts';

const definition = `"""
The scopes that a viewer token needs for this field: all those of one of the lists. A gateway key needs none.
"""
directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION
`;

/**
 * The schema as text, as it is committed in schema.graphql. It has one directive that introspection does not, because
 * graphql-js prints none on fields: it is inserted into the printed text.
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
  return `${definition}\n${directed.join('')}\n`;
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
