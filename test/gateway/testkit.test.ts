import { expect, test } from 'vitest';
import { type Lab, serviceKey, startLab } from '../support/lab.ts';

const createTestkit = `mutation ($input: CreateTestkitOrderInput!) {
  createTestkitOrder(input: $input) {
    __typename
    ... on OrderCreated {
      order { id userId passthrough status { raw } events { status { raw } } shippingAddress { country countryCode } }
      serviceStatus cursor
    }
    ... on UserError { code message }
    ... on InputRejected { issues { path message } }
  }
}`;

function kitInput(lab: Lab, more: Readonly<Record<string, unknown>> = {}) {
  return {
    userId: lab.sandbox.users()[0]?.userId,
    labTestId: lab.sandbox.labTests().find(({ method }) => method === 'testkit')?.labTestId,
    idempotencyKey: 'order-1',
    shippingDetails: {
      receiverName: 'Avery Sample',
      firstLine: '100 Example Street',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'US',
      phoneNumber: '+16025550100',
    },
    ...more,
  };
}

async function create(lab: Lab, more: Readonly<Record<string, unknown>> = {}, token?: string) {
  const answer = await lab.query(createTestkit, {
    variables: { input: kitInput(lab, more) },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.createTestkitOrder ?? answer;
}

const posts = (lab: Lab) => lab.sandbox.calls.filter((call) => call === 'POST /v3/order/testkit').length;

test('a testkit order comes back with its two events in order', async () => {
  await using lab = await startLab();
  const created = await create(lab, { passthrough: 'shelf 7' });
  expect(created).toMatchObject({
    __typename: 'OrderCreated',
    serviceStatus: 'success',
    order: {
      passthrough: 'shelf 7',
      status: { raw: 'received.testkit.awaiting_registration' },
      events: [
        { status: { raw: 'received.testkit.ordered' } },
        { status: { raw: 'received.testkit.awaiting_registration' } },
      ],
      shippingAddress: { country: 'United States', countryCode: 'US' },
    },
  });
});

test('a second call with the same key gives the same answer without a second call to the service', async () => {
  await using lab = await startLab();
  const first = await create(lab);
  const second = await create(lab);
  expect(second.order).toEqual(first.order);
  expect(posts(lab)).toBe(1);
});

test('ten equal calls at once place one order', async () => {
  await using lab = await startLab();
  const created = await Promise.all(Array.from({ length: 10 }, () => create(lab)));
  expect(new Set(created.map(({ order }) => order.id)).size).toBe(1);
  expect(posts(lab)).toBe(1);
});

test('another input under the same key is a conflict and reaches nobody', async () => {
  await using lab = await startLab();
  await create(lab);
  expect(await create(lab, { passthrough: 'other' })).toMatchObject({
    __typename: 'IdempotencyConflict',
    code: 'IDEMPOTENCY_CONFLICT',
  });
  expect(posts(lab)).toBe(1);
});

test('the same key of another caller is another key', async () => {
  await using lab = await startLab();
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const token = await lab.tokenFor(userId, { scopes: ['read:orders', 'write:orders'] });
  const [one, two] = [await create(lab), await create(lab, {}, token)];
  expect(one.order.id).not.toBe(two.order.id);
});

function loseNextAnswer({ sandbox }: Lab): void {
  sandbox.faults.add({
    method: 'POST',
    path: '/v3/order/testkit',
    times: 1,
    effect: { kind: 'lostAnswer' },
  });
}

test('a lost answer is recovered: the caller gets the order that was made', async () => {
  await using lab = await startLab();
  loseNextAnswer(lab);
  const before = lab.sandbox.orders().length;
  const created = await create(lab);
  const again = await create(lab);
  expect(created.__typename).toBe('OrderCreated');
  expect(again.order).toEqual(created.order);
  expect(lab.sandbox.orders()).toHaveLength(before + 1);
});

test('a lost answer is recovered by its reference, among equal orders that were placed without the gateway', async () => {
  await using lab = await startLab();
  const { userId, labTestId, shippingDetails } = kitInput(lab);
  const { receiverName, firstLine, phoneNumber, ...address } = shippingDetails;
  const shipping = {
    ...address,
    receiver_name: receiverName,
    first_line: firstLine,
    phone_number: phoneNumber,
  };
  const body = JSON.stringify({ user_id: userId, lab_test_id: labTestId, shipping_details: shipping });
  const headers = { 'x-service-api-key': serviceKey, 'content-type': 'application/json' };
  const placed = await fetch(`${lab.serviceUrl}/v3/order/testkit`, { method: 'POST', headers, body });
  const { order } = (await placed.json()) as { readonly order: { readonly id: string } };
  loseNextAnswer(lab);
  const before = lab.sandbox.orders().length;
  const created = await create(lab);
  expect(created.__typename).toBe('OrderCreated');
  expect(created.order.id).not.toBe(order.id);
  expect(lab.sandbox.orders()).toHaveLength(before + 1);
});

test('a failed call that did nothing frees the key', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({
    method: 'POST',
    path: '/v3/order/testkit',
    times: 1,
    effect: { kind: 'serverError' },
  });
  const failed = await create(lab);
  expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  expect((await create(lab)).__typename).toBe('OrderCreated');
  expect(posts(lab)).toBe(2);
});

test('a wrong address is reported field by field before the service is asked, never with the value', async () => {
  await using lab = await startLab();
  const rejected = await create(lab, {
    shippingDetails: { ...kitInput(lab).shippingDetails, country: 'Atlantis', phoneNumber: '602 555 0100' },
  });
  expect(rejected.issues.map(({ path }: { path: string[] }) => path)).toEqual([
    ['shippingDetails', 'country'],
    ['shippingDetails', 'phoneNumber'],
  ]);
  expect(JSON.stringify(rejected)).not.toContain('Atlantis');
  expect(lab.sandbox.calls).toEqual([]);
});

test("the service's own refusals come back in the names of the graph", async () => {
  await using lab = await startLab();
  const rejected = await create(lab, {
    shippingDetails: { ...kitInput(lab).shippingDetails, zip: 'ABCDE-secret' },
  });
  expect(rejected).toMatchObject({
    __typename: 'InputRejected',
    issues: [{ path: ['shippingDetails', 'zip'] }],
  });
  expect(JSON.stringify(rejected)).not.toContain('secret');
  const unknown = await create(lab, { userId: crypto.randomUUID(), idempotencyKey: 'order-2' });
  expect(unknown).toMatchObject({ __typename: 'NotFound', code: 'NOT_FOUND' });
});

test('the cursor of a new order shows every later change and not the two events it came with', async () => {
  await using lab = await startLab();
  const created = await create(lab);
  await lab.sandbox.webhooks.settled();
  const { subscribeOverSse } = await import('../support/subscribe.ts');
  const updates = await subscribeOverSse({
    url: lab.url,
    token: 'test-gateway-key',
    query:
      'subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) { kind event { status { raw } } } }',
    variables: { id: created.order.id, after: created.cursor },
  });
  await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', {
    variables: { id: created.order.id },
  });
  expect((await updates.next())?.data.orderUpdates).toEqual({
    kind: 'CHANGED',
    event: { status: { raw: 'collecting_sample.testkit.transit_customer' } },
  });
  await updates.close();
});
