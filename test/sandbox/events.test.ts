import { expect, test } from 'vitest';
import { at, type OpenSandbox, openReceiver, openSandbox } from './support.ts';

/** One of each family of the specification (part Events). */
const families: readonly (readonly [eventType: string, field: string])[] = [
  ['labtest.order.created', 'id'],
  ['labtest.order.updated', 'events'],
  ['labtest.appointment.created', 'order_id'],
  ['labtest.appointment.updated', 'status'],
  ['labtest.result.critical', 'sample_id'],
  ['lab_report.parsing_job.created', 'status'],
  ['lab_report.parsing_job.updated', 'status'],
  ['provider.connection.created', 'source'],
  ['historical.data.activity.created', 'is_final'],
  ['historical.data.sleep.created', 'is_final'],
  ['daily.data.activity.created', 'steps'],
  ['daily.data.activity.updated', 'steps'],
  ['daily.data.steps.created', 'data'],
  ['daily.data.calories_active.created', 'data'],
  ['daily.data.glucose.created', 'data'],
  ['daily.data.workout_stream.created', 'workout_id'],
];

test('An event of any family goes out with data as the service would send it', async () => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  for (const [event_type] of families) {
    const { status } = await service.ask('POST', '/sandbox/events', { event_type });
    expect([event_type, status]).toEqual([event_type, 200]);
  }
  await service.sandbox.webhooks.settled();
  const shown = families.map(([eventType, field]) => {
    const { body } = receiver.received.find((each) => each.body.event_type === eventType) ?? {};
    return [eventType, Object.hasOwn(Object(body?.data), field), body?.user_id];
  });
  const { userId } = at(service.sandbox.orders(), -1);
  expect(shown).toEqual(families.map(([eventType]) => [eventType, true, userId]));
});

test('It is about the user and the order that are named, and fields of its data can be replaced', async () => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  const { orderId: order_id, userId: user_id } = at(service.sandbox.orders(), 1);
  const data = { notes: 'Thank you.', details: { type: 'other' } };
  const sent = await service.ask('POST', '/sandbox/events', {
    event_type: 'labtest.order.updated',
    order_id,
    data,
  });
  const unknown = await service.ask('POST', '/sandbox/events', {
    event_type: 'moon.phase.created',
    user_id,
    data: { phase: 'full' },
  });
  await service.sandbox.webhooks.settled();
  expect([sent.body, unknown.body]).toMatchObject([
    { user_id, order_id },
    { user_id, order_id: null },
  ]);
  expect(receiver.received.map(({ body }) => body)).toMatchObject([
    { user_id, data: { id: order_id, notes: 'Thank you.', details: { type: 'other' } } },
    { user_id, data: { phase: 'full' } },
  ]);
});

test('The control knows its users and orders', async () => {
  await using service = openSandbox();
  const event_type = 'labtest.order.updated';
  const statuses = [
    {},
    { event_type, user_id: crypto.randomUUID() },
    { event_type, order_id: crypto.randomUUID() },
  ].map(async (body) => (await service.ask('POST', '/sandbox/events', body)).status);
  expect(await Promise.all(statuses)).toEqual([422, 404, 404]);
});

/** The data of an event that is sent about the order or the user. */
async function sampleOf(service: OpenSandbox, body: object): Promise<Readonly<Record<string, unknown>>> {
  await using receiver = await openReceiver();
  service.sandbox.webhooks.register(receiver.url);
  expect((await service.ask('POST', '/sandbox/events', body)).status).toBe(200);
  await service.sandbox.webhooks.settled();
  return at(receiver.received, 0).body.data;
}

test('The appointment of an event has the type of its order, and does not prevent a real booking', async () => {
  await using service = openSandbox();
  const { orderId: order_id } = at(
    service.sandbox.orders().filter(({ status }) => status === 'received.walk_in_test.requisition_created'),
    0,
  );
  const sample = await sampleOf(service, { event_type: 'labtest.appointment.created', order_id });
  expect(sample).toMatchObject({
    order_id,
    type: 'patient_service_center',
    status: 'confirmed',
    events: [{ status: 'scheduled' }],
  });
  const path = `/v3/order/${order_id}/psc/appointment`;
  expect((await service.ask('GET', path)).status).toBe(404);
  const slots = await service.ask<{ slots: { slots: { booking_key: string }[] }[] }>(
    'POST',
    '/v3/order/psc/appointment/availability?lab=quest&zip_code=85004',
  );
  const { booking_key } = at(
    slots.body.slots.flatMap((day) => day.slots),
    0,
  );
  const booked = await service.ask<{ id: string }>('POST', `${path}/book`, { booking_key });
  expect(booked.status).toBe(200);
  expect(booked.body.id).not.toBe(sample.id);
});

test('The parsing job of an event has the status of the event type, and is not stored', async () => {
  await using service = openSandbox();
  const user_id = at(service.sandbox.users(), 0).userId;
  const updated = await sampleOf(service, { event_type: 'lab_report.parsing_job.updated', user_id });
  const created = await sampleOf(service, { event_type: 'lab_report.parsing_job.created', user_id });
  expect([updated, created]).toMatchObject([
    { status: 'completed', data: { results: expect.any(Array) } },
    { status: 'started', data: null },
  ]);
  expect((await service.ask('GET', `/lab_report/v1/parser/job/${updated.id}`)).status).toBe(404);
});

test('The user id of a sample event may be in upper or lower case', async () => {
  await using service = openSandbox();
  const { userId } = at(service.sandbox.orders(), 0);
  const body = { event_type: 'labtest.order.updated', user_id: userId.toUpperCase() };
  expect(await service.ask('POST', '/sandbox/events', body)).toMatchObject({
    status: 200,
    body: { user_id: userId, order_id: expect.any(String) },
  });
});
