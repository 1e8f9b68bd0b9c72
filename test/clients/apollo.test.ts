import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { BatchHttpLink } from '@apollo/client/link/batch-http';
import { ErrorLink } from '@apollo/client/link/error';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { RetryLink } from '@apollo/client/link/retry';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { gatewayKey } from '../support/lab.ts';
import { type Bench, bearer, startBench } from './support.ts';

const follow = gql`subscription ($orderId: ID!) { orderUpdates(orderId: $orderId) { kind cursor order { id } } }`;

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

const httpLink = (token = gatewayKey) =>
  new HttpLink({ uri: bench.url, fetch: bench.fetch, headers: bearer(token) });
const createApollo = (link: ApolloLink, cache = new InMemoryCache()) => new ApolloClient({ link, cache });

async function collectKinds(client: ApolloClient): Promise<readonly unknown[]> {
  const { orderId } = bench.freshOrder();
  const seen: unknown[] = [];
  const following = client.subscribe({ query: follow, variables: { orderId } }).subscribe({
    next: ({ data, error }) => seen.push(data?.orderUpdates.kind ?? error),
    error: (error) => seen.push(error),
  });
  await expect.poll(() => seen.length).toBe(1);
  await bench.world.step(orderId);
  await expect.poll(() => seen.length).toBe(2);
  following.unsubscribe();
  return seen;
}

describe('a subscription', () => {
  test('over HttpLink (multipart) gets the order as it is, then its changes', async () => {
    expect(await collectKinds(createApollo(httpLink()))).toEqual(['SNAPSHOT', 'CHANGED']);
    expect(bench.answers.at(-1)).toEqual({ status: 200, type: 'multipart/mixed' });
  });

  test('over GraphQLWsLink too', async () => {
    const socket = createClient({
      url: bench.socketUrl,
      webSocketImpl: WebSocket,
      connectionParams: bearer(gatewayKey),
    });
    expect(await collectKinds(createApollo(new GraphQLWsLink(socket)))).toEqual(['SNAPSHOT', 'CHANGED']);
    await socket.dispose();
  });
});

test('ErrorLink sees UNAUTHENTICATED, after one request, with RetryLink before it', async () => {
  const codes: unknown[] = [];
  const errorLink = new ErrorLink(({ error }) => {
    if (CombinedGraphQLErrors.is(error)) codes.push(error.errors[0]?.extensions?.code);
  });
  const client = createApollo(ApolloLink.from([new RetryLink(), errorLink, httpLink('nobody')]));
  const before = bench.answers.length;

  await expect(client.query({ query: gql`{ viewer { kind } }` })).rejects.toThrow();

  expect(codes).toEqual(['UNAUTHENTICATED']);
  expect(bench.answers.slice(before)).toEqual([{ status: 401, type: 'application/graphql-response+json' }]);
});

test('PersistedQueryLink gets an answer: it sends the text when the gateway does not know the hash', async () => {
  const sha256 = async (text: string) =>
    Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex');
  const client = createApollo(ApolloLink.from([new PersistedQueryLink({ sha256 }), httpLink()]));

  const { data } = await client.query({ query: gql`{ viewer { kind } }` });

  expect(data).toMatchObject({ viewer: { kind: 'TEAM' } });
});

test('BatchHttpLink is refused with 400; for several operations it reports only that one result came', async () => {
  const client = createApollo(
    new BatchHttpLink({ uri: bench.url, fetch: bench.fetch, headers: bearer(gatewayKey) }),
  );
  const kind = gql`{ viewer { kind } }`;
  const before = bench.answers.length;

  await expect(client.query({ query: kind })).rejects.toThrow('Batching is not supported.');
  const both = [kind, gql`{ viewer { scopes } }`].map((query) => client.query({ query }));
  for (const one of await Promise.allSettled(both))
    expect(one).toMatchObject({ reason: { message: expect.stringContaining('results with length 1') } });

  expect(bench.answers.slice(before).map(({ status }) => status)).toEqual([400, 400]);
});

describe('the cache', () => {
  test('does not mix up the fallback time zones of two users', async () => {
    const cache = new InMemoryCache();
    const client = createApollo(httpLink(), cache);
    const query = gql`{ users(first: 20) { nodes { id fallbackTimeZone { __typename name sourceSlug updatedAt } } } }`;

    const { data } = await client.query<{ readonly users: unknown }>({ query, fetchPolicy: 'network-only' });
    const cached = client.readQuery({ query });
    const { data: plain } = await (
      await fetch(bench.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(gatewayKey) },
        body: JSON.stringify({ query: query.loc?.source.body }),
      })
    ).json();

    expect(cached).toEqual(data);
    expect(strip(cached)).toEqual(strip(plain));
    expect(JSON.stringify(plain)).toContain('"name":"');
  });

  test('reads page after page of a user’s orders by relayStylePagination', async () => {
    const cache = new InMemoryCache({
      typePolicies: { User: { fields: { orders: relayStylePagination() } } },
    });
    const client = createApollo(httpLink(), cache);
    const { userId } = bench.world.sandbox.orders()[0] ?? { userId: '' };
    const query = gql`query ($id: ID!, $after: String) {
      user(id: $id) { id orders(first: 1, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }
    }`;
    interface Page {
      readonly user: {
        readonly orders: {
          readonly edges: readonly unknown[];
          readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
        };
      };
    }
    const watched = client.watchQuery<Page>({ query, variables: { id: userId } });
    const states: number[] = [];
    const watching = watched.subscribe(({ data }) => states.push(data?.user?.orders?.edges?.length ?? 0));
    await expect.poll(() => states.at(-1)).toBe(1);

    const { dataState, data } = watched.getCurrentResult();
    expect(dataState).toBe('complete');
    await watched.fetchMore({ variables: { after: data?.user?.orders?.pageInfo?.endCursor } });

    await expect.poll(() => states.at(-1)).toBe(2);
    watching.unsubscribe();
  });
});

function strip(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === '__typename' ? undefined : inner)));
}
