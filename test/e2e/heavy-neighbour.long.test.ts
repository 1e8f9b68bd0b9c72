import { expect, test } from 'vitest';
import { liveBesideHeavyNeighbour } from '../siege/heavy-neighbour.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

const key = 'a-gateway-key-of-the-neighbours';

test('a viewer is answered while another asks the heaviest legal queries as fast as it may', async () => {
  using folder = makeFolder();
  const gateway = await startGatewayProcess(folder.path, {
    PORT: '0',
    EVENT_LOG: 'memory:',
    GATEWAY_API_KEYS: key,
    LOG_LEVEL: 'error',
  });
  const ask = async (query: string) => {
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query }),
    });
    return (await response.json()).data;
  };
  const { users } = await ask('{ users(first: 50) { nodes { id orders(first: 20) { nodes { id } } } } }');
  const [busiest, next] = users.nodes.toSorted(byOrders);
  const tokenOf = async (userId: string): Promise<string> =>
    (await ask(`mutation { createViewerToken(input: { userId: "${userId}" }) { token } }`)).createViewerToken
      .token;

  const report = await liveBesideHeavyNeighbour(
    {
      url: gateway.url,
      token: await tokenOf(busiest.id),
      victimToken: await tokenOf(next.id),
      connections: 8,
      quietMs: 1000,
      everyMs: 50,
    },
    AbortSignal.timeout(6000),
  );
  await gateway.end('SIGTERM');

  expect(report.failed).toBe(0);
  expect(report.neighbour.ok).toBeGreaterThan(0);
  // Without turns it waits for all that the neighbour has asked: a thousand times as long as alone.
  expect(report.besieged.p50).toBeLessThan(50 * Math.max(report.quiet.p50, 5));
});

interface WithOrders {
  readonly orders: { readonly nodes: readonly unknown[] };
}

function byOrders(one: WithOrders, other: WithOrders): number {
  return other.orders.nodes.length - one.orders.nodes.length;
}
