import { describe, expect, test } from 'vitest';
import { createGateway } from '../../gateway/gateway.ts';
import { createLog } from '../../gateway/log.ts';
import { shippingDetails } from '../sandbox/support.ts';
import { gatewayKey, graphqlRequest, readTestConfig } from '../support/lab.ts';
import {
  type PlainService,
  plainOrder,
  startPlainService,
  teamId,
  userId,
} from '../support/plain-service.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const otherUser = '2e9a7a52-2c8c-4a7e-9a55-3d1b8f0f4b22';
const createTestkitAs = (idempotencyKey: string) => `mutation { createTestkitOrder(input: {
  userId: "${userId}", labTestId: "${teamId}", idempotencyKey: "${idempotencyKey}", shippingDetails: {
    receiverName: "Avery Sample", firstLine: "100 Example Street", city: "Phoenix"
    state: "AZ", zip: "85004", country: "US", phoneNumber: "+16025550100" }
}) { __typename ... on OrderCreated { order { id labTest { id name } markers { totalCount } } } ... on UserError { code } } }`;
const createTestkit = createTestkitAs('plain-1');

async function openGateway(service: PlainService) {
  const config = readTestConfig({ SERVICE_URL: service.url, EVENT_LOG: 'memory:' });
  const gateway = await createGateway({
    config,
    log: createLog({ level: 'silent' }),
    serviceUrl: service.url,
  });
  const { url } = await gateway.listen();
  const query = async (text: string) => {
    const response = await gateway.fetch(graphqlRequest(url, { query: text }, gatewayKey));
    return await response.json();
  };
  return { url, query, [Symbol.asyncDispose]: gateway.close };
}

test('a service that keeps to the specification alone is enough for a testkit order', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  const answers = [await gateway.query(createTestkit), await gateway.query(createTestkit)];
  expect(answers[0].data.createTestkitOrder).toMatchObject({
    __typename: 'OrderCreated',
    order: { labTest: { id: null, name: 'Plain kit' }, markers: null },
  });
  expect(answers[1]).toEqual(answers[0]);
  expect(service.posts).toHaveLength(1);
});

test.each([
  ['an empty body', { status: 200, body: '' }],
  ['null', { status: 200, body: 'null' }],
  ['half a body', { status: 200, body: '{"order":{"id":"0000' }],
  ['an order without an id', { status: 200, body: '{"order":{},"status":"success"}' }],
  ['500', { status: 500, body: 'Internal Server Error' }],
  ['503', { status: 503, body: '' }],
  ['408', { status: 408, body: '' }],
  ['a redirect', { status: 302, body: '' }],
])(
  'an order that was placed, yet answered with %s, is found and never placed twice',
  async (_name, spoilt) => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    service.spoiltAnswer = spoilt;
    const answers = [await gateway.query(createTestkit), await gateway.query(createTestkit)];
    expect(answers.map(({ data }) => data?.createTestkitOrder.order.id)).toEqual(
      Array(2).fill(service.orders[0]?.id),
    );
    expect(service.posts).toHaveLength(1);
  },
);

test('an order that was placed, answered unreadably and is nowhere to be found is never placed again', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  service.spoiltAnswer = { status: 200, body: '' };
  const hidden = service.orders;
  hidden.unshift = () => hidden.length;
  const answers = [await gateway.query(createTestkit), await gateway.query(createTestkit)];
  for (const answer of answers) expect(answer.errors[0].extensions.code).toBe('UPSTREAM_UNREADABLE');
  expect(service.posts).toHaveLength(1);
});

describe('of several equal orders', () => {
  test.each([500, 503])(
    'the one of another key is no result of a call that failed with %d',
    async (status) => {
      await using service = await startPlainService();
      await using gateway = await openGateway(service);
      const first = await gateway.query(createTestkit);
      service.spoiltAnswer = { status, body: '', isLost: true };
      const failed = await gateway.query(createTestkitAs('plain-2'));
      const second = await gateway.query(createTestkitAs('plain-2'));
      expect(failed.errors[0].extensions).toMatchObject({
        code: 'UPSTREAM_UNAVAILABLE',
        mayHaveBeenDone: false,
      });
      expect([second, first].map(({ data }) => data.createTestkitOrder.order.id)).toEqual(
        service.orders.map(({ id }) => id),
      );
      expect(service.posts).toHaveLength(3);
    },
  );

  test('the one of another key is no result of a call without an answer, when it is repeated either', async () => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    await gateway.query(createTestkit);
    service.spoiltAnswer = { status: 504, body: '', isLost: true };
    const answers = [
      await gateway.query(createTestkitAs('plain-2')),
      await gateway.query(createTestkitAs('plain-2')),
    ];
    expect(answers.map(({ errors }) => errors?.[0].extensions)).toMatchObject([
      { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true },
      { code: 'IDEMPOTENCY_UNSETTLED', mayHaveBeenDone: true },
    ]);
  });

  test('each lost one is found by its own key', async () => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    const keys = ['plain-1', 'plain-2', 'plain-3'];
    for (const key of keys) {
      service.spoiltAnswer = { status: 500, body: '' };
      await gateway.query(createTestkitAs(key));
    }
    const found = await Promise.all(keys.map((key) => gateway.query(createTestkitAs(key))));
    expect(found.map(({ data }) => data.createTestkitOrder.order.id).toReversed()).toEqual(
      service.orders.map(({ id }) => id),
    );
    expect(service.posts).toHaveLength(3);
  });

  test('none is chosen where two may be of a lost call, and it is never placed again', async () => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    service.orders.push(plainOrder(100, userId, { shipping: shippingDetails }));
    service.spoiltAnswer = { status: 500, body: '' };
    const answers = [await gateway.query(createTestkit), await gateway.query(createTestkit)];
    expect(answers.map(({ errors }) => errors?.[0].extensions)).toEqual([
      { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true },
      { code: 'IDEMPOTENCY_UNSETTLED', mayHaveBeenDone: true },
    ]);
    expect(service.posts).toHaveLength(1);
  });
});

test('one order is found in the list of a service that shows no path for one', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 3; index += 1) service.orders.push(plainOrder(index, userId));
  const [, second] = service.orders;
  const answer = await gateway.query(
    `{ known: order(id: "${second?.id}") { id } unknown: order(id: "${crypto.randomUUID()}") { id } }`,
  );
  const alone = await gateway.query(`{ order(id: "${second?.id}") { id } }`);
  expect(answer.data).toEqual({ known: { id: second?.id }, unknown: null });
  expect(alone.data).toEqual({ order: { id: second?.id } });
});

test('an order behind the first page is found by its id, alone and with others', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 250; index += 1) service.orders.push(plainOrder(index, userId));
  const [oldest, another] = [service.orders.at(-1), service.orders.at(150)];

  const alone = await gateway.query(`{ order(id: "${oldest?.id}") { id } }`);
  const both = await gateway.query(
    `{ a: order(id: "${oldest?.id}") { id } b: order(id: "${another?.id}") { id } }`,
  );

  expect(alone.data).toEqual({ order: { id: oldest?.id } });
  expect(both.data).toEqual({ a: { id: oldest?.id }, b: { id: another?.id } });
});

test('the orders of one operation are searched for together', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 250; index += 1) service.orders.push(plainOrder(index, userId));
  const known = service.orders.slice(150, 160).map(({ id }) => id);
  let pages = 0;
  service.beforeList = () => {
    pages += 1;
  };
  const unknown = known.map(() => crypto.randomUUID());
  const fields = [...known, ...unknown].map((id, at) => `f${at}: order(id: "${id}") { id }`);

  const { data } = await gateway.query(`{ ${fields.join(' ')} }`);

  expect(Object.values(data)).toEqual([...known.map((id) => ({ id })), ...unknown.map(() => null)]);
  expect(pages).toBe(3);
});

test('filters that the service ignores are applied to what it sends', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 5; index += 1)
    service.orders.push(plainOrder(index, index > 3 ? otherUser : userId));
  const [first, , third] = service.orders;
  const byId = await gateway.query(
    `{ orders(filter: { orderIds: ["${third?.id}"] }) { totalCount nodes { id } } }`,
  );
  const later = await gateway.query(
    '{ orders(filter: { updatedAfter: "2099-01-01T00:00:00Z" }) { nodes { id } } }',
  );
  const ofUser = await gateway.query('{ users { nodes { orders { nodes { userId } } } } }');
  expect(byId.data.orders).toEqual({ totalCount: null, nodes: [{ id: third?.id }] });
  expect(later.data.orders.nodes).toEqual([]);
  expect(ofUser.data.users.nodes[0].orders.nodes).toEqual(Array(3).fill({ userId }));
  expect(first).toBeDefined();
});

test.each(['createdBefore', 'updatedBefore'])(
  'a list up to the time that an order shows contains the order, although the service stores microseconds: %s',
  async (name) => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    service.filtersByTime = true;
    const [created_at, later] = ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.124000Z'];
    service.orders.push(
      { ...plainOrder(2, userId), created_at: later, updated_at: later },
      { ...plainOrder(1, userId), created_at, updated_at: created_at },
    );
    const list = (filter: string) =>
      gateway.query(`{ orders(first: 5, filter: ${filter}) { nodes { id createdAt updatedAt } } }`);
    const { data } = await list('{}');
    const order = data.orders.nodes.at(-1);

    const upToIt = await list(`{ ${name}: "${order.createdAt}" }`);

    expect(upToIt.data.orders.nodes).toEqual([order]);
  },
);

test('the snapshot of a user is found behind the orders of others', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 150; index += 1)
    service.orders.push(plainOrder(index, index > 148 ? userId : otherUser));
  const updates = await subscribeOverSse({
    url: gateway.url,
    token: gatewayKey,
    query: `subscription { userOrderUpdates(userId: "${userId}") { kind order { userId } } }`,
  });
  const snapshots = [await updates.next(), await updates.next()];
  expect(snapshots.map((item) => item?.data.userOrderUpdates)).toEqual(
    Array(2).fill({ kind: 'SNAPSHOT', order: { userId } }),
  );
  await updates.close();
});

test('the snapshot names each order once, though one is placed while it is read', async () => {
  await using service = await startPlainService();
  await using gateway = await openGateway(service);
  for (let index = 1; index <= 150; index += 1)
    service.orders.push(plainOrder(index, index > 98 ? userId : otherUser));
  service.beforeList = () => service.orders.unshift(plainOrder(1000 + service.orders.length, otherUser));
  const updates = await subscribeOverSse({
    url: gateway.url,
    token: gatewayKey,
    query: `subscription { userOrderUpdates(userId: "${userId}") { order { id } } }`,
  });
  const ids = new Set<string>();
  for (let count = 0; count < 52; count += 1) ids.add((await updates.next())?.data.userOrderUpdates.order.id);
  expect(ids.size).toBe(52);
  await updates.close();
});

test.each([
  ['all orders', 'orders', [userId]],
  ['the orders of a user among those of others', 'user', [userId, otherUser]],
])(
  '%s are walked with each one once, though the service cannot bound its list and orders are placed meanwhile',
  async (_name, list, owners) => {
    await using service = await startPlainService();
    await using gateway = await openGateway(service);
    const place = (index: number, owner: string) =>
      service.orders.unshift(plainOrder(index, owner, { at: new Date(Date.UTC(2026, 0, 1, 0, index)) }));
    for (let index = 1; index <= 40; index += 1) place(index, owners[index % owners.length] ?? userId);
    const own = service.orders.filter((order) => order.user_id === userId).map(({ id }) => id);

    const shown: string[] = [];
    for (let after = 'null'; after !== 'end'; ) {
      const orders = `orders(first: 4, after: ${after}) { nodes { id } pageInfo { hasNextPage endCursor } }`;
      const { data } = await gateway.query(
        `{ ${list === 'orders' ? orders : `users { nodes { ${orders} } }`} }`,
      );
      const { nodes, pageInfo } = data.orders ?? data.users.nodes[0].orders;
      shown.push(...nodes.map(({ id }: { id: string }) => id));
      after = pageInfo.hasNextPage ? JSON.stringify(pageInfo.endCursor) : 'end';
      place(100 + service.orders.length, userId);
    }
    expect(shown).toEqual(own);
  },
);

test('a service without the list of orders is not ready and says so, instead of having no orders', async () => {
  await using service = await startPlainService();
  const config = readTestConfig({
    SERVICE_URL: service.url,
    EVENT_LOG: 'memory:',
    SERVICE_ORDERS_PATH: '/elsewhere',
  });
  const gateway = await createGateway({
    config,
    log: createLog({ level: 'silent' }),
    serviceUrl: service.url,
  });
  const ready = await gateway.fetch(new Request('http://gateway/ready'));
  const answer = await gateway.fetch(
    graphqlRequest('http://gateway', { query: '{ orders { nodes { id } } }' }, gatewayKey),
  );
  expect(ready.status).toBe(503);
  expect((await answer.json()).errors[0].extensions.code).toBe('UPSTREAM_REJECTED');
  await gateway.close();
});
