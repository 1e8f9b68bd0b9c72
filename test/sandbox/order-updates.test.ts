import { describe, expect, test } from 'vitest';
import { at, type OpenSandbox, openReceiver, openSandbox, statusesOf } from './support.ts';

const patient = {
  patient_details: {
    first_name: 'Blake',
    last_name: 'Example',
    dob: '1975-11-30',
    gender: 'male',
    phone_number: '+15125550101',
    email: 'blake.example@example.com',
  },
  patient_address: {
    first_line: '101 Example Street',
    city: 'Austin',
    state: 'TX',
    zip: '78701',
    country: 'US',
  },
};

interface Order {
  readonly id: string;
  readonly user_id: string;
  readonly sample_id: string;
  readonly activate_by: string | null;
}

/** The kit of the first user that waits at home to be registered. */
async function kitAtHome({ sandbox, ask }: OpenSandbox): Promise<Order> {
  const order = sandbox.orders().find(({ status }) => status === 'collecting_sample.testkit.with_customer');
  return (await ask<Order>('GET', `/v3/order/${order?.orderId}`)).body;
}

describe('registering a kit', () => {
  test('makes its user the patient and lets the requisition be written', async () => {
    await using service = openSandbox();
    await using receiver = await openReceiver();
    service.sandbox.webhooks.register(receiver.url);
    const kit = await kitAtHome(service);
    const { status, body } = await service.ask('POST', '/v3/order/testkit/register', {
      sample_id: kit.sample_id,
      consents: [{ consentType: 'hipaa-authorization' }],
      ...patient,
    });
    await service.sandbox.webhooks.settled();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      order: {
        id: kit.id,
        user_id: kit.user_id,
        patient_details: { first_name: 'Blake', dob: '1975-11-30T00:00:00+00:00' },
        last_event: { status: 'received.testkit.requisition_created' },
      },
    });
    expect(statusesOf(receiver.received)).toEqual([
      'received.testkit.registered',
      'received.testkit.requisition_created',
    ]);
  });

  test('by another user of the team moves the order, and its events name the new user', async () => {
    await using service = openSandbox();
    await using receiver = await openReceiver();
    service.sandbox.webhooks.register(receiver.url);
    const kit = await kitAtHome(service);
    const { userId } = at(service.sandbox.users(), 1);
    const body = { user_id: userId, sample_id: kit.sample_id, ...patient };
    await service.ask('POST', '/v3/order/testkit/register', body);
    await service.sandbox.webhooks.settled();
    expect(new Set(receiver.received.map((each) => each.body.user_id))).toEqual(new Set([userId]));
    const listed = await service.ask<{ orders: Order[] }>('GET', `/orders?user_id=${kit.user_id}`);
    expect(listed.body.orders.map(({ id }) => id)).not.toContain(kit.id);
  });

  test('is refused for an unknown kit, an unknown user, and the second time', async () => {
    await using service = openSandbox();
    const kit = await kitAtHome(service);
    const register = (more: object) =>
      service.ask('POST', '/v3/order/testkit/register', { sample_id: kit.sample_id, ...patient, ...more });
    const statuses = [
      (await register({ sample_id: 'SMP0' })).status,
      (await register({ user_id: '00000000-0000-4000-8000-000000000000' })).status,
      (await register({ patient_details: {} })).status,
      (await register({})).status,
      (await register({})).status,
    ];
    expect(statuses).toEqual([404, 404, 422, 200, 400]);
  });
});

describe('the day of a scheduled order', () => {
  async function place({ sandbox, ask }: OpenSandbox, more: object = {}): Promise<Order> {
    const labTest = sandbox.labTests().find(({ method }) => method === 'walk_in_test');
    const { body } = await ask<{ order: Order }>('POST', '/v3/order', {
      user_id: at(sandbox.users(), 1).userId,
      order_set: { lab_test_ids: [labTest?.labTestId] },
      ...patient,
      ...more,
    });
    return body.order;
  }
  const setDay = ({ ask }: OpenSandbox, id: string, activate_by: unknown) =>
    ask<{ order: Order }>('PATCH', `/v3/order/${id}`, { activate_by });

  test('can be changed and taken away, once', async () => {
    await using service = openSandbox();
    const { id } = await place(service, { activate_by: '2999-01-01' });
    const scheduled = await service.ask<{ total: number }>('GET', '/orders?order_activation_types=scheduled');
    const days = [
      (await setDay(service, id, '2999-02-01')).body.order.activate_by,
      (await setDay(service, id, null)).body.order.activate_by,
    ];
    expect(scheduled.body.total).toBe(1);
    expect(days).toEqual(['2999-02-01', null]);
    expect((await setDay(service, id, '2999-02-01')).status).toBe(400);
  });

  test('is refused in the past, for orders without one, and for those under way', async () => {
    await using service = openSandbox();
    const scheduled = await place(service, { activate_by: '2999-01-01' });
    const unscheduled = await place(service);
    const statuses = [
      (await setDay(service, scheduled.id, '2020-01-01')).status,
      (await setDay(service, scheduled.id, 'soon')).status,
      (await setDay(service, unscheduled.id, '2999-01-01')).status,
    ];
    await service.ask('POST', `/v3/order/${scheduled.id}/test`);
    statuses.push((await setDay(service, scheduled.id, '2999-02-01')).status);
    statuses.push((await setDay(service, '00000000-0000-4000-8000-000000000000', null)).status);
    expect(statuses).toEqual([400, 422, 400, 400, 404]);
  });
});

describe('resending events', () => {
  test('announces the present state of the named orders again', async () => {
    await using service = openSandbox();
    await using receiver = await openReceiver();
    service.sandbox.webhooks.register(receiver.url);
    const { orderId, status } = at(service.sandbox.orders(), 8);
    const { body } = await service.ask('POST', '/v3/order/resend_events', { order_ids: [orderId] });
    await service.sandbox.webhooks.settled();
    expect(body).toEqual({ order_ids: [orderId] });
    expect(statusesOf(receiver.received)).toEqual([status]);
  });

  test('finds the orders of a window', async () => {
    await using service = openSandbox();
    const window = { start_at: '2025-06-02T00:00:00Z', end_at: '2025-06-05T00:00:00Z' };
    const { body } = await service.ask('POST', '/v3/order/resend_events', window);
    expect(body).toEqual({ order_ids: [at(service.sandbox.orders(), 0).orderId] });
  });

  test('is refused without orders or a start, and for more than 60 days', async () => {
    await using service = openSandbox();
    const bodies = [{}, { end_at: '2025-06-05T00:00:00Z' }, { start_at: '2025-06-05T00:00:00Z' }];
    const statuses = [];
    for (const body of bodies) {
      statuses.push((await service.ask('POST', '/v3/order/resend_events', body)).status);
    }
    expect(statuses).toEqual([400, 400, 400]);
  });
});
