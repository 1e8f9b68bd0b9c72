import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import type { GraphContext } from './context.ts';

/**
 * Makes every subscription that takes `after` go on from the request's `Last-Event-ID`, where there is one: an
 * EventSource reconnects to the address it was given, whose `after` is as old as the first connection.
 */
export function resumeFromLastEventId(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    const isResumable = field.args.some(({ name }) => name === 'after');
    if (isResumable && field.subscribe) field.subscribe = resuming(field.subscribe);
  }
  return schema;
}

type Subscribe = GraphQLFieldResolver<unknown, GraphContext>;

function resuming(subscribe: Subscribe): Subscribe {
  return (root, args, context, info) => {
    const { lastEventId } = context;
    return subscribe(root, lastEventId === null ? args : { ...args, after: lastEventId }, context, info);
  };
}
