import type { introspection, Scalars } from '@labgraph/client/schema';
import { initGraphQLTada } from 'gql.tada';

/** Documents whose results and variables have the types of the gateway's schema, without a build step. */
export const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();
