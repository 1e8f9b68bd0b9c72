import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';

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
