/** The part of the graph that the delivery bench subscribes to. */
export const typeDefs = `
  type Query { isReady: Boolean! }
  type Order { id: ID! }
  type OrderEvent { id: ID! }
  type OrderUpdate { cursor: String! kind: String! order: Order! event: OrderEvent }
  type Subscription { orderUpdates(orderId: ID!): OrderUpdate! }
`;

/** The change of a webhook. Its signature is not verified, and nothing is stored. */
export function changeOf({ data }) {
  const { id, last_event: event } = data;
  return { orderUpdates: { cursor: String(event.id), kind: 'CHANGED', order: { id }, event } };
}

/** The order as it is, and then its changes, with no layer around them. */
export function startWith(id, changes) {
  const iterator = changes[Symbol.asyncIterator]();
  const snapshot = { orderUpdates: { cursor: '0', kind: 'SNAPSHOT', order: { id }, event: null } };
  let isFirst = true;
  return {
    next: () => {
      if (!isFirst) return iterator.next();
      isFirst = false;
      return Promise.resolve({ done: false, value: snapshot });
    },
    return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
