import { createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { gatewayKey, graphqlRequest, type Lab, startLab } from '../support/lab.ts';

const query =
  '{ a: users(first: 2) { nodes { orders(first: 1) { nodes { id } } } } b: users(first: 2) { nodes { id } } }';

async function ask(lab: Lab, token: string, header?: string) {
  const request = graphqlRequest(lab.url, { query }, token);
  if (header !== undefined) request.headers.set('x-labgraph-trace', header);
  return await (await lab.gateway.fetch(request)).json();
}

test('a server of the team that asks gets the cost of an answer', async () => {
  await using lab = await startLab();
  const { extensions, errors } = await ask(lab, gatewayKey, 'upstream');
  expect(errors).toBeUndefined();
  // One for both fields, and one for each user's orders.
  expect(extensions.upstream).toEqual({ calls: 3, shared: 1, cached: 0, ms: expect.any(Number) });
  expect(extensions.upstream.ms).toBeGreaterThanOrEqual(0);
});

test('a caller that does not ask, or asks with a viewer token, gets no trace', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
  expect(await ask(lab, gatewayKey)).not.toHaveProperty('extensions');
  expect(await ask(lab, gatewayKey, 'everything')).not.toHaveProperty('extensions');
  expect(await ask(lab, token, 'upstream')).not.toHaveProperty('extensions');
});

test('the header changes nothing where there is no trace: the answer comes from the cache', async () => {
  await using lab = await startLab();
  const [order] = lab.sandbox.orders();
  const token = await lab.tokenFor(order?.userId ?? '');
  const text = JSON.stringify({ query: `{ order(id: "${order?.orderId}") { id } }` });
  const countHits = async () => {
    const metrics = await (await fetch(`${lab.url}/metrics`)).text();
    return Number(/^labgraph_whole_answers_total\{outcome="hit"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
  };
  const post = async (bearer: string, trace: string) => {
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${bearer}`,
      'x-labgraph-trace': trace,
    };
    return await (await fetch(`${lab.url}/graphql`, { method: 'POST', headers, body: text })).json();
  };
  const hits: number[] = [];
  for (const [bearer, trace] of [
    [token, 'upstream'],
    [gatewayKey, 'off'],
    [gatewayKey, 'upstream'],
  ] as const) {
    await post(bearer, trace);
    const before = await countHits();
    await post(bearer, trace);
    hits.push((await countHits()) - before);
  }
  expect(hits).toEqual([1, 1, 0]);
});

test('over a socket the connection asks', async () => {
  await using lab = await startLab();
  const client = createClient({
    url: `${lab.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${gatewayKey}`, 'x-labgraph-trace': 'upstream' },
  });
  const orderId = lab.sandbox.orders()[0]?.orderId;
  const first = async (text: string) => (await client.iterate({ query: text }).next()).value;
  expect(await first(query)).toMatchObject({ extensions: { upstream: { calls: 3, shared: 1, cached: 0 } } });
  expect(await first(`subscription { orderUpdates(orderId: "${orderId}") { kind } }`)).toMatchObject({
    extensions: { upstream: { calls: 1 } },
  });
  await client.dispose();
});

test('a query that would cost more than 5,000 calls is refused before the first', async () => {
  await using lab = await startLab();
  lab.sandbox.clearCalls();
  const each = (field: string) =>
    `{ users(first: 100) { nodes { orders(first: 100) { nodes { ${field} } } } } }`;
  const { errors } = await lab.query(each('resultMetadata { laboratory }'));
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COSTLY']);
  expect(lab.sandbox.calls).toEqual([]);
  expect((await lab.query(each('id'))).errors).toBeUndefined();
});
