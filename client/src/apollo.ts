import { ApolloLink, Observable } from '@apollo/client';
import type { FollowOptions, LabgraphClient } from './client.ts';
import { observe } from './observe.ts';

/**
 * A link for Apollo Client 4 whose subscriptions resume. It passes queries and mutations on to the next link.
 * @example `link: ApolloLink.from([resumeLink(client), httpLink])`
 */
export function resumeLink(client: LabgraphClient, options: Omit<FollowOptions, 'signal'> = {}): ApolloLink {
  return new ApolloLink((operation, forward) => {
    if (operation.operationType !== 'subscription') return forward(operation);
    return new Observable((observer) => {
      const updates = client.follow<Record<string, unknown>>(operation.query, operation.variables, options);
      void observe(updates, observer);
      return () => void updates.return();
    });
  });
}
