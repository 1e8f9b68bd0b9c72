import { Agent } from 'node:http';
import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import fastifyApollo from '@as-integrations/fastify';
import Fastify from 'fastify';
import nodeFetch from 'node-fetch';
import { listOrdersPath, listUsersPath, orderPath, readSettings, reportReady, userPath } from './rest.js';
import { renaming, typeDefs } from './schema.js';

const { serviceUrl, port } = readSettings();
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/**
 * Apollo Server as its documentation would have it: a RESTDataSource of its own for each operation, made in `context`
 * and sharing the server's cache; it makes equal GETs of one operation once. Parsed and validated documents are cached
 * (the default document store). NODE_ENV=production is set by the bench.
 *
 * Where the documentation leaves a choice, the faster one was measured and taken: Fastify's integration before the
 * standalone server (a trivial query 1.25 times as often), RESTDataSource's own fetcher before Node's and undici's
 * `fetch` (nested 1.4 and 2.5 times as often), over a pool of 64 keep-alive connections.
 */
class LabService extends RESTDataSource {
  baseURL = serviceUrl;

  async listUsers(first) {
    return (await this.get(listUsersPath(first))).users;
  }

  async listOrders(userId, first) {
    return (await this.get(listOrdersPath(userId, first))).orders;
  }

  async getUser(id) {
    return await this.get(userPath(id)).catch(toNull);
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
      user: (_root, { id }, { service }) => service.getUser(id),
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

await server.start();
const app = Fastify();
await app.register(fastifyApollo(server), {
  path: '/',
  context: async () => ({
    service: new LabService({
      cache: server.cache,
      fetch: (url, init) => nodeFetch(url, { ...init, agent }),
    }),
  }),
});
await app.listen({ port, host: '127.0.0.1' });
reportReady();
