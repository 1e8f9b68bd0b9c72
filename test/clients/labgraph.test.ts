import {
  ApolloClient,
  ApolloLink,
  CombinedGraphQLErrors,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { ErrorLink } from '@apollo/client/link/error';
import { Client, fetchExchange } from '@urql/core';
import { authExchange } from '@urql/exchange-auth';
import { createClient } from 'graphql-ws';
import { from, switchMap } from 'rxjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Bench, bearer, startBench } from './support.ts';

type Labgraph = typeof import('../../client/src/index.ts');

/** A name in a variable: the package is installed by this project's setup, and has no types here. */
const packed = '@labgraph/client';
const { createLabgraphClient }: Labgraph = await import(/* @vite-ignore */ packed);

const document = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { kind cursor event { id } }
}`;

interface Updates {
  readonly orderUpdates: { readonly kind: string; readonly event: { readonly id: string } | null };
}

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A user's tokens, as the app's server gives them: a new one when the last one was rejected. */
function createTokens(userId: string) {
  const given: { readonly token: string; readonly jti: string }[] = [];
  return {
    given,
    getToken: async (reason = 'initial') => {
      if (reason === 'rejected' || given.length === 0) given.push(await bench.tokenFor(userId));
      return given.at(-1)?.token ?? '';
    },
    end: async () => await bench.revoke(given.at(-1)?.jti ?? ''),
  };
}

const viewer = '{ viewer { userId } }';

describe('after the end of its token a query is sent once more, with one new token,', () => {
  test('by Apollo Client with the ErrorLink of docs/clients.md', async () => {
    const { userId } = bench.freshOrder();
    const { given, getToken, end } = createTokens(userId);
    const renewToken = new ErrorLink(({ error, operation, forward }) => {
      const code = CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.code;
      if (code !== 'UNAUTHENTICATED') return;
      return from(getToken('rejected')).pipe(switchMap(() => forward(operation)));
    });
    const authorize = new SetContextLink(async () => ({ headers: bearer(await getToken()) }));
    const http = new HttpLink({ uri: bench.url, fetch: bench.fetch });
    const client = new ApolloClient({
      link: ApolloLink.from([renewToken, authorize, http]),
      cache: new InMemoryCache(),
      defaultOptions: { query: { fetchPolicy: 'no-cache' } },
    });
    await client.query({ query: gql(viewer) });
    await end();
    const before = bench.answers.length;

    const { data } = await client.query({ query: gql(viewer) });

    expect(data).toMatchObject({ viewer: { userId } });
    expect(bench.answers.slice(before).map(({ status }) => status)).toEqual([401, 200]);
    expect(given).toHaveLength(2);
  });

  test('by urql with the authExchange of docs/clients.md', async () => {
    const { userId } = bench.freshOrder();
    const { given, getToken, end } = createTokens(userId);
    const authorize = authExchange(async ({ appendHeaders }) => {
      let token = await getToken();
      return {
        addAuthToOperation: (operation) => appendHeaders(operation, bearer(token)),
        didAuthError: ({ graphQLErrors }) => graphQLErrors[0]?.extensions.code === 'UNAUTHENTICATED',
        refreshAuth: async () => {
          token = await getToken('rejected');
        },
      };
    });
    const client = new Client({
      url: bench.url,
      fetch: bench.fetch,
      preferGetMethod: false,
      exchanges: [authorize, fetchExchange],
    });
    await client.query(viewer, {});
    await end();
    const before = bench.answers.length;

    const { data } = await client.query(viewer, {});

    expect(data).toMatchObject({ viewer: { userId } });
    expect(bench.answers.slice(before).map(({ status }) => status)).toEqual([401, 200]);
    expect(given).toHaveLength(2);
  });
});

describe('over the end of a token and a restart', () => {
  test('a bare client of graphql-ws comes back, with the order as it is then', async () => {
    const { orderId, userId } = bench.freshOrder();
    const { given, getToken, end } = createTokens(userId);
    const kinds: string[] = [];
    const ends: unknown[] = [];
    let isFirst = true;
    const client = createClient({
      url: bench.socketUrl,
      webSocketImpl: WebSocket,
      connectionParams: async () => {
        const token = await getToken(isFirst ? 'initial' : 'rejected');
        isFirst = false;
        return bearer(token);
      },
      shouldRetry: () => true,
      retryAttempts: 1000,
    });
    client.subscribe<Updates>(
      { query: document, variables: { orderId } },
      {
        next: ({ data }) => data && kinds.push(data.orderUpdates.kind),
        error: (error) => ends.push(error),
        complete: () => ends.push('complete'),
      },
    );
    await expect.poll(() => kinds.length).toBe(1);
    await end();
    await expect.poll(() => kinds.length).toBe(2);
    expect(given).toHaveLength(2);
    await bench.restart();
    await expect.poll(() => kinds).toEqual(['SNAPSHOT', 'SNAPSHOT', 'SNAPSHOT']);
    expect(ends).toEqual([]);
    await client.dispose();
  });

  test.each(['websocket', 'sse', 'multipart'] as const)(
    'follow misses and repeats nothing over %s, with one new token',
    async (transport) => {
      const { orderId, userId } = bench.freshOrder();
      const { given, getToken, end } = createTokens(userId);
      const labgraph = createLabgraphClient({ url: bench.url, token: getToken });
      const updates = labgraph.follow<Updates>(document, { orderId }, { transport });
      const seen: Updates['orderUpdates'][] = [];
      const take = async () => {
        const { value } = await updates.next();
        if (value) seen.push(value.orderUpdates);
      };
      await take();
      await end();
      await bench.world.step(orderId);
      await take();
      await bench.restart();
      await bench.world.step(orderId);
      await take();

      expect(seen.map(({ kind }) => kind)).toEqual(['SNAPSHOT', 'CHANGED', 'CHANGED']);
      const ids = seen.slice(1).map(({ event }) => Number(event?.id));
      expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
      expect(given).toHaveLength(2);
      await updates.return();
    },
  );
});

test('60 subscriptions of a viewer are two sockets, because one takes 50', async () => {
  const { orderId, userId } = bench.freshOrder();
  const { getToken } = createTokens(userId);
  let sockets = 0;
  class Counted extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      sockets += 1;
    }
  }
  const labgraph = createLabgraphClient({ url: bench.url, token: getToken, webSocketImpl: Counted });

  const all = Array.from({ length: 60 }, () => labgraph.follow<Updates>(document, { orderId }));
  const items = await Promise.all(all.map((updates) => updates.next()));

  expect(items.map(({ value }) => value?.orderUpdates.kind)).toEqual(items.map(() => 'SNAPSHOT'));
  expect(sockets).toBe(2);
  await Promise.all(all.map((updates) => updates.return()));
});
