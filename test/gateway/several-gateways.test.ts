import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { makeFolder } from '../support/folder.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import {
  gatewayKey,
  graphqlRequest,
  type Lab,
  readTestConfig,
  serviceKey,
  startLab,
  webhookSecret,
} from '../support/lab.ts';
import { askForTicket, postTicket, takeTicket } from '../support/launch.ts';
import { create, posts } from '../support/ordering.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type Subscribed, subscribeOverSse, transports } from '../support/subscribe.ts';
import { orderEvent, signedHeaders } from './webhooks/support.ts';

const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind event { id status { raw } } order { id } }
}`;
const simulate = 'mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }';
const key = randomBytes(32).toString('base64');
/** What a walk-in order goes through, as far as these tests go. */
const steps = ['requisition_created', 'appointment_pending', 'appointment_scheduled'];

interface Other extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  readonly query: Lab['query'];
}

const envOf = (eventLog: string) => ({ EVENT_LOG: eventLog, EVENT_LOG_KEY: key });

/** One more gateway over the service and the log of a lab; the service does not know its address. */
async function startAnother(lab: Lab, eventLog: string): Promise<Other> {
  const config = readTestConfig({
    SERVICE_URL: lab.serviceUrl,
    PORTAL_ORIGINS: lab.serviceUrl,
    ...envOf(eventLog),
  });
  const gateway = await createGateway({
    config,
    log: createLog({ level: 'silent' }),
    serviceUrl: lab.serviceUrl,
  });
  const { url } = await gateway.listen();
  const query: Lab['query'] = async (text, { variables, token = gatewayKey } = {}) => {
    const response = await gateway.fetch(graphqlRequest(url, { query: text, variables }, token));
    return { ...(await response.json()), status: response.status };
  };
  return { gateway, url, query, [Symbol.asyncDispose]: gateway.close };
}

function freshOrder(lab: Lab): string {
  const order = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
  if (order === undefined) throw new Error('The world has no fresh walk-in order.');
  return order.orderId;
}

async function step(lab: Lab, orderId: string): Promise<void> {
  const answer = await lab.query(simulate, { variables: { id: orderId } });
  expect(answer.data.simulateOrder.__typename).toBe('OrderSimulated');
}

async function next(updates: Subscribed) {
  const result = await updates.next();
  expect(result?.errors).toBeUndefined();
  return result?.data?.orderUpdates;
}

/** The last part of the status of each of the next updates. */
async function statuses(updates: Subscribed, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { event } = await next(updates);
    seen.push(event.status.raw.split('.').at(-1));
  }
  return seen;
}

describe('several gateways over one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(transports)(
    'send a webhook that one of them received to the subscribers of all, over %s',
    async (_name, subscribe) => {
      const eventLog = server.newUrl();
      await using lab = await startLab({ env: envOf(eventLog) });
      await using other = await startAnother(lab, eventLog);
      const orderId = freshOrder(lab);
      const both = await Promise.all(
        [lab.url, other.url].map((url) =>
          subscribe({ url, token: gatewayKey, query: orderUpdates, variables: { orderId } }),
        ),
      );
      for (const updates of both) expect(await next(updates)).toMatchObject({ kind: 'SNAPSHOT' });

      for (const _ of steps) {
        await step(lab, orderId);
        await lab.sandbox.webhooks.settled();
      }

      expect(await Promise.all(both.map((updates) => statuses(updates, 3)))).toEqual([steps, steps]);
      await Promise.all(both.map((updates) => updates.close()));
    },
  );

  test('deliver a webhook once that all of them got', async () => {
    const eventLog = server.newUrl();
    await using lab = await startLab({ env: envOf(eventLog) });
    await using other = await startAnother(lab, eventLog);
    lab.sandbox.webhooks.register(`${other.url}/webhooks`);
    const orderId = freshOrder(lab);
    const updates = await subscribeOverSse({
      ...{ url: other.url, token: gatewayKey },
      ...{ query: orderUpdates, variables: { orderId } },
    });
    await next(updates);
    for (const _ of steps) {
      await step(lab, orderId);
      await lab.sandbox.webhooks.settled();
    }
    expect(await statuses(updates, 3)).toEqual(steps);
    await updates.close();
  });

  test('place one order under one idempotency key, at once and later', async () => {
    const eventLog = server.newUrl();
    await using lab = await startLab({ env: envOf(eventLog) });
    await using other = await startAnother(lab, eventLog);
    const before = lab.sandbox.orders().length;
    const there: Lab = { ...lab, query: other.query };

    const atOnce = await Promise.allSettled([create(lab), create(there), create(lab), create(there)]);
    const later = [await create(lab), await create(there)];

    const ids = later.map((created) => created.order.id);
    expect(new Set(ids).size).toBe(1);
    for (const outcome of atOnce) {
      const { order, errors } = outcome.status === 'fulfilled' ? outcome.value : { order: null, errors: [] };
      // A call during the other gateway's call for the same key may get an error that asks to retry.
      expect(order?.id ?? errors?.[0]?.extensions.code).toBeOneOf([ids[0], 'IDEMPOTENCY_UNSETTLED']);
    }
    expect(posts(lab)).toBe(1);
    expect(lab.sandbox.orders()).toHaveLength(before + 1);
  });

  test("honour each other's tickets, each once", async () => {
    const eventLog = server.newUrl();
    await using lab = await startLab({ env: envOf(eventLog) });
    await using other = await startAnother(lab, eventLog);
    const userId = lab.sandbox.users().find(({ hasDemographics }) => hasDemographics)?.userId;
    const documents = await lab.query(
      `mutation ($id: ID!) { createDocumentTicket(input: { orderId: $id, kind: REQUISITION }) {
        ... on DocumentTicket { url } } }`,
      { variables: { id: lab.sandbox.orders()[0]?.orderId } },
    );
    const { url: document } = documents.data.createDocumentTicket;
    const ticket = await takeTicket(lab, { userId });

    const launches = await Promise.all(
      [other, lab, other, lab].map((gateway) => postTicket(gateway, ticket)),
    );
    const fetches = await Promise.all([other, lab].map(({ url }) => fetch(`${url}${document}`)));

    expect(launches.map(({ status }) => status).toSorted()).toEqual([303, 404, 404, 404]);
    expect(fetches.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect((await postTicket(other, await takeTicket(lab, { userId }))).status).toBe(303);
  });

  test('carry on for each other: the subscriber of one that was killed resumes at another', async () => {
    const eventLog = server.newUrl();
    using folder = makeFolder();
    await using lab = await startLab({ env: envOf(eventLog) });
    const dying = await startGatewayProcess(folder.path, {
      ...envOf(eventLog),
      PORT: '0',
      SERVICE_URL: lab.serviceUrl,
      SERVICE_API_KEY: serviceKey,
      WEBHOOK_SECRETS: webhookSecret,
      GATEWAY_API_KEYS: gatewayKey,
      VIEWER_TOKEN_SECRET: 'a viewer token secret of more than 32 characters',
    });
    const orderId = freshOrder(lab);
    const ask = { token: gatewayKey, query: orderUpdates };
    const first = await subscribeOverSse({ ...ask, url: dying.url, variables: { orderId } });
    await next(first);
    await step(lab, orderId);
    const { cursor: after, kind } = await next(first);
    expect(kind).toBe('CHANGED');
    await dying.end('SIGKILL');
    await expect(first.next()).rejects.toThrow();
    await step(lab, orderId);
    await lab.sandbox.webhooks.settled();

    const second = await subscribeOverSse({ ...ask, url: lab.url, variables: { orderId, after } });

    await step(lab, orderId);
    expect(await statuses(second, 2)).toEqual(steps.slice(1));
    await second.close();
  });
});

describe('when Redis goes away', () => {
  const subscribeTo = (url: string, orderId: string) =>
    subscribeOverSse({ url, token: gatewayKey, query: orderUpdates, variables: { orderId } });
  const postTo = async (gateway: Gateway) => {
    const body = orderEvent();
    const headers = signedHeaders(body, { secret: webhookSecret });
    return await gateway.fetch(
      new Request('http://gateway.test/webhooks', { method: 'POST', headers, body }),
    );
  };

  test.each([
    {
      how: 'killed',
      leave: (server: RedisServer) => server.kill(),
      comeBack: (server: RedisServer) => server.restart(),
    },
    {
      how: 'frozen',
      leave: (server: RedisServer) => server.freeze(),
      comeBack: (server: RedisServer) => server.thaw(),
    },
  ])(
    '$how, webhooks are answered 503, queries go on, it is degraded and not taken out, subscriptions stay open, and nothing is lost or repeated',
    async ({ leave, comeBack }) => {
      await using server = await startRedis();
      const eventLog = server.newUrl();
      await using lab = await startLab({ env: envOf(eventLog) });
      await using other = await startAnother(lab, eventLog);
      const orderId = freshOrder(lab);
      const both = await Promise.all([lab.url, other.url].map((url) => subscribeTo(url, orderId)));
      for (const updates of both) await next(updates);
      await step(lab, orderId);
      await lab.sandbox.webhooks.settled();

      await leave(server);
      const refused = await postTo(lab.gateway);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect((await lab.query('{ viewer { kind } }')).data).toEqual({ viewer: { kind: 'TEAM' } });
      const ready = await lab.gateway.fetch(new Request('http://gateway.test/ready'));
      expect([ready.status, await ready.json()]).toMatchObject([
        200,
        { status: 'degraded', eventLog: false },
      ]);
      await step(lab, orderId);
      await comeBack(server);
      await lab.sandbox.webhooks.settled();
      await step(lab, orderId);
      await lab.sandbox.webhooks.settled();

      expect(await Promise.all(both.map((updates) => statuses(updates, 3)))).toEqual([steps, steps]);
      await Promise.all(both.map((updates) => updates.close()));
      const events = lab.logged.map((line) => JSON.parse(line).event);
      expect(events.filter((event) => event.startsWith('events.store'))).toEqual([
        'events.store_gone',
        'events.store_back',
      ]);
    },
  );

  test('a redeemed ticket gets a 503, and no ticket is created', async () => {
    await using server = await startRedis();
    await using lab = await startLab({ env: envOf(server.newUrl()) });
    const userId = lab.sandbox.users().find(({ hasDemographics }) => hasDemographics)?.userId;
    const ticket = await takeTicket(lab, { userId });
    await server.kill();
    const [launch, document, refused] = [
      await postTicket(lab, ticket),
      await fetch(`${lab.url}/documents/${'A'.repeat(43)}`),
      await askForTicket(lab, { userId }),
    ];
    expect([launch.status, document.status]).toEqual([503, 503]);
    expect(await launch.text()).toContain('Code: EVENT_LOG_UNAVAILABLE');
    expect(refused.errors[0].extensions.code).toBe('EVENT_LOG_UNAVAILABLE');
  });

  test('and comes back empty, every stream and every old cursor goes on with RESYNC', async () => {
    await using server = await startRedis();
    const eventLog = server.newUrl();
    await using lab = await startLab({ env: envOf(eventLog) });
    const orderId = freshOrder(lab);
    const open = await subscribeTo(lab.url, orderId);
    await next(open);
    await step(lab, orderId);
    const { cursor: after } = await next(open);

    await server.restart('empty');

    expect(await next(open)).toMatchObject({ kind: 'RESYNC', order: { id: orderId } });
    const resumed = await subscribeOverSse({
      ...{ url: lab.url, token: gatewayKey, query: orderUpdates },
      variables: { orderId, after },
    });
    expect(await next(resumed)).toMatchObject({ kind: 'RESYNC' });
    await step(lab, orderId);
    for (const updates of [open, resumed]) expect(await next(updates)).toMatchObject({ kind: 'CHANGED' });
    await Promise.all([open.close(), resumed.close()]);
  });
});
