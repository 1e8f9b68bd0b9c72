import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { useServer } from 'graphql-ws/use/ws';
import { createPubSub, createSchema, createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { changeOf, startWith, typeDefs } from './live.js';
import { reportReady } from './rest.js';

/** Yoga with its own publish and subscribe, in memory, and graphql-ws, as its documentation has them. */
const pubSub = createPubSub();
const yoga = createYoga({
  schema: createSchema({
    typeDefs,
    resolvers: {
      Subscription: {
        orderUpdates: {
          subscribe: (_root, { orderId }) => startWith(orderId, pubSub.subscribe(orderId)),
        },
      },
    },
  }),
});

const server = createServer(async (request, response) => {
  if (request.url !== '/webhooks') return await yoga(request, response);
  const change = changeOf(await json(request));
  pubSub.publish(change.orderUpdates.order.id, change);
  response.writeHead(202).end();
});

useServer(
  {
    execute: (args) => args.rootValue.execute(args),
    subscribe: (args) => args.rootValue.subscribe(args),
    onSubscribe: async ({ extra }, _id, params) => {
      const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
        ...{ req: extra.request, socket: extra.socket, params },
      });
      const args = {
        ...{ schema, operationName: params.operationName, variableValues: params.variables },
        ...{ document: parse(params.query), contextValue: await contextFactory() },
        rootValue: { execute, subscribe },
      };
      const errors = validate(args.schema, args.document);
      return errors.length > 0 ? errors : args;
    },
  },
  new WebSocketServer({ server, path: yoga.graphqlEndpoint }),
);

server.listen(Number(process.env.PORT), '127.0.0.1', reportReady);
