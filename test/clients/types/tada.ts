import { createLabgraphClient } from '@labgraph/client';
import type { introspection, Scalars } from '@labgraph/client/schema';
import { initGraphQLTada } from 'gql.tada';

const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();

const readOrder = graphql(`
  query ReadOrder($id: ID!) { order(id: $id) { id createdAt status { label stage } } }
`);
const follow = graphql(`
  subscription Follow($id: ID!, $after: EventCursor) {
    orderUpdates(orderId: $id, after: $after) { kind cursor order { status { label } } }
  }
`);
const client = createLabgraphClient({ url: 'https://gateway.example.com/graphql', token: async () => '' });

export async function readLabel(id: string): Promise<string | undefined> {
  const { order } = await client.query(readOrder, { id });
  // @ts-expect-error the field was not asked for
  order?.updatedAt;
  return order?.status.label;
}

export async function followLabels(id: string): Promise<void> {
  // @ts-expect-error the variable is an id
  client.follow(follow, { id: 7 });
  for await (const { orderUpdates } of client.follow(follow, { id })) {
    // @ts-expect-error it is one of three words
    if (orderUpdates.kind === 'NEWS') return;
    orderUpdates.order?.status.label.concat(orderUpdates.cursor);
  }
}
