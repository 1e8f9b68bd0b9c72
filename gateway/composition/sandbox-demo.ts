import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { Demo } from '../http/pages/demo.ts';

/**
 * The demo over an embedded sandbox: its invented people, and GraphiQL with example queries.
 * @param gatewayKey filled into GraphiQL; null for a configured key, which is never shown
 */
export function createDemo(sandbox: Sandbox, gatewayKey: string | null): Demo {
  const [person] = sandbox.users();
  const kit = sandbox.labTests().find((labTest) => labTest.method === 'testkit');
  // The one that the demo page shows first: a move there is seen in GraphiQL.
  const order = sandbox.orders().findLast(({ status }) => status.startsWith('received.testkit.'));
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

// No line is longer than 50 characters, and no text than 19 lines: this is the room in GraphiQL on a small laptop.
const nestedQuery = `# Users with their orders: one request.
query UsersWithOrders {
  users(first: 5) {
    nodes {
      demographics { firstName lastName }
      orders(first: 3) {
        totalCount
        nodes {
          createdAt
          status { label isTerminal }
          events { createdAt status { label } }
          markers(first: 3) {
            nodes { name unit }
          }
        }
      }
    }
  }
}
`;

function describeTestkitOrder(userId: string, labTestId: string): string {
  return `# Orders a test kit. Run it twice: one is sent.
mutation OrderTestkit {
  createTestkitOrder(input: {
    userId: "${userId}"
    labTestId:
      "${labTestId}"
    idempotencyKey: "my-first-order"
    shippingDetails: {
      receiverName: "Avery Lindholm"
      firstLine: "100 Example Street"
      city: "Phoenix", state: "AZ", zip: "85004"
      country: "US", phoneNumber: "+16025550100"
    }
  }) {
    __typename
    ... on OrderCreated { order { id } }
    ... on UserError { code message }
  }
}
`;
}

function describeSubscription(orderId: string): string {
  return `# Stays open. Move this order on the demo page,
# or with simulateOrder, and watch it here.
subscription OrderLive {
  orderUpdates(
    orderId:
      "${orderId}"
  ) {
    kind
    cursor
    event { status { label } }
    order { status { label needsAttention } }
  }
}
`;
}
