import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { makeSecrets, prepareGateways } from '../support/fleet.ts';
import { makeFolder } from '../support/folder.ts';
import { startService } from '../support/order-service.ts';
import { createWorld, planWorld } from '../support/order-world.ts';
import { createWebhookPost } from '../support/post-webhook.ts';
import { startRedisCluster } from '../support/sentinel.ts';
import { runFailovers } from './failover.ts';

// Debian 12 has no Valkey. REDIS_SERVER=valkey-server runs the same over it.
test('over sentinels nothing acknowledged is lost with a killed primary, or its readers are told', async () => {
  const report = await runFailovers(4, () => {});
  expect(report).toMatchObject({ kills: 4, stops: 1, cutsUntold: 0, missedUntold: 0 });
  expect(report.acknowledged).toBe(report.sent);
}, 120_000);

test('without a primary a gateway is degraded and refuses webhooks, and follows the next one with one line each', async () => {
  using folder = makeFolder();
  await using cluster = await startRedisCluster(folder.path);
  const world = createWorld(planWorld({ users: 1, ordersPerUser: 1 }));
  const service = await startService(world);
  const secrets = makeSecrets();
  const [gateway] = await prepareGateways({
    ...{ folder: folder.path, teamId: world.teamId, secrets, service: service.url, redis: cluster.url },
    env: { LOG_LEVEL: 'info' },
  });
  if (gateway === undefined) throw new Error('There is no gateway.');
  await gateway.start();
  const post = createWebhookPost({ address: () => gateway.url, agent: new Agent(), timeoutMs: 10_000 });
  const [order] = world.orders;
  if (order === undefined) throw new Error('There is no order.');
  const deliver = () => post(world.report(order, world.advance(order)), secrets.webhookSecret);
  const ready = async () => (await (await fetch(`${gateway.url}/ready`)).json()).status;
  expect([await deliver(), await ready()]).toEqual([202, 'ready']);

  await (await cluster.primary()).end('SIGKILL');
  expect(await deliver()).toBe(503);
  // It is asked once a second at most.
  await expect.poll(ready).toBe('degraded');
  await expect.poll(deliver, { timeout: 30_000 }).toBe(202);
  await expect.poll(ready, { timeout: 30_000 }).toBe('ready');

  const linesOf = (event: string) => gateway.output.filter((line) => line.includes(`"${event}"`)).length;
  expect([linesOf('events.store_gone'), linesOf('events.store_back')]).toEqual([1, 1]);
  await gateway.end('SIGTERM');
  service.close();
}, 120_000);
