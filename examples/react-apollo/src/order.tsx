import { useQuery, useSubscription } from '@apollo/client/react';
import type { ResultOf } from 'gql.tada';
import { graphql } from './graphql.ts';

const orderParts = graphql(`
  fragment OrderParts on Order @_unmask {
    id
    status { label isTerminal needsAttention }
    events { id createdAt status { label } }
  }
`);

const newestOrder = graphql(
  `query NewestOrder { viewer { user { id orders(first: 1) { nodes { ...OrderParts } } } } }`,
  [orderParts],
);

/** `resumeLink` sends the newest `cursor` as `$after` whenever it connects again. */
const orderLive = graphql(
  `subscription OrderLive($orderId: ID!, $after: EventCursor) {
    orderUpdates(orderId: $orderId, after: $after) { cursor order { ...OrderParts } }
  }`,
  [orderParts],
);

/** The newest order of whoever is signed in. */
export function NewestOrder() {
  const { data, error } = useQuery(newestOrder);
  if (error) return <p role="alert">{error.message}</p>;
  if (!data) return <p>Loading…</p>;
  const order = data.viewer?.user?.orders?.nodes[0];
  return order ? <Order order={order} /> : <p>You have no orders yet.</p>;
}

/** Each update goes into the cache under the order's id, and so into the query's data. */
function Order({ order }: { readonly order: ResultOf<typeof orderParts> }) {
  const { error } = useSubscription(orderLive, { variables: { orderId: order.id } });
  return (
    <section aria-label="Your order" data-attention={order.status.needsAttention}>
      <h1>Your order</h1>
      <output>{order.status.label}</output>
      {error && <p role="alert">This page may be out of date: {error.message}</p>}
      <ol>
        {order.events.map(({ id, status }) => (
          <li key={id}>{status.label}</li>
        ))}
      </ol>
    </section>
  );
}
