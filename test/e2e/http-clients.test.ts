import { setTimeout as wait } from 'node:timers/promises';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { RetryLink } from '@apollo/client/link/retry';
import { createClient } from 'graphql-sse';
import { expect, test } from 'vitest';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { startWorld } from '../support/world.ts';

const query = `subscription ($orderId: ID!) {
  orderUpdates(orderId: $orderId) { kind cursor event { id } }
}`;

interface Update {
  readonly kind: string;
  readonly cursor: string;
  readonly event: { readonly id: string } | null;
}

interface Following {
  readonly url: string;
  readonly variables: Readonly<Record<string, string>>;
  /** The headers of each connection: a new token, and the newest cursor. */
  readonly headers: () => Promise<Record<string, string>>;
  readonly next: (update: Update) => void;
  /** Called when the client gives up, or takes the subscription for over. */
  readonly end: (error?: unknown) => void;
}

/** Follows an order as an application would, with a client as it comes. Returns the function that leaves. */
type Follow = (following: Following) => () => void;

const withGraphqlSse: Follow = ({ url, variables, headers, next, end }) => {
  const client = createClient({ url, headers, retryAttempts: 1000, retry: () => wait(50) });
  return client.subscribe<{ orderUpdates: Update }>(
    { query, variables },
    { next: ({ data }) => data && next(data.orderUpdates), error: end, complete: end },
  );
};

const withApollo: Follow = ({ url, variables, headers, next, end }) => {
  const client = new ApolloClient({
    link: ApolloLink.from([
      new RetryLink({ delay: { initial: 50, max: 50 }, attempts: { max: 1000 } }),
      new SetContextLink(async () => ({ headers: await headers() })),
      new HttpLink({ uri: url }),
    ]),
    cache: new InMemoryCache(),
  });
  const following = client.subscribe<{ orderUpdates: Update }>({ query: gql(query), variables }).subscribe({
    next: ({ data, error }) => (data ? next(data.orderUpdates) : end(error)),
    error: end,
    complete: end,
  });
  return () => following.unsubscribe();
};

test.each([
  ['graphql-sse', withGraphqlSse],
  ['Apollo Client', withApollo],
])(
  '%s comes back by itself after the end of its token and a restart, and has missed and repeated nothing',
  async (_name, follow) => {
    await using world = await startWorld();
    const gateway = await world.openGateway();
    const ask = async (query: string, variables: object) => {
      const request = graphqlRequest(gateway.url, { query, variables }, gatewayKey);
      return (await (await fetch(request)).json()).data;
    };
    const { orderId, userId } = world.freshOrder();
    const mint = 'mutation ($id: ID!) { made: createViewerToken(input: { userId: $id }) { token jti } }';
    const [first, second] = [await ask(mint, { id: userId }), await ask(mint, { id: userId })];
    const [seen, ends, cursors]: [Update[], unknown[], (string | undefined)[]] = [[], [], []];
    const leave = follow({
      url: `${gateway.url}/graphql`,
      variables: { orderId },
      headers: async () => {
        const cursor = seen.at(-1)?.cursor;
        const { made } = cursors.push(cursor) === 1 ? first : second;
        return {
          authorization: `Bearer ${made.token}`,
          ...(cursor === undefined ? {} : { 'last-event-id': cursor }),
        };
      },
      next: (update) => void seen.push(update),
      end: (error) => void ends.push(error),
    });
    await expect.poll(() => seen.length).toBe(1);
    await world.step(orderId);
    await expect.poll(() => seen.length).toBe(2);

    const revoke = 'mutation ($jti: ID!) { revokeViewerTokens(input: { jti: $jti }) { revokedAt } }';
    await ask(revoke, { jti: first.made.jti });
    await world.step(orderId);
    await expect.poll(() => seen.length).toBe(3);
    expect(cursors).toHaveLength(2);

    await gateway.close();
    await world.openGateway(new URL(gateway.url).port);
    await world.step(orderId);
    await expect.poll(() => seen.length).toBe(4);
    const kinds = seen.map(({ kind }) => kind);
    const ids = seen.slice(1).map(({ event }) => Number(event?.id));
    expect(kinds).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED', 'CHANGED']);
    expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
    expect(ends).toEqual([]);
    leave();
  },
);
