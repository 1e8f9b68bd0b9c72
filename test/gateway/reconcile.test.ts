import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { makeFolder } from '../support/folder.ts';
import { gatewayKey, readTestConfig, startLab } from '../support/lab.ts';
import { transports } from '../support/subscribe.ts';

const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id } order { lastEvent { id } } }
}`;

test('A change whose webhook never came, while the gateway was away, reaches its subscriber as RECONCILED', async () => {
  await using lab = await startLab();
  using folder = makeFolder();
  const lines: string[] = [];
  const start = async () => {
    const gateway = await createGateway({
      config: readTestConfig({
        SERVICE_URL: lab.serviceUrl,
        EVENT_LOG: `sqlite:${join(folder.path, 'events.db')}`,
        RECONCILE_MINUTES: '10',
      }),
      log: createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
      serviceUrl: lab.serviceUrl,
    });
    const { url } = await gateway.listen();
    return { gateway, url };
  };
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  const orderId = order?.orderId ?? '';
  const [, subscribeWith] = transports[0] ?? [];
  if (subscribeWith === undefined) throw new Error('There is no transport.');

  const before = await start();
  const first = await subscribeWith({
    url: before.url,
    token: gatewayKey,
    query: orderUpdates,
    variables: { orderId },
  });
  const { cursor } = (await first.next())?.data.orderUpdates ?? {};
  await first.close();
  await expect.poll(() => lines.some((line) => line.includes('baseline'))).toBe(true);
  await before.gateway.close();

  lab.sandbox.webhooks.knobs.drop = 100;
  const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';
  for (let step = 0; step < 2; step += 1) await lab.query(simulate, { variables: { id: orderId } });
  const truth = await lab.query(`{ order(id: "${orderId}") { lastEvent { id } } }`);

  const after = await start();
  const resumed = await subscribeWith({
    url: after.url,
    token: gatewayKey,
    query: orderUpdates,
    variables: { orderId, after: cursor },
  });
  const update = (await resumed.next())?.data.orderUpdates;
  await resumed.close();
  await after.gateway.close();

  const { lastEvent } = truth.data.order;
  expect(update).toMatchObject({ kind: 'RECONCILED', event: lastEvent, order: { lastEvent } });
});
