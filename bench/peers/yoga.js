import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { readSettings, reportReady } from './rest.js';
import { renaming, typeDefs } from './schema.js';
import { createService } from './service.js';

/** Yoga as its documentation has it: `createSchema`, Node's own server, and no plugin. Documents are cached by default. */
const { serviceUrl, port } = readSettings();
const service = createService(serviceUrl);

const schema = createSchema({
  typeDefs,
  resolvers: {
    ...renaming,
    Query: {
      users: async (_root, { first }) => ({ nodes: await service.listUsers(first) }),
      order: (_root, { id }) => service.getOrder(id),
      user: (_root, { id }) => service.getUser(id),
    },
    User: {
      ...renaming.User,
      orders: async (user, { first }) => ({ nodes: await service.listOrders(user.user_id, first) }),
    },
    Mutation: {
      updateOrder: async (_root, { input }) =>
        (await service.updateOrder(input.id, input.activateBy)) ?? { message: 'There is no such order.' },
    },
  },
});

createServer(createYoga({ schema })).listen(port, '127.0.0.1', reportReady);
