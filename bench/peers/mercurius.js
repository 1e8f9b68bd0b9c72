import Fastify from 'fastify';
import mercurius from 'mercurius';
import { Pool } from 'undici';
import { listOrdersPath, listUsersPath, orderPath, readSettings, reportReady, userPath } from './rest.js';
import { renaming, typeDefs } from './schema.js';

/**
 * Mercurius as its documentation would have it in production: `jit: 1` compiles a query from its second run on, loaders
 * take a field of many parents at once (and drop doubles within a request), undici's pool reuses connections to the
 * service. Fastify's logger stays off, as it is by default.
 */
const { serviceUrl, port } = readSettings();
const service = new Pool(serviceUrl, { connections: 64 });

async function call(path, options) {
  const { statusCode, body } = await service.request({ method: 'GET', path, ...options });
  if (statusCode === 404) {
    await body.dump();
    return null;
  }
  if (statusCode >= 400) throw new Error(`The service answered ${statusCode}.`);
  return await body.json();
}

const app = Fastify();

app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  resolvers: {
    ...renaming,
    UpdateOrderResult: { resolveType: renaming.UpdateOrderResult.__resolveType },
    Query: {
      users: async (_root, { first }) => ({ nodes: (await call(listUsersPath(first))).users }),
      order: (_root, { id }) => call(orderPath(id)),
      user: (_root, { id }) => call(userPath(id)),
    },
    Mutation: {
      updateOrder: async (_root, { input }) => {
        const answer = await call(orderPath(input.id), {
          method: 'PATCH',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ activate_by: input.activateBy ?? null }),
        });
        return answer === null ? { message: 'There is no such order.' } : { order: answer.order };
      },
    },
  },
  loaders: {
    User: {
      // The service lists the orders of one user a call.
      orders: (queries) =>
        Promise.all(
          queries.map(async ({ obj, params }) => ({
            nodes: (await call(listOrdersPath(obj.user_id, params.first))).orders,
          })),
        ),
    },
  },
});

await app.listen({ port, host: '127.0.0.1' });
reportReady();
