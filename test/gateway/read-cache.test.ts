import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fillDisk } from '../support/full-disk.ts';
import { gatewayKey, graphqlRequest, type Lab, readAnew, startLab } from '../support/lab.ts';
import { startRedis } from '../support/redis.ts';

const nested = '{ users(first: 3) { nodes { id orders(first: 2) { nodes { id } } } } }';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: { EVENT_LOG: 'memory:' } });
});
afterAll(() => lab[Symbol.asyncDispose]());
beforeEach(async () => {
  // What an earlier test left: an event of nobody touches everything that follows events.
  lab.sandbox.webhooks.send('labtest.match_review.created', {}, { userId: '' });
  await lab.sandbox.webhooks.settled();
  lab.sandbox.clearCalls();
});

/** What a query asks of the service, without the parts that only page and sort. */
async function callsOf(query: string, token = gatewayKey, on: Lab = lab): Promise<readonly string[]> {
  on.sandbox.clearCalls();
  expect((await on.query(query, { token })).errors).toBeUndefined();
  return on.sandbox.calls.map((call) =>
    call.replace(/(\?|&)(page|size|order_key|order_direction|offset|limit)=[^&]*/g, ''),
  );
}

function orderOf(place: number) {
  const order = lab.sandbox.orders()[place];
  if (order === undefined) throw new Error(`There is no order ${place}.`);
  return order;
}

/** Has the service report an order as it is. */
async function sendWebhook({ orderId, userId }: { readonly orderId: string; readonly userId: string }) {
  const payload = {
    id: orderId,
    user_id: userId,
    events: [{ id: 1, status: 'received.walk_in_test.ordered' }],
  };
  lab.sandbox.webhooks.send('labtest.order.updated', payload, { userId, orderId });
  await lab.sandbox.webhooks.settled();
}

describe('what was asked a moment ago', () => {
  test('is answered without asking the service, and the answer says so', async () => {
    const traced = async () => {
      const request = graphqlRequest(lab.url, { query: nested }, gatewayKey);
      request.headers.set('x-labgraph-trace', 'upstream');
      const { data, extensions } = await (await lab.gateway.fetch(request)).json();
      const { ms: _, ...counts } = extensions.upstream;
      return { data, counts };
    };
    const first = await traced();
    expect(first.counts).toEqual({ calls: 4, shared: 0, cached: 0 });
    expect(await traced()).toEqual({ data: first.data, counts: { calls: 0, shared: 0, cached: 4 } });
  });

  test.each([
    ['users', '{ users(first: 2) { nodes { id clientUserId } } }'],
    ['labs', '{ labs { id } }'],
    ['lab tests', '{ labTests(first: 2) { nodes { id } } }'],
    ['markers', '{ markers(first: 2) { nodes { id } } }'],
    ['lab accounts', '{ labAccounts { id } }'],
  ])('%s: is not asked for again', async (_name, query) => {
    await callsOf(query);
    expect(await callsOf(query)).toEqual([]);
  });

  test('is read again where caching is off', async () => {
    await using forgetful = await startLab({ env: { ...readAnew, EVENT_LOG: 'memory:' } });
    const first = await callsOf(nested, gatewayKey, forgetful);
    expect(first).toHaveLength(4);
    expect(await callsOf(nested, gatewayKey, forgetful)).toEqual(first);
  });

  test('is asked for again when it was not there or failed', async () => {
    const missing = '{ order(id: "0f2c8f5e-0000-4000-8000-00000000000a") { id } }';
    const asked = await callsOf(missing);
    expect(asked[0]).toBe('GET /v3/order/0f2c8f5e-0000-4000-8000-00000000000a');
    expect((await callsOf(missing))[0]).toBe(asked[0]);

    lab.sandbox.faults.add({
      path: '/v2/user/',
      times: 1,
      effect: { kind: 'answer', status: 400, body: '{}' },
    });
    expect((await lab.query('{ users(first: 4) { nodes { id } } }')).errors).toHaveLength(1);
    expect(await callsOf('{ users(first: 4) { nodes { id } } }')).toEqual(['GET /v2/user/']);
  });
});

describe('an event', () => {
  test('of an order has its order and the lists it can be in read again, and no other', async () => {
    const [one, other] = [
      orderOf(0),
      lab.sandbox.orders().find(({ userId }) => userId !== orderOf(0).userId),
    ];
    if (other === undefined) throw new Error('All orders are of one user.');
    const listOf = (userId: string) => `{ user(id: "${userId}") { orders(first: 5) { nodes { id } } } }`;
    const [own, foreign] = [listOf(one.userId), listOf(other.userId)];
    const all = '{ orders(first: 5) { nodes { id } } }';
    const single = (id: string) => `{ order(id: "${id}") { id } }`;
    for (const query of [own, foreign, all, single(one.orderId), single(other.orderId)]) await callsOf(query);

    await sendWebhook(one);

    expect(await callsOf(own)).toEqual([`GET /orders?user_id=${one.userId}`]);
    expect(await callsOf(foreign)).toEqual([]);
    expect(await callsOf(all)).toEqual(['GET /orders']);
    expect(await callsOf(single(one.orderId))).toEqual([`GET /v3/order/${one.orderId}`]);
    expect(await callsOf(single(other.orderId))).toEqual([]);
  });

  test('of a connection has its user read again, alone and in lists, and no other', async () => {
    const [one, other] = lab.sandbox.users();
    const of = (userId = '') => `{ user(id: "${userId}") { connections { source { slug } } } }`;
    const list = '{ users(first: 1) { nodes { id connectedSources { createdAt } } } }';
    for (const query of [of(one?.userId), of(other?.userId), list]) await callsOf(query);

    lab.sandbox.webhooks.send('provider.connection.created', {}, { userId: one?.userId ?? '' });
    await lab.sandbox.webhooks.settled();

    expect(await callsOf(of(one?.userId))).toEqual([
      `GET /v2/user/${one?.userId}`,
      `GET /v2/user/providers/${one?.userId}`,
    ]);
    expect(await callsOf(of(other?.userId))).toEqual([]);
    expect(await callsOf(list)).toEqual(['GET /v2/user/']);
  });

  test('of anything leaves catalogues as they are', async () => {
    await callsOf('{ labs { id } }');
    await sendWebhook(orderOf(0));
    expect(await callsOf('{ labs { id } }')).toEqual([]);
  });
});

test('our own write has what it is about read again', async () => {
  const [one, other] = lab.sandbox.users();
  const of = (userId = '') => `{ user(id: "${userId}") { clientUserId } }`;
  await callsOf(of(one?.userId));
  await callsOf(of(other?.userId));
  const rename =
    'mutation ($id: ID!) { updateUser(input: { id: $id, clientUserId: "renamed" }) { __typename } }';
  await lab.query(rename, { variables: { id: one?.userId } });

  expect((await lab.query(of(one?.userId))).data.user.clientUserId).toBe('renamed');
  expect(await callsOf(of(other?.userId))).toEqual([]);
});

test('results, appointments, demographics and backfills are asked for each time', async () => {
  const done = lab.sandbox.orders().find(({ status }) => status.endsWith('completed'));
  const query = `{ order(id: "${done?.orderId}") { results { biomarkers { value } } resultMetadata { laboratory } appointment { id } } }`;
  const first = await callsOf(query);
  // The order itself as well: whose it is now decides about what hangs on it.
  expect(first[0]).toBe(`GET /v3/order/${done?.orderId}`);
  expect(await callsOf(query)).toEqual(first);

  const ofUser = `{ user(id: "${done?.userId}") { demographics { firstName } historicalPulls { providerSlug } } }`;
  const [, ...parts] = await callsOf(ofUser);
  expect(parts).toHaveLength(2);
  expect(await callsOf(ofUser)).toEqual(parts);
});

test('a cached read of one caller is never shown to another who may not see it', async () => {
  const { userId, orderId } = orderOf(0);
  const list = '{ orders(first: 100) { nodes { id } } }';
  const read = async (token: string) =>
    (await lab.query(list, { token })).data.orders.nodes.map(({ id }: { id: string }) => id);
  const [whole, narrow] = [await lab.tokenFor(userId), await lab.tokenFor(userId, { orderIds: [orderId] })];
  const stranger = await lab.tokenFor(
    lab.sandbox.users().find((user) => user.userId !== userId)?.userId ?? '',
  );
  const team = await read(gatewayKey);
  const own = await read(whole);

  expect(team.length).toBeGreaterThan(own.length);
  expect(await read(narrow)).toEqual([orderId]);
  expect(await read(stranger)).not.toEqual(expect.arrayContaining(own));
  expect([await read(gatewayKey), await read(whole), await read(narrow)]).toEqual([team, own, [orderId]]);
  expect((await lab.query(`{ order(id: "${orderId}") { id } }`, { token: stranger })).data.order).toBeNull();
});

describe('while webhooks cannot be stored', () => {
  const readUncacheable = async (on: Lab) => {
    const text = await (await on.gateway.fetch(new Request(`${on.url}/metrics`))).text();
    return text.split('\n').find((line) => line.startsWith('labgraph_read_cache_total{outcome="unheard"}'));
  };

  test('because the disk is full, users and orders are read each time, until a webhook is stored again', async () => {
    await using full = await startLab({ eventLog: 'sqlite' });
    const first = await callsOf(nested, gatewayKey, full);
    const order = full.sandbox.orders()[0];
    const send = () =>
      full.sandbox.webhooks.send(
        'labtest.order.updated',
        { id: order?.orderId },
        { userId: order?.userId ?? '' },
      );
    const refused = async () => {
      const text = await (await full.gateway.fetch(new Request(`${full.url}/metrics`))).text();
      return /^labgraph_webhooks_total\{outcome="unavailable"\} [1-9]/m.test(text);
    };
    {
      using _ = fillDisk();
      send();
      await expect.poll(refused).toBe(true);
      expect(await callsOf(nested, gatewayKey, full)).toEqual(first);
      expect(await callsOf(nested, gatewayKey, full)).toEqual(first);
    }
    await full.sandbox.webhooks.settled();
    await callsOf(nested, gatewayKey, full);
    expect(await callsOf(nested, gatewayKey, full)).toEqual([]);
    expect(await readUncacheable(full)).toBe('labgraph_read_cache_total{outcome="unheard"} 8');
  });

  test('because Redis is away, users and orders are asked for each time, and catalogues are not', async () => {
    await using redis = await startRedis();
    await using away = await startLab({ env: { EVENT_LOG: redis.newUrl() } });
    const first = await callsOf(nested, gatewayKey, away);
    await callsOf('{ labs { id } }', gatewayKey, away);
    await redis.kill();
    expect(await callsOf(nested, gatewayKey, away)).toEqual(first);
    expect(await callsOf(nested, gatewayKey, away)).toEqual(first);
    expect(await callsOf('{ labs { id } }', gatewayKey, away)).toEqual([]);
  });
});
