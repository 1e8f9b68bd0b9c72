import { once } from 'node:events';
import { createServer } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { gatewayKey, graphqlRequest } from '../support/lab.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type Subscribed, subscribeOverSse, subscribeOverWebSocket } from '../support/subscribe.ts';
import { childrenOf } from '../support/worker-processes.ts';
import { startWorld, type World } from '../support/world.ts';
import { examine, key } from './audit/support.ts';

const query = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { status { raw } } }
}`;

/** A process that starts on a busy machine takes its time. */
const patience = { timeout: 20_000 };

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let redis: RedisServer;
let world: World;
let gateway: GatewayProcess;
let orderId: string;

beforeAll(async () => {
  redis = await startRedis();
  world = await startWorld({
    WORKERS: '2',
    EVENT_LOG: redis.newUrl(),
    AUDIT_TRAIL: 'file:./audit',
    AUDIT_TRAIL_KEY: key.toString('base64'),
  });
  gateway = await world.startGateway();
  ({ orderId } = world.freshOrder());
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly worker: string;
  readonly value: number;
}

async function readMetrics(): Promise<readonly Sample[]> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return [...text.matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    worker: /worker="(\d+)"/.exec(labels)?.[1] ?? 'none',
    value: Number(value),
  }));
}

/** What each worker says of this metric: of all its series, or of those with a label. */
async function readPerWorker(metric: string, label = ''): Promise<Readonly<Record<string, number>>> {
  const found = (await readMetrics()).filter(({ name, labels }) => name === metric && labels.includes(label));
  return Object.fromEntries(
    Map.groupBy(found, ({ worker }) => worker)
      .entries()
      .map(([worker, samples]) => [worker, samples.reduce((sum, { value }) => sum + value, 0)]),
  );
}

const logged = () => gateway.output.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));

/** Each over a connection of its own: which worker gets it is for the gateway to say. */
async function subscribeFour(after?: string): Promise<readonly Subscribed[]> {
  const ask = { url: gateway.url, token: gatewayKey, query, variables: { orderId, after } };
  const streams: Subscribed[] = [];
  for (const subscribe of [
    subscribeOverSse,
    subscribeOverWebSocket,
    subscribeOverSse,
    subscribeOverWebSocket,
  ]) {
    const stream = await subscribe(ask);
    streams.push(stream);
    if (after === undefined) expect((await stream.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
  }
  return streams;
}

interface Told {
  readonly step: string | undefined;
  readonly cursor: string;
}

async function hear(stream: Subscribed): Promise<Told> {
  const { event, cursor } = (await stream.next())?.data.orderUpdates ?? {};
  return { step: event.status.raw.split('.').at(-1), cursor };
}

const close = (streams: readonly Subscribed[]) => Promise.all(streams.map((stream) => stream.close()));

async function ask(): Promise<unknown> {
  const request = graphqlRequest(gateway.url, { query: '{ __typename }' }, gatewayKey);
  // One connection each: a kept one stays with its worker.
  request.headers.set('connection', 'close');
  return (await (await fetch(request)).json()).data;
}

test('one address is answered by every worker, and its metrics tell of each', async () => {
  const before = await readPerWorker('labgraph_operations_total');
  for (let turn = 0; turn < 10; turn += 1) expect(await ask()).toEqual({ __typename: 'Query' });

  // The text of metrics is made once a second.
  let asked: readonly number[] = [];
  const countAsked = async () => {
    const after = await readPerWorker('labgraph_operations_total');
    asked = ['1', '2'].map((worker) => (after[worker] ?? 0) - (before[worker] ?? 0));
    return asked.reduce((sum, each) => sum + each);
  };
  await expect.poll(countAsked, patience).toBe(10);
  expect(Math.min(...asked)).toBeGreaterThan(0);
  expect(await readPerWorker('labgraph_event_log_writable')).toEqual({ 1: 1, 2: 1 });
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(text.match(/^# TYPE process_start_time_seconds gauge$/gm)).toHaveLength(1);
  expect((await readMetrics()).filter(({ worker }) => worker === 'none')).toEqual([]);
});

test('a webhook reaches the subscribers at all workers', async () => {
  const streams = await subscribeFour();
  await expect.poll(() => readPerWorker('labgraph_subscriptions'), patience).toEqual({ 1: 2, 2: 2 });

  await world.step(orderId);

  for (const stream of streams) expect(await hear(stream)).toMatchObject({ step: 'requisition_created' });
  await close(streams);
});

test('a worker that is killed is replaced, and its subscribers have missed and repeated nothing', async () => {
  const streams = await subscribeFour();
  await world.step(orderId);
  const first = await Promise.all(streams.map(hear));
  expect(first.map(({ step }) => step)).toEqual(Array(4).fill('appointment_pending'));
  const [victim = 0] = childrenOf(gateway.pid);

  process.kill(victim, 'SIGKILL');
  const broken: number[] = [];
  const next = streams.map((stream, index) => hear(stream).catch(() => void broken.push(index)));
  await expect.poll(() => broken.length, patience).toBe(2);
  await world.step(orderId);
  const survivors = (await Promise.all(next)).filter((told) => typeof told === 'object');
  expect(survivors.map(({ step }) => step)).toEqual(Array(2).fill('appointment_scheduled'));

  for (const index of broken) {
    const resumed = await subscribeFour(first[index]?.cursor);
    const told = await Promise.all(resumed.map(hear));
    expect(told.map(({ step }) => step)).toEqual(Array(4).fill('appointment_scheduled'));
    await close(resumed);
  }
  await expect.poll(() => readPerWorker('labgraph_event_log_writable'), patience).toEqual({ 1: 1, 2: 1 });
  expect(childrenOf(gateway.pid)).toHaveLength(2);
  expect(childrenOf(gateway.pid)).not.toContain(victim);
  const gone = logged().filter(({ event }) => event === 'worker.gone');
  expect(gone).toMatchObject([{ worker: 1, reason: 'SIGKILL', retryMs: 100 }]);
  await close(streams);
});

test('a log line names its worker, and the first alone compares the log with the service', async () => {
  // It was killed before it could: the other, which is older now, would have been the one.
  await expect.poll(() => logged().some(({ event }) => event === 'events.reconciled'), patience).toBe(true);
  const listening = logged().filter(({ event }) => event === 'gateway.listening');
  expect(listening.slice(0, 3).map(({ worker }) => worker)).toEqual([1, 2, undefined]);
  const reconciled = logged().filter(({ event }) => event === 'events.reconciled');
  expect(reconciled.map(({ worker }) => worker)).toEqual([1]);
  const comparing = () => readPerWorker('labgraph_upstream_calls_total', 'operation="order.list"');
  await expect.poll(async () => Object.keys(await comparing()), patience).toEqual(['1']);
});

test('a worker that cannot come back is tried again and again, seldomer each time', async () => {
  await redis.kill();
  const [victim = 0] = childrenOf(gateway.pid);
  process.kill(victim, 'SIGKILL');
  const failures = () => logged().filter(({ reason }) => reason === 'EVENT_LOG_UNAVAILABLE');
  await expect.poll(() => failures().length, patience).toBeGreaterThan(1);
  expect(childrenOf(gateway.pid).length).toBeGreaterThan(0);
  const waits = failures().map(({ retryMs }) => retryMs);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(new Set(waits).size).toBe(waits.length);

  await redis.restart();
  await expect.poll(() => readPerWorker('labgraph_event_log_writable'), patience).toEqual({ 1: 1, 2: 1 });
});

test('SIGTERM ends the streams and sockets of all workers, then all processes', async () => {
  const workers = childrenOf(gateway.pid);
  const asking = { url: gateway.url, token: gatewayKey, query, variables: { orderId } };
  const streams = [await openEventStream(asking), await openEventStream(asking)];
  for (const stream of streams) await stream.next();
  const sockets = [await openRawSocket(gateway.url), await openRawSocket(gateway.url)];

  expect(await gateway.end('SIGTERM')).toBe(0);

  for (const stream of streams) expect((await stream.nextFrame())?.event).toBe('complete');
  expect(await Promise.all(sockets.map(({ goodbye }) => goodbye))).toEqual([1012, 1012]);
  for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('what all of them wrote is one sound audit trail, kills included', async () => {
  const { files, faults, lost } = await examine(world.folder.file('audit'));
  expect({ faults, lost }).toEqual({ faults: [], lost: 0 });
  // Two at the start, and one for each that was replaced.
  expect(files).toBeGreaterThanOrEqual(4);
});

describe('a start that fails is said once and leaves no process', () => {
  test('where the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : null;
    const fault = `- PORT ${port} is taken on 127.0.0.1. Stop what uses it, or give another PORT.`;
    await using other = await startWorld({ WORKERS: '3', EVENT_LOG: redis.newUrl() });
    await expect(other.startGateway(String(port))).rejects.toThrow(fault);
    taken.close();
  });

  test('where every worker finds the same fault', async () => {
    await using other = await startWorld({ WORKERS: '3', EVENT_LOG: 'redis://127.0.0.1:9' });
    const said = await other.startGateway().then(
      () => 'It has started.',
      (error: Error) => error.message,
    );
    expect(said.match(/cannot start.*/g)).toEqual(['cannot start (EVENT_LOG_UNAVAILABLE):']);
  });
});
