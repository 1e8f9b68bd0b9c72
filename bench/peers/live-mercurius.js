import Fastify from 'fastify';
import mercurius from 'mercurius';
import { changeOf, startWith, typeDefs } from './live.js';
import { reportReady } from './rest.js';

/** Mercurius with the publish and subscribe of its documentation, in memory. */
const app = Fastify();

app.register(mercurius, {
  schema: typeDefs,
  jit: 1,
  subscription: true,
  resolvers: {
    Subscription: {
      orderUpdates: {
        subscribe: async (_root, { orderId }, { pubsub }) =>
          startWith(orderId, await pubsub.subscribe(orderId)),
      },
    },
  },
});

app.post('/webhooks', async ({ body }, reply) => {
  const payload = changeOf(body);
  app.graphql.pubsub.publish({ topic: payload.orderUpdates.order.id, payload });
  return reply.code(202).send();
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
reportReady();
