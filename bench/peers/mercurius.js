import Fastify from 'fastify';
import mercurius from 'mercurius';
import { readSettings, reportReady } from './rest.js';
import { renaming, typeDefs } from './schema.js';
import { createService } from './service.js';

/**
 * Mercurius as its documentation would have it in production: `jit: 1` compiles a query from its second run on, loaders
 * take a field of many parents at once (and drop doubles within a request), undici's pool reuses connections to the
 * service. Fastify's logger stays off, as it is by default.
 */
const { serviceUrl, port } = readSettings();
const service = createService(serviceUrl);
const app = Fastify();

app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  resolvers: {
    ...renaming,
    UpdateOrderResult: { resolveType: renaming.UpdateOrderResult.__resolveType },
    Query: {
      users: async (_root, { first }) => ({ nodes: await service.listUsers(first) }),
      order: (_root, { id }) => service.getOrder(id),
      user: (_root, { id }) => service.getUser(id),
    },
    Mutation: {
      updateOrder: async (_root, { input }) =>
        (await service.updateOrder(input.id, input.activateBy)) ?? { message: 'There is no such order.' },
    },
  },
  loaders: {
    User: {
      // The service lists the orders of one user a call.
      orders: (queries) =>
        Promise.all(
          queries.map(async ({ obj, params }) => ({
            nodes: await service.listOrders(obj.user_id, params.first),
          })),
        ),
    },
  },
});

await app.listen({ port, host: '127.0.0.1' });
reportReady();
