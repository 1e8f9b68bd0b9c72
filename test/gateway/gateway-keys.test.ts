import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimits } from '../../gateway/auth/rate-limits.ts';
import { gatewayKey, type Lab, readTestConfig, startLab } from '../support/lab.ts';
import { labTestOf } from '../support/ordering.ts';
import { openSocket } from '../support/socket.ts';
import {
  type Subscribed,
  subscribeOverMultipart,
  subscribeOverSse,
  subscribeOverWebSocket,
} from '../support/subscribe.ts';

const secondKey = 'another-gateway-key';
let lab: Lab;

beforeAll(async () => {
  lab = await startLab({ env: { EVENT_LOG: 'memory:', GATEWAY_API_KEYS: `${gatewayKey},${secondKey}` } });
});
afterAll(() => lab[Symbol.asyncDispose]());

test('each gateway key has points and connections of its own', async () => {
  const keys = ['key-11111111', 'key-22222222'].map((keyName) => ({ kind: 'TEAM', keyName }) as const);
  const options = { pointsPerMinute: 10, connections: 1, operationsPerSocket: 1, runShared: null };
  const { pay, connect } = createRateLimits(options);
  const [first, second] = keys;
  if (first === undefined || second === undefined) throw new Error('There are two keys.');
  await pay(first, 10);
  for (let count = 0; count < 20; count += 1) connect(first);

  await expect(pay(first, 1)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(() => connect(first)).toThrow();
  await pay(second, 10);
  connect(second);
});

test('a cursor of one key goes on with another: a rotation interrupts no stream', async () => {
  const order = lab.sandbox.orders().find(({ status }) => status.endsWith('.ordered'));
  const follow = (token: string, after: string) =>
    subscribeOverSse({
      url: lab.url,
      token,
      query: `subscription { orderUpdates(orderId: "${order?.orderId}"${after}) { kind cursor } }`,
    });
  const before = await follow(gatewayKey, '');
  const shown = (await before.next())?.data.orderUpdates;
  await before.close();
  await lab.query(`mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`);

  const after = await follow(secondKey, `, after: "${shown.cursor}"`);
  expect((await after.next())?.data.orderUpdates.kind).toBe('CHANGED');
  await after.close();
});

test('what was ordered under an idempotency key with one key is not ordered again with another', async () => {
  const shippingDetails = `{ receiverName: "R", firstLine: "1 A Street", city: "Phoenix", state: "AZ", zip: "85004",
    country: "US", phoneNumber: "+16025550143" }`;
  const text = `mutation { createTestkitOrder(input: { userId: "${lab.sandbox.users()[0]?.userId}",
    labTestId: "${labTestOf(lab, 'testkit')}", idempotencyKey: "rotated", shippingDetails: ${shippingDetails} }) {
    ... on OrderCreated { order { id } } } }`;
  const first = await lab.query(text);
  const orders = lab.sandbox.orders().length;
  expect(await lab.query(text, { token: secondKey })).toEqual(first);
  expect(first.data.createTestkitOrder.order.id).toMatch(/-/);
  expect(lab.sandbox.orders()).toHaveLength(orders);
});

describe('a key that is removed', () => {
  const removedKey = 'a-gateway-key-that-goes';
  const ticks = 'subscription { events { type } }';

  const keep = (other: Lab, keys: string) =>
    other.gateway.useSecrets(readTestConfig({ SERVICE_URL: other.serviceUrl, GATEWAY_API_KEYS: keys }));

  /** What a stream gave, and what it ended with: null, or the close of its socket. */
  async function readToEnd(stream: Subscribed) {
    const seen: unknown[] = [];
    try {
      for (let item = await stream.next(); item !== null; item = await stream.next()) seen.push(item.data);
      return { seen, closed: null };
    } catch (closed) {
      return { seen, closed };
    }
  }

  test.each([
    [
      'WebSocket, closed with 4403',
      subscribeOverWebSocket,
      expect.objectContaining({ code: 4403, reason: 'Key removed' }),
    ],
    ['SSE, closed', subscribeOverSse, null],
    ['multipart, cut before its last boundary', subscribeOverMultipart, expect.any(Error)],
  ])('ends its streams, and those of the others go on: %s', async (_name, subscribe, end) => {
    await using other = await startLab({ env: { GATEWAY_API_KEYS: `${removedKey},${gatewayKey}` } });
    const send = (type: string) =>
      other.sandbox.webhooks.send(type, {}, { userId: other.sandbox.users()[0]?.userId ?? '' });
    const follow = (token: string) => subscribe({ url: other.url, token, query: ticks });
    const [removed, kept] = [await follow(removedKey), await follow(gatewayKey)];
    const reading = readToEnd(removed);
    const first = kept.next();
    await expect.poll(() => countStreams(other)).toBe(2);
    send('before.removal');
    expect((await first)?.data.events.type).toBe('before.removal');

    keep(other, gatewayKey);
    const { seen, closed } = await reading;
    send('after.removal');

    expect(seen).toEqual([{ events: { type: 'before.removal' } }]);
    expect(closed).toEqual(end);
    expect((await kept.next())?.data.events.type).toBe('after.removal');
    await kept.close();
  });

  test('does nothing more over a socket that it has opened', async () => {
    await using other = await startLab({ env: { GATEWAY_API_KEYS: `${removedKey},${gatewayKey}` } });
    const [removed, kept] = [openSocket(other, removedKey), openSocket(other, gatewayKey)];
    const kind = '{ viewer { kind } }';
    const answer = { data: { viewer: { kind: 'TEAM' } } };
    expect(await Promise.all([removed.ask(kind), kept.ask(kind)])).toEqual([answer, answer]);

    keep(other, gatewayKey);

    expect(await removed.ask(kind)).not.toMatchObject(answer);
    expect(await removed.closed).toBe(4403);
    expect(await kept.ask(kind)).toEqual(answer);
    await kept.client.dispose();
  });

  test('works again once it is listed again', async () => {
    await using other = await startLab({ env: { GATEWAY_API_KEYS: `${removedKey},${gatewayKey}` } });
    keep(other, gatewayKey);
    expect(await openSocket(other, removedKey).closed).toBe(4403);

    keep(other, `${gatewayKey},${removedKey}`);

    const socket = openSocket(other, removedKey);
    expect(await socket.ask('{ viewer { kind } }')).toEqual({ data: { viewer: { kind: 'TEAM' } } });
    await socket.client.dispose();
  });
});

async function countStreams({ url }: Lab): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^labgraph_subscriptions\{.*\} (\d+)$/gm)].map(([, count]) =>
    Number(count),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
