import { Client, fetchExchange, gql, subscriptionExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { persistedExchange } from '@urql/exchange-persisted';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { gatewayKey } from '../support/lab.ts';
import { type Bench, bearer, startBench } from './support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

function createUrql(keys = {}, warnings: string[] = []) {
  const socket = createClient({
    url: bench.socketUrl,
    webSocketImpl: WebSocket,
    connectionParams: bearer(gatewayKey),
  });
  const client = new Client({
    url: bench.url,
    preferGetMethod: false,
    fetchOptions: { headers: bearer(gatewayKey) },
    exchanges: [
      cacheExchange({ keys, logger: (level, message) => level !== 'debug' && warnings.push(message) }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, variables: { ...variables } }, sink),
          }),
        }),
      }),
    ],
  });
  return { client, socket };
}

test('a query, twice: the second one comes out of graphcache', async () => {
  const { client } = createUrql();
  const query = gql`query ($id: ID!) { order(id: $id) { id createdAt } }`;
  const { orderId } = bench.freshOrder();

  const first = await client.query(query, { id: orderId });
  const second = await client.query(query, { id: orderId });

  expect(first.data.order).toMatchObject({ id: orderId });
  expect(second.data).toEqual(first.data);
  expect(second.operation.context.meta?.cacheOutcome).toBe('hit');
});

test('the refusal of a mutation is data, and an error has its code', async () => {
  const { client } = createUrql();
  const cancel = gql`mutation ($id: ID!) { cancelOrder(id: $id) { __typename ... on UserError { code } } }`;

  const refused = await client.mutation(cancel, { id: '00000000-0000-4000-8000-000000000000' });
  const failed = await client.query(gql`{ order(id: "x") { id } }`, {});

  expect(refused.data.cancelOrder).toMatchObject({ __typename: 'NotFound' });
  expect(failed.error?.graphQLErrors[0]?.extensions.code).toBe('BAD_USER_INPUT');
});

test('a subscription updates the order in graphcache', async () => {
  const { client, socket } = createUrql();
  const { orderId } = bench.freshOrder();
  const query = gql`query ($id: ID!) { order(id: $id) { id status { raw } } }`;
  const follow = gql`subscription ($id: ID!) { orderUpdates(orderId: $id) { kind order { id status { raw } } } }`;
  const states: unknown[] = [];
  const kinds: unknown[] = [];
  const watching = client
    .query(query, { id: orderId })
    .subscribe(({ data }) => states.push(data?.order.status.raw));
  await expect.poll(() => states.length).toBe(1);
  const following = client
    .subscription(follow, { id: orderId })
    .subscribe(({ data }) => kinds.push(data?.orderUpdates.kind));
  await expect.poll(() => kinds).toEqual(['SNAPSHOT']);

  await bench.world.step(orderId);

  await expect.poll(() => kinds).toEqual(['SNAPSHOT', 'CHANGED']);
  await expect.poll(() => new Set(states).size).toBe(2);
  following.unsubscribe();
  watching.unsubscribe();
  await socket.dispose();
});

test('with the keys of @labgraph/client graphcache has nothing to warn of, and ids of several types do not meet', async () => {
  // A name in a variable: the package is built before these tests, and has no types here.
  const packed = new URL('../../client/dist/schema/schema.js', import.meta.url).href;
  const { keys } = await import(/* @vite-ignore */ packed);
  const warnings: string[] = [];
  const { client } = createUrql(keys, warnings);
  const query = gql`{
    labTests(first: 3) { nodes { id name markers(first: 3) { nodes { id name } } } }
    labs { id name }
    users(first: 2) { nodes { id fallbackTimeZone { name } orders(first: 1) { nodes { id status { raw } } } } }
  }`;

  const { data, error } = await client.query(query, {});

  expect(error).toBeUndefined();
  expect(client.readQuery(query, {})?.data).toEqual(data);
  expect(warnings).toEqual([]);
});

test('persistedExchange asks by a hash once, and then always sends the text', async () => {
  const client = new Client({
    url: bench.url,
    preferGetMethod: false,
    fetch: bench.fetch,
    fetchOptions: { headers: bearer(gatewayKey) },
    exchanges: [persistedExchange(), fetchExchange],
  });
  const before = bench.answers.length;

  const first = await client.query(gql`{ viewer { kind } }`, {});
  const second = await client.query(gql`{ viewer { scopes } }`, {});

  expect(first.data).toMatchObject({ viewer: { kind: 'TEAM' } });
  expect(second.error).toBeUndefined();
  expect(bench.answers.slice(before).map(({ status }) => status)).toEqual([404, 200, 200]);
});
