import { createLabgraphClient } from '@labgraph/client';
import { graphql } from './built/index.js';

const readOrder = graphql(`
  query ReadOrderByCodegen($id: ID!) { order(id: $id) { id createdAt status { label stage } } }
`);
const client = createLabgraphClient({ url: 'https://gateway.example.com/graphql', token: async () => '' });

export async function readLabel(id: string): Promise<string | undefined> {
  // @ts-expect-error the variable is missing
  await client.query(readOrder);
  const { order } = await client.query(readOrder, { id });
  const createdAt: string | null | undefined = order?.createdAt;
  // @ts-expect-error the field was not asked for
  order?.updatedAt;
  return createdAt ? order?.status.label : undefined;
}
