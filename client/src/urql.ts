import type { FollowOptions, LabgraphClient } from './client.ts';
import { type Observer, observe } from './observe.ts';

/** A subscription as urql sends it. */
interface SubscriptionRequest {
  readonly query?: string | undefined;
  readonly variables?: object | undefined;
}

interface Observable {
  readonly subscribe: (observer: Observer) => { readonly unsubscribe: () => void };
}

/**
 * Subscriptions that resume, for urql's `subscriptionExchange`.
 * @example `subscriptionExchange({ forwardSubscription: forwardSubscription(client) })`
 */
export function forwardSubscription(
  client: LabgraphClient,
  options: Omit<FollowOptions, 'signal'> = {},
): (request: SubscriptionRequest) => Observable {
  return ({ query = '', variables = {} }) => ({
    subscribe: (observer) => {
      const updates = client.follow<Record<string, unknown>>(query, { ...variables }, options);
      void observe(updates, observer);
      return { unsubscribe: () => void updates.return() };
    },
  });
}
