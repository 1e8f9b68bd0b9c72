import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

test.each(['::1', '::', '0.0.0.0'])(
  'the webhooks of the embedded sandbox arrive at HOST=%s',
  async (host) => {
    const folder = makeFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    const gateway = await startGatewayProcess(folder.path, {
      ...{ HOST: host, PORT: '0', GATEWAY_API_KEYS: gatewayKey },
    });
    onTestFinished(() => void gateway.end('SIGKILL'));
    const url = gateway.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
    const ask = async (query: string) =>
      (await (await fetch(graphqlRequest(url, { query }, gatewayKey))).json()).data;
    const { users } = await ask('{ users(first: 1) { nodes { orders(first: 1) { nodes { id } } } } }');
    const [order] = users.nodes[0].orders.nodes;
    expect(await ask(`mutation { simulateOrder(id: "${order.id}") { __typename } }`)).toEqual({
      simulateOrder: { __typename: 'OrderSimulated' },
    });
    const metrics = async () => await (await fetch(`${url}/metrics`)).text();
    await expect.poll(metrics).toMatch(/^labgraph_webhooks_total\{outcome="accepted"\}/m);
  },
);

test('the webhooks of a new world arrive although the event log knows those of the world before', async () => {
  using folder = makeFolder();
  const follow = async () => {
    const gateway = await startGatewayProcess(folder.path, { PORT: '0', GATEWAY_API_KEYS: gatewayKey });
    onTestFinished(() => void gateway.end('SIGKILL'));
    const ask = async (query: string) =>
      (await (await fetch(graphqlRequest(gateway.url, { query }, gatewayKey))).json()).data;
    const { orders } = await ask('{ orders(first: 100) { nodes { id status { raw } } } }');
    const { id } = orders.nodes.find((order: { status: { raw: string } }) =>
      order.status.raw.endsWith('walk_in_test.requisition_created'),
    );
    const updates = await subscribeOverSse({
      url: gateway.url,
      token: gatewayKey,
      query: `subscription { orderUpdates(orderId: "${id}") { kind order { status { raw } } } }`,
    });
    await updates.next();
    await ask(`mutation { simulateOrder(id: "${id}") { __typename } }`);
    const update = await updates.next();
    await updates.close();
    await gateway.end('SIGTERM');
    return update?.data?.orderUpdates;
  };

  const first = await follow();
  rmSync(folder.file('data/sandbox.json'));

  expect(await follow()).toEqual(first);
});
