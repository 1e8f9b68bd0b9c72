import { once } from 'node:events';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import { readUsage } from '../../bench/support/process-usage.ts';
import { makeSecrets, prepareGateways } from '../support/fleet.ts';
import { makeFolder } from '../support/folder.ts';
import { startService } from '../support/order-service.ts';
import { createWorld, planWorld } from '../support/order-world.ts';
import { createWebhookPost } from '../support/post-webhook.ts';
import { startRedisCluster } from '../support/sentinel.ts';
import { runFailovers } from './failover.ts';

// Debian 12 has no Valkey. REDIS_SERVER=valkey-server runs the same over it.
test('over sentinels nothing acknowledged is lost with a killed primary, or its readers are told', async () => {
  const report = await runFailovers({ kills: 4, replicas: 1, onKill: () => {} });
  expect(report).toMatchObject({ kills: 4, stops: 1, cutsUntold: 0, missedUntold: 0 });
  expect(report.acknowledged).toBe(report.sent);
}, 240_000);

test('without a primary a gateway is degraded and refuses webhooks, and follows the next one with one line each', async () => {
  using folder = makeFolder();
  await using cluster = await startRedisCluster(folder.path);
  await using started = await startGateway(folder.path, cluster.url);
  const { gateway, world, secrets } = started;
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
  await expect.poll(deliver).toBe(202);
  await expect.poll(ready).toBe('ready');

  const linesOf = (event: string) => gateway.output.filter((line) => line.includes(`"${event}"`)).length;
  expect([linesOf('events.store_gone'), linesOf('events.store_back')]).toEqual([1, 1]);
});

test('an idle gateway keeps its connections to the primary, and rests while every server and sentinel is gone', async () => {
  using folder = makeFolder();
  await using cluster = await startRedisCluster(folder.path);
  await using started = await startGateway(folder.path, cluster.url);
  const { url } = await cluster.primary();
  // For reads, for writes, and for what other gateways append.
  const areKept = async () => (await agesOfClients(url)).filter((seconds) => seconds > 5).length === 3;
  await expect.poll(areKept, { interval: 500 }).toBe(true);

  await cluster[Symbol.asyncDispose]();
  await expect.poll(() => started.gateway.output.join()).toContain('events.store_gone');
  using attempts = await countAttempts(cluster.url);
  const processorMs = () => (readUsage(started.gateway.pid())?.cpuMicros ?? Number.NaN) / 1000;
  const [before, since] = [processorMs(), performance.now()];
  await wait(8000);
  const elapsedMs = performance.now() - since;
  // Each of its three connections pauses for half a second at least, and then asks three sentinels.
  expect(attempts.count()).toBeGreaterThan(0);
  expect(attempts.count()).toBeLessThan(20 * (elapsedMs / 1000));
  // 0.015 to 0.19 as the machine is; without any pause all of a processor.
  expect((processorMs() - before) / elapsedMs).toBeLessThan(0.5);
});

async function startGateway(folder: string, redis: string) {
  const world = createWorld(planWorld({ users: 1, ordersPerUser: 1 }));
  const service = await startService(world);
  const secrets = makeSecrets();
  const [gateway] = await prepareGateways({
    ...{ folder, teamId: world.teamId, secrets, service: service.url, redis },
    env: { LOG_LEVEL: 'info' },
  });
  if (gateway === undefined) throw new Error('There is no gateway.');
  await gateway.start();
  return {
    gateway,
    world,
    secrets,
    [Symbol.asyncDispose]: async () => {
      await gateway.end('SIGKILL');
      service.close();
    },
  };
}

/** How long the connections to a server are open, in seconds, but those of sentinels, which have a name. */
async function agesOfClients(url: string): Promise<readonly number[]> {
  const client = await createClient({ url }).connect();
  try {
    const list = String(await client.sendCommand(['CLIENT', 'LIST', 'TYPE', 'normal']));
    const lines = list.split('\n').filter((line) => line.includes(' name= '));
    return lines.map((line) => Number(/ age=(\d+)/.exec(line)?.[1]));
  } finally {
    client.destroy();
  }
}

/** Counts the connections to the sentinels of an address, in their place, and hangs up on each. */
async function countAttempts(url: string) {
  let count = 0;
  const servers = [...url.matchAll(/:(\d+)/g)].map(([, port]) =>
    createServer((socket) => {
      count += 1;
      socket.on('error', () => {}).destroy();
    }).listen(Number(port), '127.0.0.1'),
  );
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return {
    count: () => count,
    [Symbol.dispose]: () => {
      for (const server of servers) server.close();
    },
  };
}
