import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { Publisher } from 'rabbitmq-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GatewayError } from '../../../gateway/errors.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createGateway } from '../../../gateway/gateway.ts';
import { callCommand } from '../../support/commands.ts';
import { makeFolder } from '../../support/folder.ts';
import { gatewayKey, type Lab, serviceKey, startLab, webhookSecret } from '../../support/lab.ts';
import { startService } from '../../support/order-service.ts';
import { createWorld, planWorld, type WorldMessage } from '../../support/order-world.ts';
import { createWebhookPost } from '../../support/post-webhook.ts';
import { connectToRabbit, prepareRabbit, type RabbitServer } from '../../support/rabbitmq.ts';
import { startRedis } from '../../support/redis.ts';
import { withLog } from '../../support/replaced-parts.ts';
import { subscribeOverSse } from '../../support/subscribe.ts';
import { orderEvent, userId } from '../webhooks/support.ts';

const folder = makeFolder();
let rabbit: RabbitServer;

beforeAll(async () => {
  rabbit = await prepareRabbit(folder.path);
  await rabbit.start();
});
afterAll(async () => {
  await rabbit.end('SIGKILL');
  folder[Symbol.dispose]();
});

/** A busy machine gets this long. */
const soon = { timeout: 150_000, interval: 50 };
const exchange = 'amq.topic';
const json = { exchange, contentType: 'application/json', durable: true } as const;
let queues = 0;

/** A durable queue of its own that gets every event. */
async function openQueue() {
  queues += 1;
  const queue = `events-${queues}`;
  const connection = connectToRabbit(rabbit.url);
  await connection.queueDeclare({ queue, durable: true });
  await connection.queueBind({ queue, exchange, routingKey: `${queue}.#` });
  const publisher = connection.createPublisher({ confirm: true });
  return {
    queue,
    env: { INTAKE_RABBITMQ_URL: rabbit.url, INTAKE_RABBITMQ_QUEUE: queue },
    publisher,
    bind: (routingKey: string) => connection.queueBind({ queue, exchange, routingKey }),
    publish: (body: string) => publisher.send({ ...json, routingKey: `${queue}.a` }, Buffer.from(body)),
    /** Messages that wait; those in hand are not counted. */
    waiting: async () => (await connection.queueDeclare({ queue, passive: true })).messageCount,
    [Symbol.asyncDispose]: async () => {
      await publisher.close();
      await connection.close();
    },
  };
}

const readyOf = async (lab: Lab) => (await fetch(`${lab.url}/ready`)).json();
const consuming = (lab: Lab) =>
  expect.poll(() => readyOf(lab), soon).toMatchObject({ status: 'ready', broker: true });

async function countsOf(lab: Lab): Promise<Record<string, number>> {
  const text = await (await fetch(`${lab.url}/metrics`)).text();
  const lines = [...text.matchAll(/^labgraph_broker_messages_total\{outcome="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, outcome = '', count]) => [outcome, Number(count)]));
}

const some = (lab: Lab, number: number, more: object = {}) =>
  orderEvent({ event_type: 'some.event', data: { number }, team_id: lab.sandbox.teamId, ...more });

test('the sandbox publishes as the service does, and a subscriber receives each change', async () => {
  await using queue = await openQueue();
  await queue.bind('labtest.#');
  await using lab = await startLab({ env: queue.env, eventLog: 'sqlite' });
  await consuming(lab);
  const sandbox = lab.sandbox;
  sandbox.webhooks.register(rabbit.url.replace('amqp:', 'rabbitmq:'));
  const query = 'subscription { events { __typename ... on OrderEventReceived { order { id } } } }';
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query });
  const { data } = await lab.query('{ orders(first: 1) { nodes { id } } }');
  const orderId = data.orders.nodes[0].id;
  await fetch(`${lab.serviceUrl}/v3/order/resend_events`, {
    method: 'POST',
    headers: { 'x-service-api-key': serviceKey },
    body: JSON.stringify({ order_ids: [orderId] }),
  });
  await sandbox.webhooks.settled();
  expect(sandbox.webhooks.sent.at(-1)).toMatchObject({ outcome: 'delivered' });
  expect(await stream.next()).toMatchObject({
    data: { events: { __typename: 'OrderEventReceived', order: { id: orderId } } },
  });
  await stream.close();
  await expect.poll(queue.waiting, soon).toBe(0);
});

test('what cannot be read is stored as a dead letter and acknowledged', async () => {
  await using queue = await openQueue();
  const eventLog = `sqlite:${folder.file('poison.db')}`;
  await using lab = await startLab({ env: { ...queue.env, EVENT_LOG: eventLog } });
  await consuming(lab);
  const send = (fields: object, body: Buffer) =>
    queue.publisher.send({ ...json, routingKey: `${queue.queue}.a`, ...fields }, body);
  const good = Buffer.from(some(lab, 1));
  await send({}, Buffer.from('no JSON'));
  await send({ contentType: 'text/plain' }, good);
  await send({ contentEncoding: 'br' }, brotliCompressSync(good));
  await send({ contentEncoding: 'gzip' }, Buffer.from('no gzip'));
  await send({}, Buffer.alloc(3 * 1024 * 1024, ' '));
  await send({}, Buffer.from(`${'['.repeat(20_000)}${']'.repeat(20_000)}`));
  await send({}, Buffer.from(some(lab, 2, { team_id: userId })));
  await send({}, Buffer.from(some(lab, 2, { team_id: userId })));
  await send({ contentEncoding: 'gzip' }, gzipSync(good));
  await send({}, good);
  await expect.poll(() => countsOf(lab), soon).toEqual({ dead: 7, duplicate: 2, accepted: 1 });
  await expect.poll(queue.waiting, soon).toBe(0);
  expect(lab.logged.join('')).not.toContain('guest');

  await send({ contentType: 'text/plain' }, Buffer.from(some(lab, 3)));
  await expect.poll(() => countsOf(lab), soon).toMatchObject({ dead: 8 });
  const env = { EVENT_LOG: eventLog, SERVICE_TEAM_ID: lab.sandbox.teamId };
  const replayed = (await callCommand(env, 'replay', '--all')).lines().map(({ outcome }) => outcome);
  expect(replayed).toEqual(['still-dead', 'replayed-before', ...Array(5).fill('still-dead'), 'replayed']);
});

test('while the log cannot be written nothing is consumed, /ready says so, and then all of it comes in its order', async () => {
  await using queue = await openQueue();
  let isFull = false;
  const appended: string[] = [];
  const full = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The disk is full.');
  await using lab = await startLab({
    env: queue.env,
    make: async (parts) => {
      const { eventLog, eventLogKeys } = parts.config;
      const store = await openEventStore(eventLog, { keys: eventLogKeys, log: parts.log });
      return await createGateway({
        ...parts,
        store: Promise.resolve(
          withLog(store, (log) => ({
            isWritable: async () => !isFull,
            append: async (message) => {
              if (isFull) throw full;
              const result = await log.append(message);
              if (!result.duplicate) appended.push(message.body.toString());
              return result;
            },
          })),
        ),
      });
    },
  });
  await consuming(lab);
  isFull = true;
  const bodies = Array.from({ length: 50 }, (_, number) => some(lab, number));
  for (const body of bodies) await queue.publish(body);
  await expect
    .poll(() => readyOf(lab), soon)
    .toMatchObject({ status: 'degraded', eventLog: false, broker: false, problems: expect.any(Array) });
  await expect.poll(queue.waiting, soon).toBe(50);
  isFull = false;
  await expect.poll(() => appended.length, soon).toBe(50);
  expect(appended).toEqual(bodies);
  await consuming(lab);
  await expect.poll(queue.waiting, soon).toBe(0);
});

test('a message that alone cannot be stored becomes a dead letter, and those behind it come through', async () => {
  await using queue = await openQueue();
  const refused = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event cannot be stored as it is.');
  await using lab = await startLab({
    env: queue.env,
    make: async (parts) => {
      const { eventLog, eventLogKeys } = parts.config;
      const store = await openEventStore(eventLog, { keys: eventLogKeys, log: parts.log });
      const spoil = withLog(store, (log) => ({
        append: async (message) => {
          if (message.type === 'poison') throw refused;
          return await log.append(message);
        },
      }));
      return await createGateway({ ...parts, store: Promise.resolve(spoil) });
    },
  });
  await consuming(lab);
  await queue.publish(some(lab, 1, { event_type: 'poison' }));
  await queue.publish(some(lab, 2));
  await expect.poll(() => countsOf(lab), soon).toMatchObject({ accepted: 1, dead: 1 });
  await expect.poll(queue.waiting, soon).toBe(0);
});

test('the end of the gateway finishes what is in hand, and returns the rest to the queue', async () => {
  await using queue = await openQueue();
  const lab = await startLab({ env: { ...queue.env, INTAKE_RABBITMQ_PREFETCH: '10' }, eventLog: 'sqlite' });
  await consuming(lab);
  const accepted = () => lab.logged.filter((line) => line.includes('"broker.accepted"'));
  const sending = Promise.all(Array.from({ length: 500 }, (_, number) => queue.publish(some(lab, number))));
  await expect.poll(() => accepted().length, soon).toBeGreaterThan(0);
  await lab[Symbol.asyncDispose]();
  await sending;
  // Acknowledged, unless the machine was too busy to finish in time: then those in hand come again.
  await expect.poll(queue.waiting, soon).toBeGreaterThanOrEqual(500 - accepted().length);
  expect(await queue.waiting()).toBeLessThanOrEqual(510 - accepted().length);
});

/** Like the real sender: again, after a pause, while the gateway cannot store it, such as when a busy Redis takes too long. */
async function deliver(post: ReturnType<typeof createWebhookPost>, message: WorldMessage): Promise<void> {
  let status = await post(message, webhookSecret);
  for (; status === 503; status = await post(message, webhookSecret)) await wait(100);
  expect(status).toBeLessThan(300);
}

async function sendOverBothRoutes(
  lab: { url: string },
  messages: readonly WorldMessage[],
  publisher: Publisher,
  routingKey: string,
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const post = createWebhookPost({ address: () => lab.url, agent, timeoutMs: 30_000 });
  const byOrder = [...Map.groupBy(messages, ({ order }) => order.id).values()];
  const shuffled = () => byOrder.toSorted(() => Math.random() - 0.5);
  const byWebhook = shuffled().map(async (ofOrder) => {
    await wait(Math.random() * 500);
    for (const message of ofOrder) await deliver(post, message);
  });
  const byBroker = shuffled().map(async (ofOrder) => {
    await wait(Math.random() * 500);
    for (const { body } of ofOrder) {
      const plain = Buffer.from(body);
      const isLarge = plain.length > 1024;
      const fields = { ...json, routingKey, ...(isLarge ? { contentEncoding: 'gzip' } : {}) };
      await publisher.send(fields, isLarge ? gzipSync(plain) : plain);
    }
  });
  await Promise.all([...byWebhook, ...byBroker]);
  agent.destroy();
}

test.each(['sqlite', 'redis'])(
  'each of 2,000 events that come over both routes at once reaches a subscriber once, in the order of its order (%s)',
  async (kind) => {
    await using queue = await openQueue();
    await using redis = kind === 'redis' ? await startRedis() : null;
    const world = createWorld(planWorld({ users: 10, ordersPerUser: 10 }));
    const service = await startService(world);
    const env = {
      ...queue.env,
      SERVICE_TEAM_ID: world.teamId,
      EVENT_LOG_KEY: Buffer.alloc(32, 'k').toString('base64'),
      ...(redis === null ? {} : { EVENT_LOG: redis.newUrl() }),
    };
    await using lab = await startLab({ env, eventLog: 'sqlite', serve: async () => service.url });
    await consuming(lab);
    const query =
      'subscription { events { __typename ... on OrderEventReceived { order { id lastEvent { id } } } } }';
    const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query });
    const messages = world.orders.flatMap((order) =>
      Array.from({ length: 20 }, () => world.report(order, world.advance(order))),
    );
    const sending = sendOverBothRoutes(lab, messages, queue.publisher, `${queue.queue}.a`);
    const received = new Map<string, number[]>();
    const read = async () => {
      const result = await stream.next();
      const { order } = result?.data.events ?? {};
      received.set(order.id, [...(received.get(order.id) ?? []), Number(order.lastEvent.id)]);
    };
    for (let count = 0; count < messages.length; count += 1) await read();
    await sending;
    await expect.poll(queue.waiting, soon).toBe(0);
    // Nothing more comes: the next event is this one.
    await queue.publish(orderEvent({ event_type: 'last.event', data: {}, team_id: world.teamId }));
    expect(await stream.next()).toMatchObject({ data: { events: { __typename: 'UnknownEvent' } } });
    await stream.close();
    service.close();
    for (const order of world.orders) expect(received.get(order.id)).toEqual(order.eventIds.slice(1));
  },
);

test('a broker that was killed is consumed again when it is back', async () => {
  await using queue = await openQueue();
  await using lab = await startLab({ env: queue.env, eventLog: 'sqlite' });
  await consuming(lab);
  await rabbit.end('SIGKILL');
  try {
    await expect.poll(() => readyOf(lab), soon).toMatchObject({ status: 'ready', broker: false });
  } finally {
    // Without a broker neither the queue's connection nor the gateway would end.
    await rabbit.start();
  }
  await queue.publish(some(lab, 1));
  await expect.poll(() => countsOf(lab), soon).toEqual({ accepted: 1 });
  await consuming(lab);
});
