import { createLabgraphClient, type Updates } from '@labgraph/client';
import type { introspection, keys, possibleTypes, Scalars, scalars } from '@labgraph/client/schema';
import { initGraphQLTada } from 'gql.tada';
import type { DocumentNode } from 'graphql';

/** Fails to compile unless the types are the same; `any` is the same as nothing else. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function check<_Proof extends true>(): void {}

const graphql = initGraphQLTada<{ introspection: introspection; scalars: Scalars }>();
const client = createLabgraphClient({ url: 'https://gateway.example.com/graphql', token: async () => '' });

const order = graphql(`query ($id: ID!) { order(id: $id) { id status { label stage } } }`);
const updates = graphql(`subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor receivedAt }
}`);

export async function useTada() {
  const data = await client.query(order, { id: '1' });
  check<Same<NonNullable<typeof data.order>['status']['label'], string>>();
  // @ts-expect-error: a required variable
  await client.query(order);
  // @ts-expect-error: a variable of another name
  await client.query(order, { orderId: '1' });
  const items = client.follow(updates, { orderId: '1' }, { transport: 'sse' });
  check<Same<typeof items, Updates<{ orderUpdates: { cursor: string; receivedAt: string | null } }>>>();
  // @ts-expect-error: no such transport
  client.follow(updates, { orderId: '1' }, { transport: 'carrier pigeon' });
}

/** As codegen writes them: a TypedDocumentNode, and a TypedDocumentString. */
interface TypedDocumentNode<Result, Variables> extends DocumentNode {
  __apiType?: (variables: Variables) => Result;
}
declare class TypedDocumentString<Result, Variables> extends String {
  __apiType?: (variables: Variables) => Result;
}
declare const node: TypedDocumentNode<{ viewer: { userId: string } }, { [key: string]: never }>;
declare const text: TypedDocumentString<{ viewer: { userId: string } }, { id: string; first?: number }>;
declare const plain: DocumentNode;

export async function useOthers() {
  const ofNode = await client.query(node);
  check<Same<typeof ofNode, { viewer: { userId: string } }>>();
  const ofText = await client.mutate(text, { id: '1' });
  check<Same<typeof ofText, { viewer: { userId: string } }>>();
  const ofPlain = await client.query(plain, { anything: 1 });
  check<Same<typeof ofPlain, unknown>>();
  const ofString = await client.query('{ viewer { userId } }');
  check<Same<typeof ofString, unknown>>();
  const named = await client.query<{ viewer: { userId: string } }>('{ viewer { userId } }');
  check<Same<typeof named, { viewer: { userId: string } }>>();
  check<Same<typeof possibleTypes, Record<string, string[]>>>();
  check<Same<typeof scalars, Record<string, string>>>();
  check<Same<ReturnType<NonNullable<(typeof keys)[string]>>, null>>();
}
