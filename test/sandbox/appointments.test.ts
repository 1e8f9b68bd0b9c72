import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { patient } from '../contract/people.ts';
import { apiKey, at, openReceiver, openSandbox } from './support.ts';

type Open = ReturnType<typeof openSandbox>;

const address = { first_line: '100 Example Street', city: 'Phoenix', state: 'AZ', zip_code: '85004' };

interface Days {
  readonly timezone: string | null;
  readonly slots: readonly {
    readonly date: string;
    readonly location: { readonly code: string } | null;
    readonly slots: readonly {
      readonly booking_key: string;
      readonly start: string;
      readonly expires_at: string;
    }[];
  }[];
}

interface Appointment {
  readonly id: string;
  readonly status: string;
  readonly event_status: string;
  readonly start_at: string | null;
  readonly appointment_notes: string | null;
  readonly address: { readonly access_notes: string | null };
  readonly events: readonly { readonly status: string }[];
}

const kinds = ['phlebotomy', 'psc'] as const;
type Kind = (typeof kinds)[number];

function pathOf(kind: Kind, orderId: string, action = ''): string {
  return `/v3/order/${orderId}/${kind}/appointment${action}`;
}

async function slotsOf(service: Open, kind: Kind) {
  const path =
    kind === 'phlebotomy'
      ? '/v3/order/phlebotomy/appointment/availability'
      : '/v3/order/psc/appointment/availability?lab=quest&zip_code=85004';
  const { body } = await service.ask<Days>('POST', path, address);
  return body.slots.flatMap((day) => day.slots);
}

/** An order of the kind whose requisition exists and that has no appointment. */
async function readyOrder(service: Open, kind: Kind) {
  const method = kind === 'psc' ? 'walk_in_test' : 'at_home_phlebotomy';
  const order = service.sandbox
    .orders()
    .find((each) => each.method === method && each.status.endsWith('.ordered'));
  const orderId = order?.orderId ?? '';
  await service.ask('POST', `/v3/order/${orderId}/test`);
  return { orderId, method };
}

async function statusOf(service: Open, orderId: string): Promise<string> {
  const { body } = await service.ask<{ last_event: { status: string } }>('GET', `/v3/order/${orderId}`);
  return body.last_event.status;
}

test.each(['2030-02-20', undefined])('Slots at home from %s span fourteen days', async (start) => {
  await using service = openSandbox();
  const path = '/v3/order/phlebotomy/appointment/availability';
  const { body } = await service.ask<Days>('POST', start ? `${path}?start_date=${start}` : path, address);
  const first = start ?? new Date().toISOString().slice(0, 10);
  expect(body.slots.map(({ date }) => date)).toEqual(
    Array.from({ length: 14 }, (_, day) =>
      new Date(Date.parse(first) + day * 86_400_000).toISOString().slice(0, 10),
    ),
  );
  expect(body.timezone).toBe('America/Phoenix');
  for (const slot of body.slots.flatMap((day) => day.slots)) {
    expect(Date.parse(slot.start) - Date.parse(slot.expires_at)).toBe(3_600_000);
  }
});

test('Each look at the slots makes new keys for the same times', async () => {
  await using service = openSandbox();
  const [one, two] = [await slotsOf(service, 'phlebotomy'), await slotsOf(service, 'phlebotomy')];
  expect(one.map(({ start }) => start)).toEqual(two.map(({ start }) => start));
  expect(new Set([...one, ...two].map((slot) => slot.booking_key)).size).toBe(one.length * 2);
});

test.each([
  ['without a street number', { ...address, first_line: 'Example Street' }, '', 400],
  ['with a wrong zip code', { ...address, zip_code: '850' }, '', 422],
  ['without a city', { ...address, city: undefined }, '', 422],
  ['from a day that is over', address, '?start_date=2020-01-01', 422],
])('Slots for an address %s are refused', async (_name, body, query, status) => {
  await using service = openSandbox();
  const path = `/v3/order/phlebotomy/appointment/availability${query}`;
  expect((await service.ask('POST', path, body)).status).toBe(status);
});

test('Where no phlebotomist comes there are no slots', async () => {
  await using service = openSandbox();
  const path = '/v3/order/phlebotomy/appointment/availability';
  const { status, body } = await service.ask<Days>('POST', path, { ...address, zip_code: '02108' });
  expect([status, body.slots]).toEqual([200, []]);
});

test.each(kinds)('A booked %s appointment moves the order, and both are announced', async (kind) => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  const { orderId, method } = await readyOrder(service, kind);
  service.sandbox.webhooks.register(receiver.url);
  const slot = at(await slotsOf(service, kind), 3);
  const { status, body } = await service.ask<Appointment>('POST', pathOf(kind, orderId, '/book'), {
    booking_key: slot.booking_key,
    appointment_notes: 'Second door.',
  });
  await service.sandbox.webhooks.settled();

  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'confirmed',
    event_status: 'scheduled',
    start_at: slot.start,
    appointment_notes: 'Second door.',
    order_id: orderId,
  });
  expect(await statusOf(service, orderId)).toBe(`collecting_sample.${method}.appointment_scheduled`);
  expect(receiver.received.map((message) => message.body.event_type)).toEqual([
    'labtest.order.updated',
    'labtest.order.updated',
    'labtest.appointment.created',
  ]);
  expect(receiver.received.at(-1)?.body.data).toEqual(body);
  expect(await service.ask('GET', pathOf(kind, orderId))).toEqual({ status: 200, body });
});

test.each(kinds)('A %s appointment is moved, then cancelled, then booked anew', async (kind) => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  const { orderId, method } = await readyOrder(service, kind);
  const slots = await slotsOf(service, kind);
  const key = (index: number) => ({ booking_key: at(slots, index).booking_key });
  const first = await service.ask<Appointment>('POST', pathOf(kind, orderId, '/book'), key(2));
  service.sandbox.webhooks.register(receiver.url);

  const moved = await service.ask<Appointment>('PATCH', pathOf(kind, orderId, '/reschedule'), key(4));
  expect(moved.body).toMatchObject({ id: first.body.id, start_at: at(slots, 4).start });
  expect(moved.body.events.map(({ status }) => status)).toEqual(['scheduled', 'scheduled']);
  expect(await statusOf(service, orderId)).toBe(`collecting_sample.${method}.appointment_scheduled`);

  const path = `/v3/order/${kind}/appointment/cancellation-reasons`;
  const reasons = await service.ask<{ id: string; name: string }[]>('GET', path);
  const reason = at(reasons.body, 0).id;
  const body = kind === 'psc' ? { cancellationReasonId: reason } : { cancellation_reason_id: reason };
  const cancelled = await service.ask<Appointment>('PATCH', pathOf(kind, orderId, '/cancel'), body);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', event_status: 'cancelled' });
  expect(await statusOf(service, orderId)).toBe(`collecting_sample.${method}.appointment_cancelled`);
  expect((await service.ask('PATCH', pathOf(kind, orderId, '/cancel'), body)).status).toBe(404);

  const again = await service.ask<Appointment>('POST', pathOf(kind, orderId, '/book'), key(5));
  expect(again.body.id).not.toBe(first.body.id);
  expect(await statusOf(service, orderId)).toBe(`collecting_sample.${method}.appointment_scheduled`);
  await service.sandbox.webhooks.settled();
  const types = receiver.received.map((message) => message.body.event_type);
  expect(types.filter((type) => type === 'labtest.appointment.updated')).toHaveLength(2);
  expect(types.filter((type) => type === 'labtest.appointment.created')).toHaveLength(1);
});

/** An order with a booked appointment. */
async function bookedOrder(service: Open, kind: Kind) {
  const order = await readyOrder(service, kind);
  const key = { booking_key: at(await slotsOf(service, kind), 3).booking_key };
  await service.ask('POST', pathOf(kind, order.orderId, '/book'), key);
  return order;
}

/** Tries to reschedule the appointment, and then to cancel it. */
async function changeVisit(service: Open, kind: Kind, orderId: string) {
  const key = { booking_key: at(await slotsOf(service, kind), 5).booking_key };
  const moved = await service.ask('PATCH', pathOf(kind, orderId, '/reschedule'), key);
  const path = `/v3/order/${kind}/appointment/cancellation-reasons`;
  const reason = at((await service.ask<{ id: string }[]>('GET', path)).body, 0).id;
  const body = kind === 'psc' ? { cancellationReasonId: reason } : { cancellation_reason_id: reason };
  const cancelled = await service.ask('PATCH', pathOf(kind, orderId, '/cancel'), body);
  return { moved: moved.status, cancelled: cancelled.status };
}

test('An appointment at home is cancelled with its order, which stays cancelled', async () => {
  await using service = openSandbox();
  await using receiver = await openReceiver();
  const { orderId, method } = await bookedOrder(service, 'phlebotomy');
  service.sandbox.webhooks.register(receiver.url);
  await service.ask('POST', `/v3/order/${orderId}/cancel`);
  await service.sandbox.webhooks.settled();
  const visit = await service.ask<Appointment>('GET', pathOf('phlebotomy', orderId));
  expect(visit.body).toMatchObject({ status: 'cancelled', can_reschedule: false });
  expect(receiver.received.map(({ body }) => body.event_type)).toEqual([
    'labtest.order.updated',
    'labtest.appointment.updated',
  ]);
  expect(receiver.received.at(-1)?.body.data).toEqual(visit.body);
  expect(await changeVisit(service, 'phlebotomy', orderId)).toEqual({ moved: 404, cancelled: 404 });
  expect(await statusOf(service, orderId)).toBe(`cancelled.${method}.cancelled`);
});

test.each(['cancelled.walk_in_test.cancelled', 'failed.walk_in_test.sample_error'])(
  'An appointment at a center outlives its order at %s, and its cancellation does not move the order',
  async (end) => {
    await using service = openSandbox();
    const { orderId } = await bookedOrder(service, 'psc');
    await service.ask('POST', `/v3/order/${orderId}/test?final_status=${end}`);
    expect((await service.ask('GET', pathOf('psc', orderId))).body).toMatchObject({
      status: 'confirmed',
      can_reschedule: false,
    });
    expect(await changeVisit(service, 'psc', orderId)).toEqual({ moved: 400, cancelled: 200 });
    expect((await service.ask('GET', pathOf('psc', orderId))).body).toMatchObject({ status: 'cancelled' });
    expect(await statusOf(service, orderId)).toBe(end);
  },
);

test('A reason that says nothing needs notes', async () => {
  await using service = openSandbox();
  const { orderId } = await readyOrder(service, 'phlebotomy');
  const slot = at(await slotsOf(service, 'phlebotomy'), 0);
  await service.ask('POST', pathOf('phlebotomy', orderId, '/book'), { booking_key: slot.booking_key });
  const reasons = await service.ask<{ id: string; name: string }[]>(
    'GET',
    '/v3/order/phlebotomy/appointment/cancellation-reasons',
  );
  const other = reasons.body.find(({ name }) => name === 'Other')?.id;
  const path = pathOf('phlebotomy', orderId, '/cancel');
  const silent = await service.ask('PATCH', path, { cancellation_reason_id: other });
  const unknown = await service.ask('PATCH', path, { cancellation_reason_id: crypto.randomUUID() });
  const said = await service.ask('PATCH', path, { cancellation_reason_id: other, notes: 'Moved away.' });
  expect([silent.status, unknown.status, said.status]).toEqual([400, 400, 200]);
});

test('A key is used once, and only for the kind of appointment it was made for', async () => {
  await using service = openSandbox();
  const { orderId } = await readyOrder(service, 'phlebotomy');
  const { orderId: walkIn } = await readyOrder(service, 'psc');
  const slot = at(await slotsOf(service, 'phlebotomy'), 0);
  const key = { booking_key: slot.booking_key };
  const answers = [
    await service.ask('POST', pathOf('psc', orderId, '/book'), key),
    await service.ask('POST', pathOf('phlebotomy', orderId, '/book'), { booking_key: 'made.up' }),
    await service.ask('POST', pathOf('phlebotomy', orderId, '/book'), key),
    await service.ask('PATCH', pathOf('phlebotomy', orderId, '/reschedule'), key),
    await service.ask('POST', pathOf('phlebotomy', orderId, '/book'), key),
    await service.ask('POST', pathOf('psc', walkIn, '/book'), key),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 200, 400, 400, 400]);
});

test('A slot that is full is gone, for new keys and old ones', async () => {
  await using service = openSandbox();
  const slots = await slotsOf(service, 'phlebotomy');
  const { orderId } = await readyOrder(service, 'phlebotomy');
  const path = pathOf('phlebotomy', orderId, '/book');
  const wanted = at(slots, 0).start;
  const keysOf = async () =>
    (await slotsOf(service, 'phlebotomy'))
      .filter(({ start }) => start === wanted)
      .map((slot) => slot.booking_key);
  const statuses: number[] = [];
  const keys = [...(await keysOf()), ...(await keysOf()), ...(await keysOf())];
  for (const [index, key] of keys.entries()) {
    const orders = service.sandbox
      .orders()
      .filter(
        ({ method, status }) =>
          method === 'at_home_phlebotomy' &&
          /requisition_created|appointment_(pending|cancelled)/.test(status),
      );
    const target = index === 0 ? path : pathOf('phlebotomy', at(orders, index - 1).orderId, '/book');
    statuses.push((await service.ask('POST', target, { booking_key: key })).status);
  }
  expect(statuses).toContain(400);
  expect(await keysOf()).toEqual([]);
});

test('An order without requisition, of another method or with an appointment takes no booking', async () => {
  await using service = openSandbox();
  const slots = await slotsOf(service, 'phlebotomy');
  const orders = service.sandbox.orders();
  const find = (ending: string) => orders.find(({ status }) => status.endsWith(ending))?.orderId ?? '';
  const statuses = await Promise.all(
    [
      find('at_home_phlebotomy.ordered'),
      find('testkit.transit_lab'),
      find('at_home_phlebotomy.appointment_scheduled'),
      find('at_home_phlebotomy.completed'),
    ].map((orderId, index) =>
      service.ask('POST', pathOf('phlebotomy', orderId, '/book'), {
        booking_key: at(slots, index).booking_key,
      }),
    ),
  );
  expect(statuses.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

test('An appointment that is asked for waits for its time', async () => {
  await using service = openSandbox();
  const { orderId } = await readyOrder(service, 'phlebotomy');
  const path = pathOf('phlebotomy', orderId, '/request');
  const asked = { address: { ...address, access_notes: 'Ring twice.' }, provider: 'phlebfinders' };
  const refused = await service.ask('POST', path, { ...asked, provider: 'getlabs' });
  const { status, body } = await service.ask<Appointment>('POST', path, asked);
  expect([refused.status, status]).toEqual([400, 200]);
  expect(body).toMatchObject({
    status: 'pending',
    start_at: null,
    provider: 'phlebfinders',
    address: { access_notes: 'Ring twice.' },
  });
  expect(await statusOf(service, orderId)).toBe('collecting_sample.at_home_phlebotomy.appointment_pending');
  expect((await service.ask('POST', path, asked)).status).toBe(400);
  await service.ask('POST', `/v3/order/${orderId}/test`);
  const current = await service.ask<Appointment>('GET', pathOf('phlebotomy', orderId));
  expect(current.body).toMatchObject({ id: (body as Appointment).id, status: 'confirmed' });
});

test('Orders that were seeded or simulated beyond their booking have an appointment', async () => {
  await using service = openSandbox();
  for (const order of service.sandbox.orders()) {
    if (!/appointment_scheduled|appointment_cancelled$/.test(order.status)) continue;
    const kind = order.method === 'walk_in_test' ? 'psc' : 'phlebotomy';
    const { body } = await service.ask<Appointment>('GET', pathOf(kind, order.orderId));
    expect(body.status).toBe(order.status.endsWith('scheduled') ? 'confirmed' : 'cancelled');
  }
  const kit = service.sandbox.orders().find(({ method }) => method === 'testkit')?.orderId ?? '';
  expect((await service.ask('GET', pathOf('phlebotomy', kit))).status).toBe(404);
});

test('Appointments and used keys survive a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const stateFile = join(folder, 'state.json');
  try {
    const before = openSandbox({ stateFile });
    const { orderId } = await readyOrder(before, 'phlebotomy');
    const key = { booking_key: at(await slotsOf(before, 'phlebotomy'), 0).booking_key };
    const booked = await before.ask('POST', pathOf('phlebotomy', orderId, '/book'), key);
    await before.sandbox.close();
    await using after = openSandbox({ stateFile });
    expect(await after.ask('GET', pathOf('phlebotomy', orderId))).toEqual(booked);
    expect((await after.ask('PATCH', pathOf('phlebotomy', orderId, '/reschedule'), key)).status).toBe(400);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('Centers are found within the radius, by lab and by what they can do', async () => {
  await using service = openSandbox();
  const count = async (query: string) => {
    const { status, body } = await service.ask<{ patient_service_centers?: unknown[] }>(
      'GET',
      `/v3/order/psc/info?${query}`,
    );
    return [status, body.patient_service_centers?.length];
  };
  expect(await count('zip_code=85004&lab_id=6')).toEqual([200, 3]);
  expect(await count('zip_code=85004&lab_id=6&radius=10')).toEqual([200, 2]);
  expect(await count('zip_code=85004&lab_id=6&radius=50')).toEqual([200, 4]);
  expect(await count('zip_code=85004&lab_id=6&capabilities=appointment_scheduling_via_junction')).toEqual([
    200, 2,
  ]);
  expect(await count('zip_code=99999&lab_id=6')).toEqual([200, 0]);
  expect((await count('zip_code=85004&lab_id=7'))[0]).toBe(404);
  expect((await count('zip_code=85004&lab_id=6&radius=11'))[0]).toBe(422);
  expect((await count('zip_code=850&lab_id=6'))[0]).toBe(422);
});

test('An order of an order set has the service centers of its lab', async () => {
  await using service = openSandbox();
  const ofMethod = service.sandbox.labTests().filter(({ method }) => method === 'walk_in_test');
  const centersOf = async (more: object) => {
    const { body } = await service.ask<{ order: { id: string } }>('POST', '/v3/order', {
      user_id: at(service.sandbox.users(), 0).userId,
      ...patient,
      ...more,
    });
    return service.ask('GET', `/v3/order/${body.order.id}/psc/info`);
  };
  const labTestIds = ofMethod.slice(0, 1).map(({ labTestId }) => labTestId);
  const alone = await centersOf({ order_set: { lab_test_ids: labTestIds } });
  const withMarker = await centersOf({
    order_set: { lab_test_ids: labTestIds, add_on: { marker_ids: [27_050] } },
    collection_method: 'walk_in_test',
  });
  expect(alone.status).toBe(200);
  expect(withMarker).toEqual(alone);
});

test('Center slots need codes or a zip code, and none at all is 404', async () => {
  await using service = openSandbox();
  const ask = (query: string) => service.ask<Days>('POST', `/v3/order/psc/appointment/availability?${query}`);
  const named = await ask('lab=quest&site_codes=SC001&site_codes=SC002');
  expect(new Set(named.body.slots.map((day) => day.location?.code))).toEqual(new Set(['SC001', 'SC002']));
  expect(named.body.slots).toHaveLength(28);
  const refused = await Promise.all([
    ask('lab=quest'),
    ask('lab=quest&site_codes=1&site_codes=2&site_codes=3&site_codes=4'),
    ask('lab=quest&site_codes=SC003'),
    ask('lab=sonora_quest&zip_code=85004'),
    ask('lab=labcorp&zip_code=85004'),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([422, 422, 404, 404, 422]);
});

test('An area says who comes and which centers there are', async () => {
  await using service = openSandbox();
  const served = await service.ask('GET', '/v3/order/area/info?zip_code=85004&radius=50');
  expect(served.body).toMatchObject({
    zip_code: '85004',
    phlebotomy: { is_served: true, providers: [{ name: 'getlabs' }, { name: 'phlebfinders' }] },
    central_labs: {
      quest: {
        patient_service_centers: { appointment_with_vital: true, within_radius: 4, radius: '50' },
        lab_id: 6,
      },
    },
  });
  const bare = await service.ask('GET', '/v3/order/area/info?zip_code=99999');
  expect(bare.body).toMatchObject({ phlebotomy: { is_served: false, providers: [] } });
  expect((await service.ask('GET', '/v3/order/area/info')).status).toBe(422);
});

test('A booking at a center under an idempotency key is replayed, and a refusal is not stored', async () => {
  await using service = openSandbox();
  const { orderId } = await readyOrder(service, 'psc');
  const book = async (booking_key: string, idempotencyKey: string) => {
    const answer = await service.sandbox.fetch(
      new Request(`http://sandbox.test${pathOf('psc', orderId, '/book')}`, {
        method: 'POST',
        headers: { 'x-service-api-key': apiKey, 'x-idempotency-key': idempotencyKey },
        body: JSON.stringify({ booking_key, async_confirmation: true }),
      }),
    );
    return { status: answer.status, body: await answer.json() };
  };
  const slots = await slotsOf(service, 'psc');
  const refused = await book('made.up', 'k-1');
  const first = await book(at(slots, 0).booking_key, 'k-1');
  expect([refused.status, first.status]).toEqual([400, 200]);
  expect(await book(at(slots, 0).booking_key, 'k-1')).toEqual(first);
  expect((await book(at(slots, 1).booking_key, 'k-2')).status).toBe(400);
});

test('An order names the centers around its patient', async () => {
  await using service = openSandbox();
  const orders = service.sandbox.orders();
  const walkIn = orders.findIndex(({ method }) => method === 'walk_in_test');
  const path = `/v3/order/${at(orders, walkIn).orderId}/psc/info`;
  const { body } = await service.ask<{ patient_service_centers: { distance: number }[] }>(
    'GET',
    `${path}?radius=10`,
  );
  expect(body.patient_service_centers.map(({ distance }) => distance)).toEqual([2, 8]);
  const kit = orders.find(({ method }) => method === 'testkit')?.orderId;
  expect((await service.ask('GET', `/v3/order/${kit}/psc/info`)).status).toBe(404);
});
