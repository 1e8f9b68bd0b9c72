/** The part of the gateway's graph that the bench asks for, as both peers serve it. */
export const typeDefs = `
  scalar Date

  type Query {
    users(first: Int = 20): UserConnection!
    order(id: ID!): Order
    user(id: ID!): User
  }

  type Mutation {
    updateOrder(input: UpdateOrderInput!): UpdateOrderResult!
  }

  type UserConnection {
    nodes: [User!]!
  }

  type User {
    id: ID!
    clientUserId: String
    orders(first: Int = 20): OrderConnection!
  }

  type OrderConnection {
    nodes: [Order!]!
  }

  type Order {
    id: ID!
    sampleId: String
    activateBy: Date
    labTest: LabTest
    events: [OrderEvent!]!
  }

  type OrderEvent {
    id: ID!
    createdAt: String!
  }

  type LabTest {
    name: String
  }

  input UpdateOrderInput {
    id: ID!
    activateBy: Date
  }

  union UpdateOrderResult = OrderUpdated | NotFound

  type OrderUpdated {
    order: Order!
  }

  type NotFound {
    message: String!
  }
`;

/** Resolvers that only rename: equal in both peers. */
export const renaming = {
  User: { id: (user) => user.user_id, clientUserId: (user) => user.client_user_id },
  Order: {
    sampleId: (order) => order.sample_id,
    activateBy: (order) => order.activate_by,
    labTest: (order) => order.lab_test,
  },
  OrderEvent: { createdAt: (event) => new Date(event.created_at).toISOString() },
  UpdateOrderResult: { __resolveType: (result) => ('order' in result ? 'OrderUpdated' : 'NotFound') },
};
