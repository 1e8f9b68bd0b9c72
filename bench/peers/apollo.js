import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { listOrdersPath, listUsersPath, orderPath, readSettings, tellReady } from './rest.js';
import { renaming, typeDefs } from './schema.js';

const { serviceUrl, port } = readSettings();

/**
 * Apollo Server as its documentation would have it: a RESTDataSource of its own for each operation, made in `context`
 * and sharing the server's cache; it makes equal GETs of one operation once. Parsed and validated documents are kept
 * (the default document store). NODE_ENV=production is set by the bench.
 */
class LabService extends RESTDataSource {
  baseURL = serviceUrl;

  async listUsers(first) {
    return (await this.get(listUsersPath(first))).users;
  }

  async listOrders(userId, first) {
    return (await this.get(listOrdersPath(userId, first))).orders;
  }

  async getOrder(id) {
    return await this.get(orderPath(id)).catch(toNull);
  }

  async updateOrder({ id, activateBy = null }) {
    return await this.patch(orderPath(id), { body: { activate_by: activateBy } }).catch(toNull);
  }
}

function toNull(error) {
  if (error.extensions?.response?.status === 404) return null;
  throw error;
}

const server = new ApolloServer({
  typeDefs,
  resolvers: {
    ...renaming,
    Query: {
      users: async (_root, { first }, { service }) => ({ nodes: await service.listUsers(first) }),
      order: (_root, { id }, { service }) => service.getOrder(id),
    },
    User: {
      ...renaming.User,
      orders: async (user, { first }, { service }) => ({
        nodes: await service.listOrders(user.user_id, first),
      }),
    },
    Mutation: {
      updateOrder: async (_root, { input }, { service }) =>
        (await service.updateOrder(input)) ?? { message: 'There is no such order.' },
    },
  },
});

await startStandaloneServer(server, {
  listen: { port, host: '127.0.0.1' },
  context: async () => ({ service: new LabService({ cache: server.cache }) }),
});
tellReady();
