import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Demo } from '../http/pages/demo.ts';

/**
 * The demo over an embedded sandbox: its invented people, and GraphiQL with example queries.
 * @param gatewayKey filled into GraphiQL; null for a configured key, which is never shown
 */
export function createDemo(sandbox: Sandbox, gatewayKey: string | null): Demo {
  const [person] = sandbox.users();
  const kit = sandbox.labTests().find((labTest) => labTest.method === 'testkit');
  const order = sandbox.orders().findLast(({ userId }) => userId === person?.userId);
  return {
    graphiql: {
      gatewayKey,
      queries: [
        nestedQuery,
        describeTestkitOrder(person?.userId ?? '', kit?.labTestId ?? ''),
        describeSubscription(order?.orderId ?? ''),
      ],
    },
    listPeople: () =>
      sandbox.users().map((user) => ({
        userId: user.userId,
        name: user.name,
        canLaunch: user.hasDemographics,
        orders: sandbox
          .orders()
          .filter(({ userId }) => userId === user.userId)
          .map(({ orderId, method, status }) => ({ orderId, method, status })),
      })),
  };
}

const nestedQuery = `# Users with their orders, events and markers: one request.
query UsersWithOrders {
  users(first: 5) {
    nodes {
      clientUserId
      orders(first: 3) {
        totalCount
        nodes {
          id
          status { label stage isTerminal }
          events { id createdAt status { label } statusDetail }
          markers(first: 5) {
            nodes { name unit expectedResults { loinc { code name } } }
          }
        }
      }
    }
  }
}
`;

function describeTestkitOrder(userId: string, labTestId: string): string {
  return `# Orders a testkit. Run it twice: the same idempotencyKey never ships a second kit.
mutation OrderTestkit {
  createTestkitOrder(input: {
    userId: "${userId}"
    labTestId: "${labTestId}"
    idempotencyKey: "my-first-order"
    shippingDetails: {
      receiverName: "Avery Sample", firstLine: "100 Example Street", city: "Phoenix"
      state: "AZ", zip: "85004", country: "US", phoneNumber: "+16025550100"
    }
  }) {
    __typename
    ... on OrderCreated { order { id status { label } events { status { raw } } } cursor }
    ... on UserError { code message }
    ... on InputRejected { issues { path message } }
  }
}
`;
}

function describeSubscription(orderId: string): string {
  return `# Stays open: move the order on the demo page (or with simulateOrder) and watch it here.
subscription OrderLive {
  orderUpdates(orderId: "${orderId}") {
    kind
    cursor
    event { id status { label } }
    order { status { label stage needsAttention } }
  }
}
`;
}
