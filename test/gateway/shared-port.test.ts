import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { findFreePort } from '../support/listening.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type Subscribed, subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { startWorld, type World } from '../support/world.ts';

const query = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { status { raw } } }
}`;

let redis: RedisServer;
let world: World;
let gateways: GatewayProcess[];

beforeAll(async () => {
  redis = await startRedis();
  world = await startWorld({ REUSE_PORT: '1', METRICS_PORT: '0', EVENT_LOG: redis.newUrl() });
  const port = String(await findFreePort());
  gateways = [await world.startGateway(port), await world.startGateway(port)];
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

const url = () => gateways[0]?.url ?? '';

/** A metric of one process, which serves its own at a port of its own. */
async function readMetric({ output }: GatewayProcess, metric: string): Promise<number> {
  const line = output.find((text) => text.includes('"metrics.listening"')) ?? '{}';
  const text = await (await fetch(`${JSON.parse(line).address}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

const readEach = (metric: string) => Promise.all(gateways.map((gateway) => readMetric(gateway, metric)));

async function ask(): Promise<unknown> {
  const request = graphqlRequest(url(), { query: '{ __typename }' }, gatewayKey);
  // One connection each: a connection stays with its process.
  request.headers.set('connection', 'close');
  return (await (await fetch(request)).json()).data;
}

async function subscribeMany(orderId: string, after?: string): Promise<readonly Subscribed[]> {
  const asking = { url: url(), token: gatewayKey, query, variables: { orderId, after } };
  const subscribe = [subscribeOverSse, subscribeOverWebSocket];
  return await Promise.all(
    Array.from({ length: 12 }, (_, index) => (subscribe[index % 2] ?? subscribeOverSse)(asking)),
  );
}

async function nextStep(stream: Subscribed): Promise<{ readonly step: string; readonly cursor: string }> {
  const { event, cursor } = (await stream.next())?.data.orderUpdates ?? {};
  return { step: event?.status.raw.split('.').at(-1) ?? 'snapshot', cursor };
}

test('connections to one port are spread over the processes that share it', async () => {
  const before = await readEach('labgraph_operations_total');
  for (let turn = 0; turn < 60; turn += 1) expect(await ask()).toEqual({ __typename: 'Query' });

  let counts: readonly number[] = [];
  const countAll = async () => {
    const after = await readEach('labgraph_operations_total');
    counts = after.map((count, index) => count - (before[index] ?? 0));
    return counts.reduce((sum, count) => sum + count);
  };
  await expect.poll(countAll).toBe(60);
  // By chance a process gets fewer than ten of sixty once in hundreds of millions of runs.
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(10);
});

test('a webhook to the port reaches the subscribers of all processes; when one is killed, no subscriber misses a change', async () => {
  const { orderId } = world.freshOrder();
  const streams = await subscribeMany(orderId);
  expect(new Set((await Promise.all(streams.map(nextStep))).map(({ step }) => step))).toEqual(
    new Set(['snapshot']),
  );
  await world.step(orderId);
  const first = await Promise.all(streams.map(nextStep));
  expect(new Set(first.map(({ step }) => step))).toEqual(new Set(['requisition_created']));

  await gateways[1]?.end('SIGKILL');
  const next = streams.map((stream) => nextStep(stream).catch(() => null));
  await world.step(orderId);
  const resumed = await subscribeMany(orderId, first[0]?.cursor);

  const received = [...(await Promise.all(resumed.map(nextStep))), ...(await Promise.all(next))];
  const steps = received
    .filter((each) => each !== null && each.step !== 'snapshot')
    .map((each) => each?.step);
  expect(steps.length).toBeGreaterThanOrEqual(resumed.length);
  expect(new Set(steps)).toEqual(new Set(['appointment_pending']));
  await Promise.all([...streams, ...resumed].map((stream) => stream.close()));
});

test('a process that ends leaves the port to the others', async () => {
  const again = await world.startGateway();
  expect(await gateways[0]?.end('SIGTERM')).toBe(0);
  for (let turn = 0; turn < 10; turn += 1) expect(await ask()).toEqual({ __typename: 'Query' });
  expect(await again.end('SIGTERM')).toBe(0);
});

test('a gateway without REUSE_PORT cannot listen on a shared port', async () => {
  const sharing = await world.startGateway();
  const { port } = new URL(sharing.url);
  await using alone = await startWorld();
  await expect(alone.startGateway(port)).rejects.toThrow(`- PORT ${port} is taken on 127.0.0.1.`);
});
