import { expect, test } from 'vitest';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { at, type OpenSandbox, openSandbox, shippingDetails } from './support.ts';

interface Order {
  readonly id: string;
  readonly status: string;
  readonly events: readonly { readonly id: number; readonly status: string }[];
  readonly last_event: unknown;
}

function testkitOf({ sandbox }: OpenSandbox, more: object = {}) {
  return {
    user_id: at(sandbox.users(), 0).userId,
    lab_test_id: at(sandbox.labTests(), 0).labTestId,
    shipping_details: shippingDetails,
    ...more,
  };
}

test('A testkit order is received, ordered first and then awaiting its registration', async () => {
  await using service = openSandbox();
  const body = testkitOf(service, { passthrough: 'basket 12' });
  const { status, body: answer } = await service.ask<{ order: Order }>('POST', '/v3/order/testkit', body);
  expect(status).toBe(200);
  expect(answer).toMatchObject({
    status: 'success',
    message: 'Order created successfully',
    order: {
      user_id: body.user_id,
      team_id: service.sandbox.teamId,
      status: 'received',
      events: [
        { status: 'received.testkit.ordered', status_detail: null },
        { status: 'received.testkit.awaiting_registration', status_detail: null },
      ],
      patient_details: null,
      patient_address: null,
      shipping_details: { ...shippingDetails, second_line: null, country: 'United States' },
      details: { type: 'testkit', data: { shipment: null } },
      lab_test: { id: body.lab_test_id, method: 'testkit', markers: null },
      order_transaction: {
        status: 'active',
        orders: [{ origin: 'initial', low_level_status: 'awaiting_registration' }],
      },
      origin: 'initial',
      passthrough: 'basket 12',
    },
  });
  expect(answer.order.last_event).toEqual(answer.order.events.at(-1));
  expect(await service.ask('GET', `/v3/order/${answer.order.id}`)).toEqual({
    status: 200,
    body: answer.order,
  });
});

test('A kit is ordered on the lab account that is named, if it is an open one of its lab', async () => {
  await using service = openSandbox();
  const answers = await Promise.all(
    createLabAccounts(1).map(({ id: lab_account_id }) =>
      service.ask('POST', '/v3/order/testkit', testkitOf(service, { lab_account_id })),
    ),
  );
  // The first is open; the second is of another lab; the third is still pending.
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400]);
});

test.each([
  ['US', 'United States'],
  ['gb', 'United Kingdom'],
])('The country %s is returned as %s', async (country, fullName) => {
  await using service = openSandbox();
  const body = testkitOf(service, { shipping_details: { ...shippingDetails, country } });
  const answer = await service.ask('POST', '/v3/order/testkit', body);
  expect(answer.body).toMatchObject({ order: { shipping_details: { country: fullName } } });
});

test.each([
  ['zip', '8500', 'string_pattern_mismatch'],
  ['country', 'Atlantis', 'value_error'],
  ['country', 'United States', 'value_error'],
  ['phone_number', '602 555 0100', 'string_pattern_mismatch'],
  ['state', 'Arizona', 'string_pattern_mismatch'],
  ['city', 12, 'string_type'],
])('A kit is not sent to the %s %s', async (name, value, type) => {
  await using service = openSandbox();
  const body = testkitOf(service, { shipping_details: { ...shippingDetails, [name]: value } });
  const answer = await service.ask('POST', '/v3/order/testkit', body);
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    detail: [{ type, loc: ['body', 'shipping_details', name], input: value }],
  });
});

test.each(['receiver_name', 'first_line', 'city', 'state', 'zip', 'country', 'phone_number'])(
  'A kit needs the %s of its receiver',
  async (name) => {
    await using service = openSandbox();
    const { [name as keyof typeof shippingDetails]: _, ...incomplete } = shippingDetails;
    const body = testkitOf(service, { shipping_details: incomplete });
    const answer = await service.ask('POST', '/v3/order/testkit', body);
    expect(answer).toEqual({
      status: 422,
      body: {
        detail: [
          {
            type: 'missing',
            loc: ['body', 'shipping_details', name],
            msg: 'Field required',
            input: incomplete,
          },
        ],
      },
    });
  },
);

test('A testkit order names a known user and a lab test done with a testkit', async () => {
  await using service = openSandbox();
  const unknown = '00000000-0000-4000-8000-000000000000';
  const noUser = await service.ask('POST', '/v3/order/testkit', testkitOf(service, { user_id: unknown }));
  const noTest = await service.ask('POST', '/v3/order/testkit', testkitOf(service, { lab_test_id: unknown }));
  const walkIn = testkitOf(service, { lab_test_id: at(service.sandbox.labTests(), 2).labTestId });
  const wrongMethod = await service.ask('POST', '/v3/order/testkit', walkIn);
  expect([noUser.status, noTest.status, wrongMethod.status]).toEqual([404, 404, 400]);
  expect(service.sandbox.orders()).toHaveLength(48);
});

test('A body that is not JSON is 422, as is none at all', async () => {
  await using service = openSandbox();
  const { sandbox } = service;
  const headers = { 'x-service-api-key': 'sk_sandbox_of_the_tests' };
  const request = new Request('http://sandbox.test/v3/order/testkit', {
    method: 'POST',
    headers,
    body: '{"a',
  });
  const answer = await sandbox.fetch(request);
  expect(answer.status).toBe(422);
  expect(await answer.json()).toMatchObject({ detail: [{ type: 'json_invalid', loc: ['body', 0] }] });
  expect(await service.ask('POST', '/v3/order/testkit')).toEqual({
    status: 422,
    body: { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] },
  });
});

test('Orders that do not exist are 404 in the words of the service', async () => {
  await using service = openSandbox();
  const path = '/v3/order/00000000-0000-4000-8000-000000000000';
  const missing = { status: 404, body: { detail: "This order doesn't exist" } };
  expect(await service.ask('GET', path)).toEqual(missing);
  expect(await service.ask('POST', `${path}/cancel`)).toEqual(missing);
  expect(await service.ask('POST', `${path}/test`)).toEqual(missing);
  expect((await service.ask('GET', '/v3/order/zzz')).status).toBe(422);
});

test('The seeded orders cover all methods and all stages, and their event ids grow over the service', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<{ orders: Order[] }>('GET', '/orders?size=100&order_direction=asc');
  const orders = service.sandbox.orders();
  expect(body.orders).toHaveLength(48);
  expect(new Set(orders.map((order) => order.method)).size).toBe(4);
  expect(new Set(body.orders.map((order) => order.status))).toEqual(
    new Set(['received', 'collecting_sample', 'sample_with_lab', 'completed', 'failed', 'cancelled']),
  );
  const eventIds = body.orders.flatMap((order) => order.events.map((event) => event.id));
  expect(eventIds).toEqual(eventIds.map((_, position) => 728_001 + position));
});

test('A redraw belongs to the transaction of the order it repeats', async () => {
  await using service = openSandbox();
  const parent = at(service.sandbox.orders(), 10);
  const redraw = at(service.sandbox.orders(), 11);
  const { body } = await service.ask('GET', `/v3/order/${redraw.orderId}`);
  expect(body).toMatchObject({
    origin: 'redraw',
    order_transaction: {
      status: 'active',
      orders: [
        { id: parent.orderId, origin: 'initial', parent_id: null, low_level_status: 'redraw_available' },
        { id: redraw.orderId, origin: 'redraw', parent_id: parent.orderId },
      ],
    },
  });
});
