import { expect, test } from 'vitest';
import { allStatuses } from '../../sandbox/orders/states.ts';
import { patient } from '../contract/people.ts';
import { at, type OpenSandbox, openSandbox, shippingDetails } from './support.ts';

interface Order {
  readonly id: string;
  readonly status: string;
  readonly events: readonly { readonly status: string }[];
}

async function createKit({ sandbox, ask }: OpenSandbox): Promise<string> {
  const { body } = await ask<{ order: Order }>('POST', '/v3/order/testkit', {
    user_id: at(sandbox.users(), 9).userId,
    lab_test_id: at(sandbox.labTests(), 0).labTestId,
    shipping_details: shippingDetails,
  });
  return body.order.id;
}

async function walkToEnd({ ask }: OpenSandbox, orderId: string): Promise<readonly string[]> {
  while ((await ask('POST', `/v3/order/${orderId}/test`)).status === 200);
  const { body } = await ask<Order>('GET', `/v3/order/${orderId}`);
  return body.events.map((event) => event.status);
}

function seededOrder({ sandbox }: OpenSandbox, status: string): string {
  const found = sandbox.orders().find((order) => order.status === status);
  if (!found) throw new Error(`No seeded order is at ${status}.`);
  return found.orderId;
}

test('There are 54 statuses', () => {
  expect(new Set(allStatuses).size).toBe(54);
});

test('An order without a requisition has a sample number and a patient from the start', async () => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'received.on_site_collection.requisition_bypassed');
  expect(await service.ask('GET', `/v3/order/${orderId}`)).toMatchObject({
    body: { sample_id: expect.any(String), patient_details: { first_name: expect.any(String) } },
  });
});

test('An unregistered kit goes back to received when it is registered, and only then has a patient', async () => {
  await using service = openSandbox();
  const orderId = await createKit(service);
  const stages: string[] = [];
  const patients: boolean[] = [];
  for (let answer = 200; answer === 200; ) {
    const { body } = await service.ask<Order & { patient_details: unknown }>('GET', `/v3/order/${orderId}`);
    stages.push(`${body.status}/${body.events.at(-1)?.status.split('.')[2]}`);
    patients.push(body.patient_details !== null);
    answer = (await service.ask('POST', `/v3/order/${orderId}/test`)).status;
  }
  expect(stages).toEqual([
    'received/awaiting_registration',
    'collecting_sample/transit_customer',
    'collecting_sample/out_for_delivery',
    'collecting_sample/with_customer',
    'received/registered',
    'received/requisition_created',
    'collecting_sample/transit_lab',
    'sample_with_lab/delivered_to_lab',
    'completed/completed',
  ]);
  expect(patients).toEqual([false, false, false, false, true, true, true, true, true]);
});

test.each([
  [
    'received.walk_in_test.ordered',
    [
      'received.walk_in_test.ordered',
      'received.walk_in_test.requisition_created',
      'collecting_sample.walk_in_test.appointment_pending',
      'collecting_sample.walk_in_test.appointment_scheduled',
      'sample_with_lab.walk_in_test.partial_results',
      'completed.walk_in_test.completed',
    ],
  ],
  [
    'received.at_home_phlebotomy.requisition_created',
    [
      'received.at_home_phlebotomy.ordered',
      'received.at_home_phlebotomy.requisition_created',
      'collecting_sample.at_home_phlebotomy.appointment_pending',
      'collecting_sample.at_home_phlebotomy.appointment_scheduled',
      'collecting_sample.at_home_phlebotomy.draw_completed',
      'completed.at_home_phlebotomy.completed',
    ],
  ],
  [
    'received.on_site_collection.ordered',
    [
      'received.on_site_collection.ordered',
      'received.on_site_collection.requisition_created',
      'sample_with_lab.on_site_collection.draw_completed',
      'completed.on_site_collection.completed',
    ],
  ],
  [
    'collecting_sample.testkit.problem_in_transit_lab',
    [
      'received.testkit.ordered',
      'received.testkit.requisition_created',
      'collecting_sample.testkit.transit_customer',
      'collecting_sample.testkit.out_for_delivery',
      'collecting_sample.testkit.with_customer',
      'collecting_sample.testkit.transit_lab',
      'collecting_sample.testkit.problem_in_transit_lab',
      'sample_with_lab.testkit.delivered_to_lab',
      'completed.testkit.completed',
    ],
  ],
])('From %s, step by step, an order leads the life of its method', async (start, life) => {
  await using service = openSandbox();
  expect(await walkToEnd(service, seededOrder(service, start))).toEqual(life);
});

test('At the end of its path an order takes no step', async () => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'completed.testkit.completed');
  const answer = await service.ask('POST', `/v3/order/${orderId}/test`);
  expect(answer).toEqual({ status: 400, body: { detail: 'The order ends at completed.testkit.completed.' } });
});

test('A wanted final status is walked to and the result gets the wanted interpretation', async () => {
  await using service = openSandbox();
  const orderId = await createKit(service);
  const path = `/v3/order/${orderId}/test?final_status=completed.testkit.completed`;
  const answer = await service.ask('POST', path, { interpretation: 'abnormal' });
  const order = await service.ask<Order>('GET', `/v3/order/${orderId}`);
  expect(answer).toEqual({ status: 200, body: 'Success' });
  expect(order.body.events).toHaveLength(10);
  expect(order.body).toMatchObject({
    status: 'completed',
    interpretation: 'abnormal',
    requisition_form_url: `https://files.example.com/requisitions/${orderId}.pdf`,
    details: {
      data: { shipment: { outbound_courier: 'Example Express', inbound_courier: 'Example Express' } },
    },
  });
});

test('A status beside the path comes at once, with its detail', async () => {
  await using service = openSandbox();
  const orderId = await createKit(service);
  const failed = `/v3/order/${orderId}/test?final_status=failed.testkit.sample_error`;
  await service.ask('POST', failed, { status_detail: 'sample_contaminated' });
  const { body } = await service.ask<Order>('GET', `/v3/order/${orderId}`);
  expect(body).toMatchObject({
    status: 'failed',
    last_event: { status: 'failed.testkit.sample_error', status_detail: 'sample_contaminated' },
  });
  expect(body.events).toHaveLength(3);
  expect((await service.ask('POST', `/v3/order/${orderId}/test`)).status).toBe(400);
});

test('Only a completed order is corrected, and nothing goes back', async () => {
  await using service = openSandbox();
  const done = seededOrder(service, 'completed.testkit.completed');
  const open = seededOrder(service, 'collecting_sample.testkit.with_customer');
  const simulate = async (orderId: string, status: string) =>
    (await service.ask('POST', `/v3/order/${orderId}/test?final_status=${status}`)).status;
  expect(await simulate(open, 'received.testkit.ordered')).toBe(400);
  expect(await simulate(open, 'completed.walk_in_test.completed')).toBe(400);
  expect(await simulate(done, 'failed.testkit.lost')).toBe(400);
  expect(await simulate(done, 'completed.testkit.corrected')).toBe(200);
});

/** Places an order of the first test of a method and moves it to a status. */
async function orderAt({ sandbox, ask }: OpenSandbox, status: string): Promise<string> {
  const [, method] = status.split('.');
  const { body } = await ask<{ order: Order }>('POST', '/v3/order', {
    user_id: at(sandbox.users(), 0).userId,
    order_set: {
      lab_test_ids: [sandbox.labTests().find((each) => each.method === method)?.labTestId],
    },
    ...patient,
  });
  await ask('POST', `/v3/order/${body.order.id}/test?final_status=${status}`);
  return body.order.id;
}

test.each([
  ['received.testkit.ordered', 'received.testkit.awaiting_registration', 400],
  ['received.testkit.ordered', 'received.testkit.registered', 400],
  ['received.testkit.ordered', 'received.testkit.requisition_bypassed', 400],
  ['received.testkit.ordered', 'completed.testkit.corrected', 400],
  ['sample_with_lab.testkit.delivered_to_lab', 'received.testkit.requisition_bypassed', 400],
  ['sample_with_lab.testkit.delivered_to_lab', 'collecting_sample.testkit.problem_in_transit_customer', 400],
  ['sample_with_lab.testkit.delivered_to_lab', 'sample_with_lab.testkit.lab_processing_blocked', 200],
  ['collecting_sample.testkit.transit_lab', 'sample_with_lab.testkit.lab_processing_blocked', 400],
  ['collecting_sample.testkit.transit_lab', 'collecting_sample.testkit.problem_in_transit_lab', 200],
  ['collecting_sample.testkit.transit_customer', 'cancelled.testkit.cancelled', 400],
  ['received.testkit.requisition_created', 'cancelled.testkit.cancelled', 200],
  ['collecting_sample.testkit.transit_customer', 'failed.testkit.lost', 200],
  ['sample_with_lab.walk_in_test.partial_results', 'cancelled.walk_in_test.cancelled', 400],
  [
    'sample_with_lab.walk_in_test.partial_results',
    'collecting_sample.walk_in_test.appointment_cancelled',
    400,
  ],
  ['sample_with_lab.walk_in_test.partial_results', 'collecting_sample.walk_in_test.redraw_available', 200],
  ['received.walk_in_test.ordered', 'collecting_sample.walk_in_test.redraw_available', 400],
  ['collecting_sample.walk_in_test.appointment_scheduled', 'cancelled.walk_in_test.cancelled', 200],
  [
    'collecting_sample.at_home_phlebotomy.appointment_scheduled',
    'collecting_sample.at_home_phlebotomy.appointment_cancelled',
    200,
  ],
  [
    'received.at_home_phlebotomy.requisition_created',
    'sample_with_lab.at_home_phlebotomy.partial_results',
    400,
  ],
  [
    'collecting_sample.at_home_phlebotomy.draw_completed',
    'sample_with_lab.at_home_phlebotomy.partial_results',
    200,
  ],
  [
    'sample_with_lab.on_site_collection.draw_completed',
    'sample_with_lab.on_site_collection.partial_results',
    200,
  ],
])('A simulation from %s to %s is answered with %i', async (from, to, status) => {
  await using service = openSandbox();
  const orderId = await orderAt(service, from);
  expect((await service.ask('POST', `/v3/order/${orderId}/test?final_status=${to}`)).status).toBe(status);
  const { body } = await service.ask('GET', `/v3/order/${orderId}`);
  expect(body).toMatchObject({ last_event: { status: status === 200 ? to : from } });
});

test.each([
  [
    { interpretation: 'critical', has_missing_results: true },
    ['labtest.order.updated', 'labtest.result.critical'],
  ],
  [{ interpretation: 'normal', has_missing_results: false }, ['labtest.order.updated']],
])('A correction changes the results as %s says', async (flags, types) => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'received.walk_in_test.ordered');
  const simulate = (step: string, body: object) =>
    service.ask('POST', `/v3/order/${orderId}/test?final_status=completed.walk_in_test.${step}`, body);
  const isCritical = flags.interpretation === 'critical';
  const before = {
    interpretation: isCritical ? 'normal' : 'critical',
    has_missing_results: !flags.has_missing_results,
  };
  await simulate('completed', before);
  const sent = service.sandbox.webhooks.sent.length;
  await simulate('corrected', flags);
  expect((await service.ask('GET', `/v3/order/${orderId}`)).body).toMatchObject(flags);
  expect(service.sandbox.webhooks.sent.slice(sent).map(({ eventType }) => eventType)).toEqual(types);
});

test('A correction without a body leaves the results as they were', async () => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'received.walk_in_test.ordered');
  const flags = { interpretation: 'abnormal', has_missing_results: true };
  const path = `/v3/order/${orderId}/test?final_status=completed.walk_in_test`;
  await service.ask('POST', `${path}.completed`, flags);
  await service.ask('POST', `${path}.corrected`);
  expect((await service.ask('GET', `/v3/order/${orderId}`)).body).toMatchObject(flags);
});

test.each(['-1', '86401', '3000000', 'soon'])('A delay of %s seconds is refused', async (delay) => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'received.walk_in_test.ordered');
  expect((await service.ask('POST', `/v3/order/${orderId}/test?delay=${delay}`)).status).toBe(422);
});

test('An unknown final status is 422 and lists those there are', async () => {
  await using service = openSandbox();
  const orderId = seededOrder(service, 'received.walk_in_test.ordered');
  const { status, body } = await service.ask<{ detail: { msg: string }[] }>(
    'POST',
    `/v3/order/${orderId}/test?final_status=lost`,
  );
  expect(status).toBe(422);
  expect(body.detail).toMatchObject([{ type: 'enum', loc: ['query', 'final_status'], input: 'lost' }]);
  expect(allStatuses.every((each) => at(body.detail, 0).msg.includes(each))).toBe(true);
});

test('With a delay the steps come after the answer, one by one, until something else moves the order', async () => {
  await using service = openSandbox({ speed: 1000 });
  const slow = await createKit(service);
  const cancelled = await createKit(service);
  for (const orderId of [slow, cancelled]) {
    const path = `/v3/order/${orderId}/test?final_status=completed.testkit.completed&delay=5`;
    expect(await service.ask('POST', path)).toEqual({ status: 200, body: 'Success' });
    const { body } = await service.ask<Order>('GET', `/v3/order/${orderId}`);
    expect(body.events).toHaveLength(2);
  }
  await service.ask('POST', `/v3/order/${cancelled}/cancel`);
  await service.sandbox.webhooks.settled();
  const statuses = service.sandbox
    .orders()
    .slice(-2)
    .map((order) => order.status);
  expect(statuses).toEqual(['completed.testkit.completed', 'cancelled.testkit.cancelled']);
});

test.each([
  ['received.testkit.awaiting_registration', true],
  ['received.testkit.registered', true],
  ['received.on_site_collection.requisition_bypassed', true],
  ['received.walk_in_test.ordered', true],
  ['collecting_sample.walk_in_test.appointment_scheduled', true],
  ['collecting_sample.at_home_phlebotomy.appointment_cancelled', true],
  ['collecting_sample.at_home_phlebotomy.draw_completed', true],
  ['sample_with_lab.on_site_collection.draw_completed', true],
  ['collecting_sample.testkit.transit_customer', false],
  ['collecting_sample.walk_in_test.redraw_available', false],
  ['sample_with_lab.walk_in_test.partial_results', false],
  ['completed.walk_in_test.completed', false],
  ['failed.testkit.lost', false],
  ['cancelled.testkit.cancelled', false],
  ['cancelled.testkit.do_not_process', false],
])('At %s cancellation is allowed: %s', async (status, isAllowed) => {
  await using service = openSandbox();
  const answer = await service.ask('POST', `/v3/order/${seededOrder(service, status)}/cancel`);
  const cancelled = {
    status: 200,
    body: { status: 'success', message: 'Order cancelled', order: { status: 'cancelled' } },
  };
  const refused = {
    status: 400,
    body: {
      error: 'Bad Request',
      message: `Transition from ${status} to cancelled is not allowed`,
      status_code: 400,
    },
  };
  expect(answer).toMatchObject(isAllowed ? cancelled : refused);
});
