import { graphql } from 'relay-runtime';

/** Read by Relay's compiler only: the tests load what it writes. */
export const documents = [
  graphql`
    query operationsOrdersQuery($nodeId: ID!) {
      node(nodeId: $nodeId) { ...operationsOrders @alias(as: "user") }
    }
  `,
  graphql`
    fragment operationsOrders on User
    @refetchable(queryName: "operationsOrdersPaginationQuery")
    @argumentDefinitions(count: { type: "Int", defaultValue: 1 }, cursor: { type: "String" }) {
      clientUserId
      orders(first: $count, after: $cursor) @connection(key: "operations_orders") {
        edges { node { id ...operationsOrder } }
      }
    }
  `,
  graphql`
    fragment operationsOrder on Order @refetchable(queryName: "operationsOrderRefetchQuery") {
      id
      status { raw }
      labTest { ...operationsLabTest }
    }
  `,
  graphql`
    fragment operationsLabTest on LabTest @refetchable(queryName: "operationsLabTestRefetchQuery") {
      name
    }
  `,
  graphql`
    query operationsCollidingIdsQuery {
      labTests(first: 5) {
        nodes {
          id
          name
          markers(first: 5) { nodes { id name lab { id name } } }
        }
      }
    }
  `,
];
