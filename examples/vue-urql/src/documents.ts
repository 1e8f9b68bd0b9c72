import { graphql } from './graphql.ts';

const orderParts = graphql(`
  fragment OrderParts on Order @_unmask {
    id
    status { label isTerminal needsAttention }
    events { id createdAt status { label } }
  }
`);

export const newestOrder = graphql(
  `query NewestOrder { viewer { user { id orders(first: 1) { nodes { ...OrderParts } } } } }`,
  [orderParts],
);

/** `forwardSubscription` sends the newest `cursor` as `$after` whenever it connects again. */
export const orderLive = graphql(
  `subscription OrderLive($orderId: ID!, $after: EventCursor) {
    orderUpdates(orderId: $orderId, after: $after) { cursor order { ...OrderParts } }
  }`,
  [orderParts],
);
