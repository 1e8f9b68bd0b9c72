import process from 'node:process';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { GatewayError } from '../../../gateway/errors.ts';
import { openEventStore } from '../../../gateway/events/open.ts';
import { createGateway, type GatewayParts } from '../../../gateway/gateway.ts';
import { decode } from '../../../gateway/intake/decode.ts';
import { createEventHubsBroker } from '../../../gateway/intake/event-hubs.ts';
import { createLog } from '../../../gateway/log.ts';
import { complete } from '../../support/configuration.ts';
import { hubKey, startEventHub } from '../../support/event-hub.ts';
import { makeFolder } from '../../support/folder.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { gatewayKey, type Lab, serviceKey, startLab } from '../../support/lab.ts';
import { startPubSub } from '../../support/pubsub-server.ts';
import { startRedis } from '../../support/redis.ts';
import { withLog } from '../../support/replaced-parts.ts';
import { subscribeOverSse } from '../../support/subscribe.ts';
import { orderEvent, teamId, userId } from '../webhooks/support.ts';

/** A busy machine gets this long. */
const soon = { timeout: 150_000, interval: 50 };

/** A broker in place of a cloud's, with its protocol. */
interface Cloud extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** Sends an event in the order of its key, as the service does. */
  readonly publish: (key: string, body: string, codec?: string) => void;
  readonly disconnect: () => void;
}

async function openEventHub(): Promise<Cloud & { readonly hub: Awaited<ReturnType<typeof startEventHub>> }> {
  const hub = await startEventHub();
  return {
    hub,
    env: { INTAKE_EVENTHUBS_CONNECTION_STRING: hub.connectionString, INTAKE_EVENTHUBS_HUB: hub.name },
    publish: (key, body, codec) =>
      hub.publish(
        key,
        codec === 'gzip' ? gzipSync(body) : Buffer.from(body),
        codec === undefined ? {} : { 'content-encoding': codec },
      ),
    disconnect: hub.disconnect,
    [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose](),
  };
}

async function openPubSub(): Promise<Cloud & { readonly server: Awaited<ReturnType<typeof startPubSub>> }> {
  const server = await startPubSub();
  // Read by the library. It need not look for a cloud around it.
  const env = { PUBSUB_EMULATOR_HOST: server.host, METADATA_SERVER_DETECTION: 'none' };
  Object.assign(process.env, env);
  return {
    server,
    env: { ...env, INTAKE_PUBSUB_SUBSCRIPTION: server.subscription },
    publish: (key, body, codec) =>
      server.publish(key, codec === 'gzip' ? gzipSync(body) : Buffer.from(body), {
        'blob-type': 'json',
        ...(codec === undefined ? {} : { 'blob-codec': codec }),
      }),
    disconnect: server.disconnect,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const clouds = [
  ['Event Hubs', openEventHub],
  ['Pub/Sub', openPubSub],
] as const;

const readyOf = async ({ url }: { readonly url: string }) => (await fetch(`${url}/ready`)).json();

async function countsOf({ url }: { readonly url: string }): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = [...text.matchAll(/^labgraph_broker_messages_total\{outcome="(\w+)"\} (\d+)$/gm)];
  return Object.fromEntries(lines.map(([, outcome = '', count]) => [outcome, Number(count)]));
}

const keys = ['a', 'b', 'c'] as const;
const some = (number: number, team = teamId) =>
  orderEvent({
    event_type: `${keys[number % keys.length]}.event`,
    data: { number },
    team_id: team,
  });
const publishSome = (cloud: Cloud, numbers: readonly number[], team?: string) => {
  for (const number of numbers) cloud.publish(keys[number % keys.length] ?? '', some(number, team));
};
const upTo = (count: number) => Array.from({ length: count }, (_, number) => number);

/** The numbers of the events in the log, by their type. */
async function readLog(path: string): Promise<readonly (readonly number[])[]> {
  const log = createLog({ level: 'silent' });
  const keyOf = Buffer.from(complete.EVENT_LOG_KEY, 'base64');
  const store = await openEventStore({ kind: 'sqlite', path }, { keys: [keyOf], log, access: 'shared' });
  const batch = await store.log.read({}, 0, 100_000);
  await store.log.close();
  const events = batch.kind === 'events' ? batch.events : [];
  return keys.map((key) =>
    events
      .filter(({ type }) => type === `${key}.event`)
      .map(({ body }) => JSON.parse(body.toString()).data.number),
  );
}

test.each(clouds)(
  'a gateway that is killed while it consumes from %s loses nothing and repeats nothing, in order',
  async (_, open) => {
    await using cloud = await open();
    using folder = makeFolder();
    const path = folder.file('events.db');
    const env = {
      ...complete,
      ...cloud.env,
      NODE_ENV: 'test',
      PORT: '0',
      SERVICE_URL: 'http://127.0.0.1:9',
      SERVICE_TEAM_ID: teamId,
      EVENT_LOG: `sqlite:${path}`,
    };
    const batch = 40;
    let sent = 0;
    const publishMore = () => {
      publishSome(
        cloud,
        upTo(batch).map((n) => n + sent),
      );
      sent += batch;
    };
    for (const _kill of ['first', 'second']) {
      publishMore();
      const gateway = await startGatewayProcess(folder.path, env);
      await expect.poll(async () => (await countsOf(gateway)).accepted ?? 0, soon).toBeGreaterThan(20);
      publishMore();
      await gateway.end('SIGKILL');
    }
    const last = await startGatewayProcess(folder.path, env);
    await expect.poll(async () => (await readLog(path)).flat().length, { interval: 500 }).toBe(sent);
    expect(await last.end('SIGTERM')).toBe(0);
    expect(await readLog(path)).toEqual(
      keys.map((_key, index) => upTo(sent).filter((n) => n % keys.length === index)),
    );
    expect(last.output.join('')).not.toContain(hubKey);
  },
  120_000,
);

const full = new GatewayError('EVENT_LOG_UNAVAILABLE', 'The disk is full.');

/** Makes gateways whose log can be full. */
function makeFillable(state: { isFull: boolean; readonly appended: string[] }) {
  return async (parts: GatewayParts) => {
    const { eventLog, eventLogKeys } = parts.config;
    const store = await openEventStore(eventLog, { keys: eventLogKeys, log: parts.log });
    const fillable = withLog(store, (log) => ({
      isWritable: async () => !state.isFull,
      append: async (message) => {
        if (state.isFull) throw full;
        const result = await log.append(message);
        if (!result.duplicate) state.appended.push(message.body.toString());
        return result;
      },
    }));
    return await createGateway({ ...parts, store: Promise.resolve(fillable) });
  };
}

const isConsuming = (lab: Lab) =>
  expect.poll(() => readyOf(lab), soon).toMatchObject({ status: 'ready', broker: true });

test.each(clouds)(
  'while the log is full nothing is consumed from %s, and then all of it comes, also after a lost connection',
  async (_, open) => {
    await using cloud = await open();
    const state = { isFull: false, appended: [] as string[] };
    await using lab = await startLab({ env: cloud.env, make: makeFillable(state) });
    const team = lab.sandbox.teamId;
    await isConsuming(lab);
    state.isFull = true;
    publishSome(cloud, upTo(30), team);
    await expect.poll(() => readyOf(lab), soon).toMatchObject({ eventLog: false, broker: false });
    state.isFull = false;
    await expect.poll(() => state.appended.length, soon).toBe(30);
    for (const key of keys) {
      const ofKey = (body: string) => body.includes(`"${key}.event"`);
      expect(state.appended.filter(ofKey)).toEqual(
        upTo(30)
          .map((n) => some(n, team))
          .filter(ofKey),
      );
    }
    await isConsuming(lab);
    cloud.disconnect();
    // What cannot be read is a dead letter, and does not stop what is behind it.
    cloud.publish('a', some(30, team), 'br');
    cloud.publish('a', some(31, userId));
    cloud.publish('a', some(33, team), 'gzip');
    await expect.poll(() => countsOf(lab), soon).toMatchObject({ accepted: 31, dead: 2 });
    await isConsuming(lab);
    expect(lab.logged.join('')).not.toContain(hubKey);
  },
  120_000,
);

test('Pub/Sub gives only as many messages as may be in hand, and gets its acknowledgements', async () => {
  await using cloud = await openPubSub();
  publishSome(cloud, upTo(1000));
  await using lab = await startLab({ env: { ...cloud.env, SERVICE_TEAM_ID: teamId } });
  await expect.poll(() => countsOf(lab), soon).toEqual({ accepted: 1000 });
  await expect.poll(() => cloud.server.waiting(), soon).toBe(0);
  expect(cloud.server.mostInHand()).toBeLessThanOrEqual(200);
  expect(cloud.server.repeats()).toBe(0);
});

test('the sandbox sends to Event Hubs as the service does, and a subscriber receives the change', async () => {
  await using cloud = await openEventHub();
  await using lab = await startLab({ env: cloud.env });
  await isConsuming(lab);
  lab.sandbox.webhooks.register(cloud.hub.address);
  const query = 'subscription { events { __typename ... on OrderEventReceived { order { id } } } }';
  const stream = await subscribeOverSse({ url: lab.url, token: gatewayKey, query });
  const { data } = await lab.query('{ orders(first: 1) { nodes { id user { id } } } }');
  const [order] = data.orders.nodes;
  await fetch(`${lab.serviceUrl}/v3/order/resend_events`, {
    method: 'POST',
    headers: { 'x-service-api-key': serviceKey },
    body: JSON.stringify({ order_ids: [order.id] }),
  });
  await lab.sandbox.webhooks.settled();
  expect(lab.sandbox.webhooks.sent.at(-1)).toMatchObject({ outcome: 'delivered' });
  expect(await stream.next()).toMatchObject({ data: { events: { order: { id: order.id } } } });
  await stream.close();
  const [event] = cloud.hub.partitions.flat();
  expect(event).toMatchObject({
    key: order.user.id,
    properties: {
      'event-type': expect.stringMatching(/^labtest\.order\./),
      'user-id': order.user.id,
      'team-id': lab.sandbox.teamId,
      'content-encoding': 'gzip',
      'idempotency-key': expect.any(String),
    },
  });
});

/** What an event hub's consumer took, in its order, and how often it noted how far it is. */
function consume(
  hub: Awaited<ReturnType<typeof startEventHub>>,
  more: { readonly maxSurplus?: number } = {},
) {
  const marks = new Map<string, string>();
  const [taken, noted]: [string[], string[]] = [[], []];
  const broker = createEventHubsBroker({
    connectionString: hub.connectionString,
    hub: hub.name,
    consumerGroup: '$Default',
    marks: {
      readMarks: async () => marks,
      writeMark: async (name, value) => {
        marks.set(name, value);
        noted.push(value);
      },
    },
    isShared: false,
    log: createLog({ level: 'silent' }),
    ...more,
  });
  const consumer = broker.consume(async (message) => taken.push(decode(message).body.toString()) > 0);
  return {
    taken,
    noted,
    [Symbol.asyncDispose]: async () => {
      await consumer.stop();
      await broker.close();
    },
  };
}

test('Event Hubs is read anew from its checkpoints after many waits for nothing, and each event comes once', async () => {
  await using hub = await startEventHub();
  await using consumer = consume(hub, { maxSurplus: 2 });
  for (const body of ['1', '2']) hub.publish('a', Buffer.from(body));
  await expect.poll(() => hub.opened(), soon).toBe(4);
  hub.publish('a', Buffer.from('3'));
  await expect.poll(() => consumer.taken, soon).toEqual(['1', '2', '3']);
});

test.each(['content-encoding', 'Content-Encoding'])(
  'An event of Event Hubs is unpacked where %s says gzip',
  async (name) => {
    await using hub = await startEventHub();
    await using consumer = consume(hub);
    hub.publish('a', gzipSync('{"event":1}'), { [name]: 'gzip' });
    await expect.poll(() => consumer.taken, soon).toEqual(['{"event":1}']);
  },
);

test('Event Hubs is read in batches while many events wait, in order, and one after the other again', async () => {
  await using hub = await startEventHub({ partitionCount: 1 });
  const bodies = Array.from({ length: 5000 }, (_, number) => String(number));
  for (const body of bodies) hub.publish('a', Buffer.from(body));
  await using consumer = consume(hub, { maxSurplus: 150 });
  await expect.poll(() => [...new Set(consumer.taken)], soon).toEqual(bodies);
  expect(consumer.noted.length).toBeLessThan(500);
  // Opened singly, for batches, and singly again after two waits for nothing.
  await expect.poll(() => hub.opened(), soon).toBeGreaterThanOrEqual(3);
  hub.publish('a', Buffer.from('more'));
  await expect.poll(() => consumer.taken.at(-1), soon).toBe('more');
});

test('two gateways over Redis read each partition by one of them at a time', async () => {
  await using cloud = await openEventHub();
  await using redis = await startRedis();
  const env = {
    ...cloud.env,
    EVENT_LOG: redis.newUrl(),
    SERVICE_TEAM_ID: teamId,
    EVENT_LOG_KEY: complete.EVENT_LOG_KEY,
  };
  await using first = await startLab({ env });
  await isConsuming(first);
  await using second = await startLab({ env });
  publishSome(cloud, upTo(60));
  const total = async () => {
    const counts = await Promise.all([first, second].map(countsOf));
    return counts.map(({ accepted = 0 }) => accepted).reduce((a, b) => a + b);
  };
  await expect.poll(total, soon).toBe(60);
  expect(cloud.hub.readers()).toBe(2);
});

test.each([
  ['INTAKE_PUBSUB_SUBSCRIPTION', 'projects/p/subscriptions/s', '@google-cloud/pubsub'],
  [
    'INTAKE_EVENTHUBS_CONNECTION_STRING',
    'Endpoint=sb://n.servicebus.windows.net;SharedAccessKeyName=a;SharedAccessKey=b;EntityPath=c',
    '@azure/event-hubs',
  ],
])(
  'with %s and without its library the gateway says in one sentence what is missing',
  async (name, value, library) => {
    using folder = makeFolder();
    const hook = `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => {
  if (name === '${library}') throw Object.assign(new Error('Not found.'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(name, context);
} });`;
    const refusal = await startGatewayProcess(folder.path, {
      ...complete,
      PORT: '0',
      SERVICE_URL: 'http://127.0.0.1:9',
      [name]: value,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    }).catch((error: Error) => error.message);
    expect(refusal).toContain(`- ${name} needs the optional package ${library}, which is not installed.`);
  },
);
