import { graphql, useLazyLoadQuery, usePaginationFragment, useSubscription } from 'react-relay';
import type { orders_user$key } from './__generated__/orders_user.graphql.ts';
import type { ordersLive } from './__generated__/ordersLive.graphql.ts';
import type { ordersPageQuery } from './__generated__/ordersPageQuery.graphql.ts';
import type { ordersQuery } from './__generated__/ordersQuery.graphql.ts';

/** The orders of whoever is signed in. */
export function Orders() {
  const { viewer } = useLazyLoadQuery<ordersQuery>(
    graphql`query ordersQuery { viewer { user { ...orders_user } } }`,
    {},
  );
  return viewer?.user ? <OrderList of={viewer.user} /> : <p>Nobody is signed in.</p>;
}

const userOrders = graphql`
  fragment orders_user on User
  @refetchable(queryName: "ordersPageQuery")
  @argumentDefinitions(first: { type: "Int", defaultValue: 2 }, after: { type: "String" }) {
    orders(first: $first, after: $after) @connection(key: "orders_orders") {
      edges { node { id status { label } } }
    }
  }
`;

/** Every update carries the `nodeId` of its order, under which the list finds it. The cursor is for `follow`. */
const live = graphql`
  subscription ordersLive($after: EventCursor) {
    userOrderUpdates(after: $after) { cursor order { id status { label } } }
  }
`;

const liveConfig = { subscription: live, variables: {} };

function OrderList({ of }: { readonly of: orders_user$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment<ordersPageQuery, orders_user$key>(
    userOrders,
    of,
  );
  useSubscription<ordersLive>(liveConfig);
  if (!data.orders) return <p role="alert">The orders could not be read.</p>;
  return (
    <section aria-label="Your orders">
      <h1>Your orders</h1>
      <ul>
        {data.orders.edges.map(({ node }) => (
          <li key={node.id}>{node.status.label}</li>
        ))}
      </ul>
      {hasNext && (
        <button type="button" disabled={isLoadingNext} onClick={() => loadNext(2)}>
          More
        </button>
      )}
    </section>
  );
}
