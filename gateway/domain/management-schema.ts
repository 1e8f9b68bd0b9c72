import {
  GraphQLObjectType,
  GraphQLSchema,
  isObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
// First: the other graph is built before this one adds its types to the builder.
import './schema.ts';
import './management/graph-teams.ts';
import './management/graph-team-changes.ts';
import './management/graph-delivery.ts';
import './management/graph-keys.ts';
import './management/graph-webhooks.ts';
import './management/gateway-webhook/graph.ts';
import './management/graph-credentials.ts';
import './management/graph-pipelines.ts';
import { builder, directives } from '../graph/builder.ts';
import { meterFields } from '../graph/cost.ts';
import { clearLoaders, nameOutcomes, refuseMalformedIds } from '../graph/mutation-result.ts';

const all = builder.toSchema();

function rootOf(name: 'Query' | 'Mutation'): GraphQLObjectType {
  const type = all.getType(`Management${name}`);
  if (!isObjectType(type)) throw new TypeError(`The management graph has no ${name}.`);
  return new GraphQLObjectType({ ...type.toConfig(), name });
}

/** The management graph: from the same builder, with roots of its own, and only the types that these reach. */
export const managementSchema: GraphQLSchema = meterFields(
  clearLoaders(
    nameOutcomes(
      refuseMalformedIds(
        new GraphQLSchema({ query: rootOf('Query'), mutation: rootOf('Mutation'), directives }),
      ),
    ),
  ),
);

/** The management graph as text, as it is committed in management.graphql. */
export function printManagementGraph(): string {
  return `${printSchema(lexicographicSortSchema(managementSchema))}\n`;
}
