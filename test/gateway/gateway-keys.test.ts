import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRateLimits } from '../../gateway/auth/rate-limits.ts';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { labTestOf } from '../support/ordering.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

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
