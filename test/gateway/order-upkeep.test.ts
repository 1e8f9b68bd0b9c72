import { describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { json, startMisbehavingService } from '../support/misbehaving-service.ts';
import { patient } from '../support/ordering.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const createOrder = `mutation ($input: CreateOrderInput!) {
  createOrder(input: $input) { ... on OrderCreated { order { id userId } } }
}`;
const updateOrder = `mutation ($input: UpdateOrderInput!) {
  updateOrder(input: $input) {
    __typename
    ... on OrderUpdated { order { id activateBy } }
    ... on UserError { code message }
    ... on InputRejected { issues { path message } }
    ... on OrderUpdateRefused { status { step } order { activateBy } }
  }
}`;
const cancelOrder = `mutation ($id: ID!) {
  cancelOrder(id: $id) {
    __typename
    ... on OrderCancelled { order { id status { stage } } }
    ... on CancelRefused { code message status { step label } order { id } }
    ... on NotFound { code }
  }
}`;
const resend = `mutation ($input: ResendOrderEventsInput!) {
  resendOrderEvents(input: $input) {
    __typename
    ... on OrderEventsResent { orderIds }
    ... on UserError { code message }
    ... on InputRejected { issues { path } }
  }
}`;

async function place(lab: Lab, more: object = {}): Promise<string> {
  const labTest = lab.sandbox.labTests().find(({ method }) => method === 'walk_in_test');
  const input = {
    userId: lab.sandbox.users()[0]?.userId,
    orderSet: { labTestIds: [labTest?.labTestId] },
    idempotencyKey: crypto.randomUUID(),
    ...patient,
    ...more,
  };
  const { data } = await lab.query(createOrder, { variables: { input } });
  return data.createOrder.order.id;
}

async function run(lab: Lab, query: string, variables: object, token?: string) {
  const answer = await lab.query(query, {
    variables: { ...variables },
    ...(token === undefined ? {} : { token }),
  });
  const [result] = Object.values(answer.data ?? {});
  // biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
  return (result ?? answer) as any;
}

describe('updateOrder', () => {
  const update = (lab: Lab, input: object, token?: string) => run(lab, updateOrder, { input }, token);

  test('moves a scheduled order to another day, and lets it go', async () => {
    await using lab = await startLab();
    const id = await place(lab, { activateBy: '2999-01-01' });
    const moved = await update(lab, { id, activateBy: '2999-02-01' });
    const gone = await update(lab, { id, activateBy: null });
    expect(moved).toEqual({ __typename: 'OrderUpdated', order: { id, activateBy: '2999-02-01' } });
    expect(gone).toEqual({ __typename: 'OrderUpdated', order: { id, activateBy: null } });
  });

  test('does nothing when the day was forgotten', async () => {
    await using lab = await startLab();
    const id = await place(lab, { activateBy: '2999-01-01' });
    lab.sandbox.clearCalls();
    expect(await update(lab, { id })).toMatchObject({
      __typename: 'InputRejected',
      issues: [{ path: ['activateBy'] }],
    });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('distinguishes a day that is over from an order that cannot be moved', async () => {
    await using lab = await startLab();
    const id = await place(lab, { activateBy: '2999-01-01' });
    const unscheduled = await place(lab);
    const past = await update(lab, { id, activateBy: '2020-01-01' });
    const never = await update(lab, { id: unscheduled, activateBy: '2999-01-01' });
    await lab.query(`mutation { simulateOrder(id: "${id}") { __typename } }`);
    const late = await update(lab, { id, activateBy: '2999-02-01' });
    expect(past).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['activateBy'] }] });
    expect(never).toMatchObject({
      __typename: 'OrderUpdateRefused',
      code: 'ORDER_UPDATE_REFUSED',
      status: { step: 'ORDERED' },
      order: { activateBy: null },
    });
    expect(late).toMatchObject({
      __typename: 'OrderUpdateRefused',
      status: { step: 'REQUISITION_CREATED' },
    });
  });

  test('after a lost answer reports the state of the order', async () => {
    await using lab = await startLab();
    const id = await place(lab, { activateBy: '2999-01-01' });
    lab.sandbox.faults.add({ method: 'PATCH', path: '/v3/order/', times: 1, effect: { kind: 'lostAnswer' } });
    const done = await update(lab, { id, activateBy: '2999-02-01' });
    lab.sandbox.faults.add({ method: 'PATCH', path: '/v3/order/', effect: { kind: 'serverError' } });
    const failed = await update(lab, { id, activateBy: '2999-03-01' });
    expect(done).toMatchObject({ __typename: 'OrderUpdated', order: { activateBy: '2999-02-01' } });
    expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  });

  test('is a matter of the own orders and of the scope', async () => {
    await using lab = await startLab();
    const id = await place(lab, { activateBy: '2999-01-01' });
    const [mine, theirs] = lab.sandbox.users();
    const scopes = ['read:orders', 'write:orders'];
    const token = await lab.tokenFor(theirs?.userId ?? '', { scopes });
    const foreign = await update(lab, { id, activateBy: null }, token);
    const random = await update(lab, { id: crypto.randomUUID(), activateBy: null }, token);
    const reader = await lab.tokenFor(mine?.userId ?? '');
    const denied = await update(lab, { id, activateBy: null }, reader);
    expect(foreign.__typename).toBe('NotFound');
    expect(foreign).toEqual(random);
    expect(denied.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(lab.sandbox.calls.filter((call) => call.startsWith('PATCH'))).toEqual([]);
  });
});

describe('simulateOrder in production', () => {
  test.each(['production-us', 'production-eu'])('is not for %s: no call is made', async (deployment) => {
    const name = `SERVICE_URL_${deployment.toUpperCase().replace('-', '_')}`;
    await using lab = await startLab({
      env: { SERVICE_DEPLOYMENT: deployment, [name]: 'https://lab.example.com' },
    });
    lab.sandbox.clearCalls();
    const { data, errors } = await lab.query(
      `mutation { simulateOrder(input: { id: "${crypto.randomUUID()}" }) { __typename ... on UserError { code message } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.simulateOrder).toEqual({
      __typename: 'FeatureNotEnabled',
      code: 'FEATURE_NOT_ENABLED',
      message:
        'Orders are simulated in sandbox deployments only, and this service is a production deployment.',
    });
    expect(lab.sandbox.calls).toEqual([]);
  });
});

describe('cancelOrder', () => {
  const cancel = (lab: Lab, id: string | undefined) => run(lab, cancelOrder, { id });

  test('cancels a new order once; a second time is refused with the present status', async () => {
    await using lab = await startLab();
    const id = await place(lab);
    expect(await cancel(lab, id)).toEqual({
      __typename: 'OrderCancelled',
      order: { id, status: { stage: 'CANCELLED' } },
    });
    expect(await cancel(lab, id)).toMatchObject({
      __typename: 'CancelRefused',
      code: 'CANCEL_REFUSED',
      status: { step: 'CANCELLED' },
    });
  });

  test.each([
    'collecting_sample.testkit.transit_lab',
    'collecting_sample.walk_in_test.redraw_available',
    'sample_with_lab.walk_in_test.partial_results',
    'completed.testkit.completed',
    'failed.testkit.lost',
  ])('is refused at %s, which the refusal names', async (status) => {
    await using lab = await startLab();
    const order = lab.sandbox.orders().find((each) => each.status === status);
    const refused = await cancel(lab, order?.orderId);
    expect(refused).toMatchObject({
      __typename: 'CancelRefused',
      status: { step: status.split('.')[2]?.toUpperCase() },
      order: { id: order?.orderId },
    });
    expect(refused.message).toContain(refused.status.label);
  });

  test('after a lost answer reports the state of the order', async () => {
    await using lab = await startLab();
    const [one, two] = [await place(lab), await place(lab)];
    lab.sandbox.faults.add({ path: /cancel$/, times: 1, effect: { kind: 'lostAnswer' } });
    const done = await cancel(lab, one);
    lab.sandbox.faults.add({ path: /cancel$/, effect: { kind: 'serverError' } });
    const failed = await cancel(lab, two);
    expect(done).toMatchObject({ __typename: 'OrderCancelled', order: { id: one } });
    expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  });

  test('after a lost answer whose outcome cannot be read either is a fault', async () => {
    await using lab = await startLab();
    const id = await place(lab);
    lab.sandbox.faults.add({ path: /cancel$/, times: 1, delayMs: 0, effect: { kind: 'truncatedBody' } });
    lab.sandbox.faults.add({ method: 'GET', path: '/v3/order/', times: 1 });
    lab.sandbox.faults.add({
      method: 'GET',
      path: '/v3/order/',
      effect: { kind: 'answer', status: 400, body: '{}' },
    });
    expect((await cancel(lab, id)).errors[0].extensions.code).toBe('UPSTREAM_UNREADABLE');
  });
});

describe('resendOrderEvents', () => {
  const ask = (lab: Lab, input: object, token?: string) => run(lab, resend, { input }, token);

  test('brings a change whose webhook never came to its subscribers', async () => {
    await using lab = await startLab();
    const id = await place(lab);
    await lab.sandbox.webhooks.settled();
    const updates = await subscribeOverSse({
      url: lab.url,
      token: gatewayKey,
      query: 'subscription ($id: ID!) { orderUpdates(orderId: $id) { kind event { status { raw } } } }',
      variables: { id },
    });
    expect((await updates.next())?.data.orderUpdates.kind).toBe('SNAPSHOT');
    lab.sandbox.webhooks.knobs.drop = 1;
    await lab.query(`mutation { simulateOrder(id: "${id}") { __typename } }`);
    await lab.sandbox.webhooks.settled();
    lab.sandbox.webhooks.knobs.drop = 0;

    expect(await ask(lab, { orderIds: [id] })).toEqual({ __typename: 'OrderEventsResent', orderIds: [id] });

    expect((await updates.next())?.data.orderUpdates).toEqual({
      kind: 'CHANGED',
      event: { status: { raw: 'received.walk_in_test.requisition_created' } },
    });
    await updates.close();
  });

  test('takes a window of up to 60 days', async () => {
    await using lab = await startLab();
    const window = { startAt: '2025-06-02T00:00:00Z', endAt: '2025-06-05T00:00:00Z' };
    const first = lab.sandbox.orders()[0];
    expect((await ask(lab, window)).orderIds).toEqual([first?.orderId]);
  });

  test('shows the first 100 orders of a window with more, by one call', async () => {
    await using lab = await startLab();
    const known = lab.sandbox.orders()[0]?.orderId;
    const ids = [known, ...Array.from({ length: 119 }, () => crypto.randomUUID()), known];
    const effect = { kind: 'answer', status: 200, body: JSON.stringify({ order_ids: ids }) } as const;
    lab.sandbox.faults.add({ path: '/v3/order/resend_events', effect });
    const document = `mutation { resendOrderEvents(input: { startAt: "2025-06-02T00:00:00Z", endAt: "2025-06-05T00:00:00Z" }) {
      ... on OrderEventsResent { orderIds orders { id } }
    } }`;
    expect(await run(lab, document, {})).toEqual({ orderIds: ids, orders: [{ id: known }] });
    const calls = lab.sandbox.calls.map((call) => call.split('?')[0]);
    expect(calls).toEqual(['POST /v3/order/resend_events', 'GET /orders']);
  });

  test.each([
    ['nothing', {}, 'orderIds'],
    ['no orders', { orderIds: [] }, 'orderIds'],
    [
      'no orders of a window',
      { orderIds: [], startAt: '2025-06-02T00:00:00Z', endAt: '2025-06-05T00:00:00Z' },
      'orderIds',
    ],
    ['an end without a start', { orderIds: [crypto.randomUUID()], endAt: '2025-06-05T00:00:00Z' }, 'startAt'],
    ['more than 60 days', { startAt: '2025-01-01T00:00:00Z', endAt: '2025-06-05T00:00:00Z' }, 'startAt'],
    [
      'a window that ends before it starts',
      { startAt: '2025-06-05T00:00:00Z', endAt: '2025-06-04T00:00:00Z' },
      'startAt',
    ],
  ])('refuses %s before the call', async (_name, input, path) => {
    await using lab = await startLab();
    expect(await ask(lab, input)).toMatchObject({ __typename: 'InputRejected', issues: [{ path: [path] }] });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test("distinguishes the service's refusals from its faults", async () => {
    await using lab = await startLab();
    const effects = [
      { kind: 'answer', status: 400, body: '{"detail":"No."}' },
      { kind: 'featureNotEnabled' },
      { kind: 'serverError' },
    ] as const;
    for (const effect of effects)
      lab.sandbox.faults.add({ path: '/v3/order/resend_events', times: 1, effect });
    const orderIds = [lab.sandbox.orders()[0]?.orderId];
    const results = [
      await ask(lab, { orderIds }),
      await ask(lab, { orderIds }),
      await ask(lab, { orderIds }),
    ];
    expect(results.map((result) => result.code ?? result.errors[0].extensions.code)).toEqual([
      'INPUT_REJECTED',
      'FEATURE_NOT_ENABLED',
      'UPSTREAM_UNAVAILABLE',
    ]);
  });

  test('is not for browsers', async () => {
    await using lab = await startLab();
    const order = lab.sandbox.orders()[0];
    const scopes = ['read:orders', 'write:orders'];
    const token = await lab.tokenFor(order?.userId ?? '', { scopes });
    const { errors } = await ask(lab, { orderIds: [order?.orderId] }, token);
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
  });
});

describe('simulateOrder', () => {
  const document = `mutation ($input: SimulateOrderInput!) { simulateOrder(input: $input) {
    __typename
    ... on OrderSimulated { order { interpretation hasMissingResults results { missing { slug } } } }
    ... on InputRejected { issues { path code message } }
  } }`;

  async function simulate(lab: Lab, more: object) {
    const fresh = lab.sandbox.orders().find(({ status }) => status === 'received.walk_in_test.ordered');
    const input = { id: fresh?.orderId, finalStatus: 'completed.walk_in_test.completed', ...more };
    const answer = await lab.query(document, { variables: { input } });
    return answer.data?.simulateOrder ?? answer;
  }

  test.each([true, false])('says what the results are, with missing ones: %s', async (hasMissingResults) => {
    await using lab = await startLab();
    const { order } = await simulate(lab, {
      interpretation: 'CRITICAL',
      resultTypes: ['NUMERIC'],
      resultTypesRaw: ['coded_value'],
      hasMissingResults,
    });
    expect(order.interpretation).toBe('CRITICAL');
    expect(order.results.missing.length > 0).toBe(hasMissingResults);
    expect(order.hasMissingResults).toBe(hasMissingResults);
  });

  test('refuses a delay of more than a day between steps', async () => {
    await using lab = await startLab();
    const delayed = await simulate(lab, { delaySeconds: 3_000_000 });
    expect(delayed).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['delaySeconds'] }] });
  });

  test('sends them in the words of the service, and no body where there are none', async () => {
    await using service = await startMisbehavingService(json({ detail: 'No.' }, 403));
    const order = { id: crypto.randomUUID(), user_id: crypto.randomUUID(), events: [] };
    const send = async (more: object) => {
      await using lab = await startLab({ serve: async () => service.url });
      service.willAnswer(json(order), json({ detail: 'No.' }, 403));
      await lab.query(document, { variables: { input: { id: order.id, ...more } } });
      return service.seen.at(-1)?.body;
    };
    const flags = { interpretationRaw: 'Unknown', resultTypes: ['RANGE'], hasMissingResults: false };
    expect(JSON.parse((await send(flags)) ?? '')).toEqual({
      interpretation: 'Unknown',
      result_types: ['range'],
      has_missing_results: false,
    });
    expect(await send({ delaySeconds: 1 })).toBe('');
  });

  test('refuses an interpretation in both ways before the service is asked', async () => {
    await using lab = await startLab();
    expect(await simulate(lab, { interpretation: 'NORMAL', interpretationRaw: 'unknown' })).toEqual({
      __typename: 'InputRejected',
      issues: [
        {
          path: ['interpretationRaw'],
          code: 'CONFLICT',
          message: 'Give either interpretation or interpretationRaw.',
        },
      ],
    });
    expect(lab.sandbox.calls).toEqual([]);
  });
});
