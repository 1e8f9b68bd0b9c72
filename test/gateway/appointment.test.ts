import { describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';
import {
  type VisitKind as Kind,
  visitKinds as kinds,
  readyOrder,
  reasonOf,
  slotsOf,
} from '../support/visiting.ts';

const result = `{
  __typename
  ... on AppointmentAccepted {
    appointment { id status statusRaw startAt timeZone appointmentNotes accessNotes type provider events { status } }
    order { id status { raw } appointment { id } }
  }
  ... on UserError { code message }
  ... on AppointmentRefused { status { raw } appointment { id status } }
  ... on InputRejected { issues { path code message } }
}`;

const [atHome, atCenter] = kinds;

const address = { firstLine: '100 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004' };
const rights = ['read:orders', 'write:appointments'];

async function change(lab: Lab, field: string, input: unknown, token?: string) {
  const type = /^(book|reschedule|cancel|request)/.exec(field)?.[0] ?? '';
  const place = field.startsWith('bookServiceCenter') ? 'ServiceCenter' : '';
  const inputType = `${type[0]?.toUpperCase()}${type.slice(1)}${place}AppointmentInput!`;
  const answer = await lab.query(
    `mutation ($input: ${inputType}) { changed: ${field}(input: $input) ${result} }`,
    {
      variables: { input },
      ...(token === undefined ? {} : { token }),
    },
  );
  return answer.data?.changed ?? answer;
}

async function booked(lab: Lab, kind: Kind) {
  const order = await readyOrder(lab, kind);
  const slots = await slotsOf(lab, kind);
  const input = { orderId: order.orderId, bookingKey: slots[2]?.bookingKey };
  const answer = await change(lab, `book${kind.name}Appointment`, input);
  return { ...order, slots, input, answer };
}

const writes = (lab: Lab) =>
  lab.sandbox.calls.filter((call) => /appointment\/(book|request|reschedule|cancel)$/.test(call));
const isFault = (code: string) => ({ errors: [{ extensions: { code } }] });

describe('availability at home', () => {
  const query = `query ($input: PhlebotomyAvailabilityInput!) {
    phlebotomyAvailability(input: $input) {
      date timeZone serviceCenter { name } slots { bookingKey startAt endAt expiresAt price isPriority availableCount }
    }
  }`;

  test('spans fourteen days from the day asked for', async () => {
    await using lab = await startLab();
    const answer = await lab.query(query, { variables: { input: { address, startDate: '2030-02-20' } } });
    const days = answer.data.phlebotomyAvailability;
    expect(days).toHaveLength(14);
    expect([days[0].date, days[13].date]).toEqual(['2030-02-20', '2030-03-05']);
    expect(days[0]).toMatchObject({ timeZone: 'America/Phoenix', serviceCenter: null });
    expect(days[1].slots[0]).toMatchObject({ price: 3500, isPriority: false });
  });

  test('needs no start date', async () => {
    await using lab = await startLab();
    const answer = await lab.query(query, { variables: { input: { address } } });
    expect(answer.data.phlebotomyAvailability).toHaveLength(14);
    expect(lab.sandbox.calls).toEqual(['POST /v3/order/phlebotomy/appointment/availability']);
  });

  test('is empty where nobody comes', async () => {
    await using lab = await startLab();
    const variables = { input: { address: { ...address, zip: '02108' } } };
    expect((await lab.query(query, { variables })).data).toEqual({ phlebotomyAvailability: [] });
  });

  test('is not asked for with an address that cannot be one, and the value is not repeated', async () => {
    await using lab = await startLab();
    const variables = { input: { address: { ...address, firstLine: 'Secret Lane', zip: '9' } } };
    const answer = await lab.query(query, { variables });
    expect(answer).toMatchObject(isFault('BAD_USER_INPUT'));
    expect(answer.errors?.[0]?.message).toMatch(/firstLine.*zip/);
    expect(JSON.stringify(answer)).not.toContain('Secret Lane');
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('shows the readable parts of a changed answer', async () => {
    await using lab = await startLab();
    const slots = [{ start: 'soon', price: 'x', is_priority: 3, extra: 1 }, null, 'slot'];
    const body = JSON.stringify({ slots: [{ date: 'someday', slots }, 7, { date: '2030-01-01' }] });
    lab.sandbox.faults.add({ path: /availability/, effect: { kind: 'answer', status: 200, body } });
    const answer = await lab.query(query, { variables: { input: { address } } });
    const empty = { bookingKey: null, startAt: null, endAt: null, expiresAt: null };
    expect(answer.data.phlebotomyAvailability).toEqual([
      {
        date: null,
        timeZone: null,
        serviceCenter: null,
        slots: [{ ...empty, price: null, isPriority: null, availableCount: null }],
      },
      { date: '2030-01-01', timeZone: null, serviceCenter: null, slots: [] },
    ]);
  });
});

describe('service centers', () => {
  const search = `query ($zipCode: String!, $labId: ID!, $radius: Int, $capabilities: [ServiceCenterCapability!]) {
    serviceCenters(zipCode: $zipCode, labId: $labId, radius: $radius, capabilities: $capabilities) {
      siteCode name distance capabilities capabilitiesRaw supportedBillTypes website hours
      address { firstLine city zip } location { longitude latitude }
    }
  }`;

  test('are found around a zip code', async () => {
    await using lab = await startLab();
    const answer = await lab.query(search, { variables: { zipCode: '85004', labId: 6, radius: 10 } });
    expect(answer.data.serviceCenters).toMatchObject([
      {
        siteCode: 'SC001',
        distance: 2,
        capabilities: ['STAT', 'APPOINTMENT_SCHEDULING_VIA_JUNCTION'],
        address: { firstLine: '201 Specimen Avenue', city: 'Phoenix', zip: '85004' },
        website: 'https://centers.example.com/SC001',
      },
      { siteCode: 'SC002', distance: 8 },
    ]);
    const narrowed = await lab.query(search, {
      variables: {
        zipCode: '85004',
        labId: 27,
        radius: 100,
        capabilities: ['APPOINTMENT_SCHEDULING_WITH_LAB'],
      },
    });
    expect(narrowed.data.serviceCenters).toHaveLength(3);
  });

  test('of a lab without any are none', async () => {
    await using lab = await startLab();
    const answer = await lab.query(search, { variables: { zipCode: '85004', labId: 7 } });
    expect(answer.data).toEqual({ serviceCenters: [] });
  });

  test('with new capabilities and broken rows keep their list', async () => {
    await using lab = await startLab();
    const rows = [{ site_code: 'A', capabilities: ['teleport', 3], metadata: 'x' }, { distance: 1 }, null];
    const body = JSON.stringify({ patient_service_centers: rows });
    lab.sandbox.faults.add({ path: '/v3/order/psc/info', effect: { kind: 'answer', status: 200, body } });
    const answer = await lab.query(search, { variables: { zipCode: '85004', labId: 6 } });
    expect(answer.errors).toBeUndefined();
    expect(answer.data.serviceCenters).toMatchObject([
      { siteCode: 'A', name: null, capabilities: [], capabilitiesRaw: ['teleport'], address: null },
    ]);
  });

  test.each([
    ['a zip code of four digits', { zipCode: '8500', labId: 6 }],
    ['a radius of eleven miles', { zipCode: '85004', labId: 6, radius: 11 }],
  ])('are not asked for with %s', async (_name, variables) => {
    await using lab = await startLab();
    expect(await lab.query(search, { variables })).toMatchObject(isFault('BAD_USER_INPUT'));
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('show their slots by center and day', async () => {
    await using lab = await startLab();
    const answer = await lab.query(
      '{ serviceCenterAvailability(input: { lab: QUEST, siteCodes: ["SC001", "SC002"] }) { date serviceCenter { siteCode name } } }',
    );
    const days = answer.data.serviceCenterAvailability;
    expect(days).toHaveLength(28);
    expect(
      new Set(days.map((day: { serviceCenter: { siteCode: string } }) => day.serviceCenter.siteCode)),
    ).toEqual(new Set(['SC001', 'SC002']));
  });

  test.each([
    ['nothing free', '{ lab: SONORA_QUEST, zipCode: "85004" }', { data: { serviceCenterAvailability: [] } }],
    ['no lab', '{ zipCode: "85004" }', isFault('BAD_USER_INPUT')],
    ['neither place', '{ lab: QUEST }', isFault('BAD_USER_INPUT')],
    ['both places', '{ lab: QUEST, zipCode: "85004", siteCodes: ["SC001"] }', isFault('BAD_USER_INPUT')],
    ['four centers', '{ lab: QUEST, siteCodes: ["1", "2", "3", "4"] }', isFault('BAD_USER_INPUT')],
    [
      'a lab that the service does not know',
      '{ labRaw: "acme", zipCode: "85004" }',
      isFault('BAD_USER_INPUT'),
    ],
  ])('asked for slots with %s answer so', async (_name, input, expected) => {
    await using lab = await startLab();
    const answer = await lab.query(`{ serviceCenterAvailability(input: ${input}) { date } }`);
    expect(answer).toMatchObject(expected);
  });
});

test('an area says who comes and which labs are near', async () => {
  await using lab = await startLab();
  const fields = `{ zipCode phlebotomy { isServed providers { provider providerRaw serviceTypes serviceTypesRaw } }
    labs { labSlug labId serviceCenterCount canBookAppointments capabilities supportedBillTypes } }`;
  const answer = await lab.query(`{ areaInfo(zipCode: "85004", radius: 50) ${fields} }`);
  expect(answer.data.areaInfo).toMatchObject({
    zipCode: '85004',
    phlebotomy: {
      isServed: true,
      providers: [
        { provider: 'GETLABS', serviceTypes: ['APPOINTMENT_READY'], serviceTypesRaw: ['appointment-ready'] },
        { provider: 'PHLEBFINDERS', serviceTypes: ['APPOINTMENT_REQUEST'] },
      ],
    },
    labs: [
      { labSlug: 'quest', labId: 6, serviceCenterCount: 4, canBookAppointments: true },
      { labSlug: 'labcorp', labId: 27, canBookAppointments: false },
    ],
  });
  const body = JSON.stringify({ phlebotomy: 3, central_labs: { new: { lab_id: 'x' }, broken: 1 } });
  lab.sandbox.faults.add({ path: '/v3/order/area/info', effect: { kind: 'answer', status: 200, body } });
  const changed = await lab.query(`{ areaInfo(zipCode: "85004") ${fields} }`);
  expect(changed.data.areaInfo).toMatchObject({
    zipCode: null,
    phlebotomy: null,
    labs: [{ labSlug: 'new', labId: null, capabilities: [] }],
  });
});

describe.each(kinds)('an appointment: $name', (kind) => {
  test('is booked, and the order shows it', async () => {
    await using lab = await startLab();
    const order = await readyOrder(lab, kind);
    const [slot] = await slotsOf(lab, kind);
    const input = {
      orderId: order.orderId,
      bookingKey: slot?.bookingKey,
      appointmentNotes: 'Ask for Avery.',
    };
    const answer = await change(lab, `book${kind.name}Appointment`, input);
    expect(answer).toMatchObject({
      __typename: 'AppointmentAccepted',
      appointment: {
        status: 'CONFIRMED',
        type: kind.type,
        appointmentNotes: 'Ask for Avery.',
        events: [{ status: 'SCHEDULED' }],
      },
      order: {
        id: order.orderId,
        status: { raw: `collecting_sample.${kind.method}.appointment_scheduled` },
        appointment: { id: answer.appointment.id },
      },
    });
    expect(Date.parse(answer.appointment.startAt)).toBe(Date.parse(slot?.startAt ?? ''));
  });

  test('is moved to another slot, with other notes', async () => {
    await using lab = await startLab();
    const { orderId, slots, answer } = await booked(lab, kind);
    const input = { orderId, bookingKey: slots[5]?.bookingKey, appointmentNotes: 'Back door.' };
    const moved = await change(lab, `reschedule${kind.name}Appointment`, input);
    expect(moved).toMatchObject({
      __typename: 'AppointmentAccepted',
      appointment: { id: answer.appointment.id, appointmentNotes: 'Back door.' },
    });
    expect(Date.parse(moved.appointment.startAt)).toBe(Date.parse(slots[5]?.startAt ?? ''));
  });

  test('is cancelled with a reason, and its order is updated', async () => {
    await using lab = await startLab();
    const { orderId } = await booked(lab, kind);
    const input = { orderId, cancellationReasonId: await reasonOf(lab, kind, false) };
    expect(await change(lab, `cancel${kind.name}Appointment`, input)).toMatchObject({
      __typename: 'AppointmentAccepted',
      appointment: { status: 'CANCELLED' },
      order: { status: { raw: `collecting_sample.${kind.method}.appointment_cancelled` } },
    });
  });

  test.each([
    ['is of another form', { kind: 'answer', status: 200, body: '{"reasons":[]}' }],
    ['fails', { kind: 'serverError' }],
    ['is refused', { kind: 'answer', status: 400, body: '{}' }],
    ['is limited', { kind: 'answer', status: 429, body: '{}', headers: { 'retry-after': '60' } }],
  ] as const)('is cancelled though the list of reasons %s', async (_name, effect) => {
    await using lab = await startLab();
    const { orderId } = await booked(lab, kind);
    const input = { orderId, cancellationReasonId: await reasonOf(lab, kind, false) };
    lab.sandbox.faults.add({ path: /cancellation-reasons$/, effect });
    expect(await change(lab, `cancel${kind.name}Appointment`, input)).toMatchObject({
      __typename: 'AppointmentAccepted',
    });
  });

  test('is not cancelled for a team without the feature, which is said so', async () => {
    await using lab = await startLab();
    const { orderId } = await booked(lab, kind);
    const input = { orderId, cancellationReasonId: await reasonOf(lab, kind, false) };
    lab.sandbox.faults.add({ path: /appointment\/cancel/, effect: { kind: 'featureNotEnabled' } });
    expect(await change(lab, `cancel${kind.name}Appointment`, input)).toMatchObject({
      __typename: 'FeatureNotEnabled',
    });
  });

  test('is not cancelled for a reason that needs notes without them, or for none of its own', async () => {
    await using lab = await startLab();
    const { orderId } = await booked(lab, kind);
    const other = { orderId, cancellationReasonId: await reasonOf(lab, kind, true) };
    const field = `cancel${kind.name}Appointment`;
    const issueAt = (path: string) => ({ code: 'INPUT_REJECTED', issues: [{ path: [path] }] });
    const before = writes(lab).length;
    expect(await change(lab, field, other)).toMatchObject(issueAt('notes'));
    expect(await change(lab, field, { ...other, notes: '  ' })).toMatchObject(issueAt('notes'));
    const unknown = { orderId, cancellationReasonId: crypto.randomUUID() };
    expect(await change(lab, field, unknown)).toMatchObject(issueAt('cancellationReasonId'));
    expect(writes(lab)).toHaveLength(before);
    const said = await change(lab, field, { ...other, notes: 'Moved away.' });
    expect(said.__typename).toBe('AppointmentAccepted');
  });

  test('is not booked with a key that was used or made up: the slot is unavailable', async () => {
    await using lab = await startLab();
    const { orderId, input } = await booked(lab, kind);
    await change(lab, `cancel${kind.name}Appointment`, {
      orderId,
      cancellationReasonId: await reasonOf(lab, kind, false),
    });
    const field = `book${kind.name}Appointment`;
    const unavailable = { __typename: 'SlotUnavailable', code: 'SLOT_UNAVAILABLE' };
    expect(await change(lab, field, input)).toMatchObject(unavailable);
    expect(await change(lab, field, { orderId, bookingKey: 'made.up' })).toMatchObject(unavailable);
  });

  test('is not moved to a slot that is gone, whether the service says 400 or 404', async () => {
    await using lab = await startLab();
    const { orderId, input } = await booked(lab, kind);
    const field = `reschedule${kind.name}Appointment`;
    expect(await change(lab, field, input)).toMatchObject({ code: 'SLOT_UNAVAILABLE' });
    lab.sandbox.faults.add({
      method: 'PATCH',
      path: /reschedule/,
      effect: { kind: 'answer', status: 404, body: '{"detail":"No slot"}' },
    });
    expect(await change(lab, field, { ...input, orderId })).toMatchObject({ code: 'SLOT_UNAVAILABLE' });
  });

  test('is refused with the status where the order does not allow it', async () => {
    await using lab = await startLab();
    const { orderId, slots, answer } = await booked(lab, kind);
    const field = `book${kind.name}Appointment`;
    const second = await change(lab, field, { orderId, bookingKey: slots[7]?.bookingKey });
    expect(second).toMatchObject({
      __typename: 'AppointmentRefused',
      code: 'APPOINTMENT_REFUSED',
      status: { raw: `collecting_sample.${kind.method}.appointment_scheduled` },
      appointment: { id: answer.appointment.id },
    });
    const ended = lab.sandbox
      .orders()
      .find(({ method, status }) => method === kind.method && /(completed|partial_results)$/.test(status));
    const late = await change(lab, field, { orderId: ended?.orderId, bookingKey: slots[8]?.bookingKey });
    expect(late).toMatchObject({ code: 'APPOINTMENT_REFUSED' });
  });

  test('that does not exist is neither moved nor cancelled', async () => {
    await using lab = await startLab();
    const { orderId } = await readyOrder(lab, kind);
    const cancel = { orderId, cancellationReasonId: await reasonOf(lab, kind, false) };
    expect(await change(lab, `cancel${kind.name}Appointment`, cancel)).toMatchObject({ code: 'NOT_FOUND' });
    const move = { orderId, bookingKey: 'any' };
    expect(await change(lab, `reschedule${kind.name}Appointment`, move)).toMatchObject({ code: 'NOT_FOUND' });
    expect(writes(lab)).toEqual([]);
  });

  test.each(['lostAnswer', 'truncatedBody'] as const)(
    'whose answer was lost (%s) is found again, whatever happened to it since',
    async (effect) => {
      await using lab = await startLab();
      const lose = () =>
        lab.sandbox.faults.add({
          path: /appointment\/(book|reschedule|cancel)$/,
          times: 1,
          effect: { kind: effect },
        });
      lose();
      const { orderId, slots, answer } = await booked(lab, kind);
      expect(answer).toMatchObject({
        __typename: 'AppointmentAccepted',
        appointment: { status: 'CONFIRMED' },
      });
      lose();
      const input = { orderId, bookingKey: slots[6]?.bookingKey };
      const moved = await change(lab, `reschedule${kind.name}Appointment`, input);
      expect(Date.parse(moved.appointment.startAt)).toBe(Date.parse(slots[6]?.startAt ?? ''));
      lose();
      const reason = { orderId, cancellationReasonId: await reasonOf(lab, kind, false) };
      expect(await change(lab, `cancel${kind.name}Appointment`, reason)).toMatchObject({
        __typename: 'AppointmentAccepted',
        appointment: { status: 'CANCELLED' },
      });
      expect(writes(lab)).toHaveLength(3);
    },
  );

  test('that the service failed to make is not claimed, and is asked for once', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({ path: /appointment\/book$/, times: 1, effect: { kind: 'serverError' } });
    const { answer, orderId, input } = await booked(lab, kind);
    expect(answer).toMatchObject(isFault('UPSTREAM_UNAVAILABLE'));
    expect(writes(lab)).toHaveLength(1);
    expect(await change(lab, `book${kind.name}Appointment`, { ...input, orderId })).toMatchObject({
      __typename: 'AppointmentAccepted',
    });
  });

  test('for a team without the feature is refused as such', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({ path: /appointment\/book$/, effect: { kind: 'featureNotEnabled' } });
    expect((await booked(lab, kind)).answer).toMatchObject({ code: 'FEATURE_NOT_ENABLED' });
  });

  test('is not booked twice by two equal calls at once', async () => {
    await using lab = await startLab();
    const { orderId } = await readyOrder(lab, kind);
    const [slot] = await slotsOf(lab, kind);
    const input = { orderId, bookingKey: slot?.bookingKey };
    const answers = await Promise.all([1, 2].map(() => change(lab, `book${kind.name}Appointment`, input)));
    const names = answers.map((answer) => answer.__typename);
    expect(names.toSorted()).toEqual(['AppointmentAccepted', 'AppointmentRefused']);
  });
});

test('notes beyond 1,000 characters and an empty key go nowhere, and are not repeated', async () => {
  await using lab = await startLab();
  const { orderId } = await readyOrder(lab, atHome);
  const calls = lab.sandbox.calls.length;
  const input = { orderId, bookingKey: ' ', appointmentNotes: 'canary'.repeat(200) };
  const answer = await change(lab, 'bookPhlebotomyAppointment', input);
  expect(answer.issues.map(({ path }: { path: string[] }) => path)).toEqual([
    ['bookingKey'],
    ['appointmentNotes'],
  ]);
  expect(JSON.stringify(answer)).not.toContain('canary');
  expect(lab.sandbox.calls).toHaveLength(calls);
});

test('the issues the service names come back in the names of the graph', async () => {
  await using lab = await startLab();
  const detail = [
    { type: 'x', loc: ['body', 'address', 'zip_code'], msg: 'Not a zip code', input: 'canary' },
  ];
  lab.sandbox.faults.add({
    path: /appointment\/request$/,
    effect: { kind: 'answer', status: 422, body: JSON.stringify({ detail }) },
  });
  const { orderId } = await readyOrder(lab, atHome);
  const input = { orderId, address, provider: 'PHLEBFINDERS' };
  const answer = await change(lab, 'requestPhlebotomyAppointment', input);
  expect(answer).toMatchObject({
    code: 'INPUT_REJECTED',
    issues: [{ path: ['address', 'zip'], message: 'Not a zip code' }],
  });
  expect(JSON.stringify(answer)).not.toContain('canary');
});

test('an appointment that is asked for has no time yet, and stores the directions to the door', async () => {
  await using lab = await startLab();
  const { orderId } = await readyOrder(lab, atHome);
  const input = {
    orderId,
    address: { ...address, accessNotes: 'Ring twice.' },
    provider: 'PHLEBFINDERS',
    appointmentNotes: 'Mornings.',
  };
  const answer = await change(lab, 'requestPhlebotomyAppointment', input);
  expect(answer).toMatchObject({
    __typename: 'AppointmentAccepted',
    appointment: {
      status: 'PENDING',
      startAt: null,
      provider: 'PHLEBFINDERS',
      accessNotes: 'Ring twice.',
      appointmentNotes: 'Mornings.',
    },
  });
  expect(await change(lab, 'requestPhlebotomyAppointment', input)).toMatchObject({
    code: 'APPOINTMENT_REFUSED',
  });
});

test('a request without a name or a street is refused before the call; a lost answer is found', async () => {
  await using lab = await startLab();
  const { orderId } = await readyOrder(lab, atHome);
  const wrong = { orderId, address: { ...address, firstLine: 'Nowhere' } };
  expect(await change(lab, 'requestPhlebotomyAppointment', wrong)).toMatchObject({
    code: 'INPUT_REJECTED',
    issues: [{ path: ['address', 'firstLine'] }, { path: ['provider'] }],
  });
  lab.sandbox.faults.add({ path: /appointment\/request$/, times: 1, effect: { kind: 'lostAnswer' } });
  const right = { orderId, address, providerRaw: 'phlebfinders' };
  expect(await change(lab, 'requestPhlebotomyAppointment', right)).toMatchObject({
    __typename: 'AppointmentAccepted',
  });
  expect(writes(lab)).toHaveLength(1);
});

test('orders without appointments show none, and kits are not asked about', async () => {
  await using lab = await startLab();
  const answer = await lab.query('{ orders(first: 100) { nodes { method appointment { id statusRaw } } } }');
  expect(answer.errors).toBeUndefined();
  const asked = lab.sandbox.calls.filter((call) => /appointment$/.test(call)).length;
  const visited = lab.sandbox.orders().filter(({ method }) => /walk_in|phlebotomy/.test(method)).length;
  expect(asked).toBe(visited);
  expect(answer.data.orders.nodes.some((order: { appointment: unknown }) => order.appointment !== null)).toBe(
    true,
  );
});

test('an appointment of values nobody knows is shown as it is', async () => {
  await using lab = await startLab();
  const { orderId } = await booked(lab, atCenter);
  const body = JSON.stringify({
    id: 'a-1',
    status: 'postponed',
    type: 'moon_base',
    provider: 5,
    start_at: '2030-01-01T10:00:00',
    events: [{ status: 'teleported' }, { created_at: 3 }, null],
    location: { lng: 'x' },
  });
  lab.sandbox.faults.add({
    method: 'GET',
    path: /psc\/appointment$/,
    effect: { kind: 'answer', status: 200, body },
  });
  const answer = await lab.query(`{ order(id: "${orderId}") { appointment {
    id status statusRaw type typeRaw provider providerRaw startAt location { latitude } events { status statusRaw createdAt }
  } } }`);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.order.appointment).toEqual({
    id: 'a-1',
    status: null,
    statusRaw: 'postponed',
    type: null,
    typeRaw: 'moon_base',
    provider: null,
    providerRaw: null,
    startAt: '2030-01-01T10:00:00.000Z',
    location: null,
    events: [{ status: null, statusRaw: 'teleported', createdAt: null }],
  });
});

test('a browser books for its own orders only: another’s order and a random one look the same', async () => {
  await using lab = await startLab();
  const order = await readyOrder(lab, atHome);
  const other = lab.sandbox.orders().find(({ userId }) => userId !== order.userId);
  const token = await lab.tokenFor(order.userId, { scopes: rights });
  const slots = await slotsOf(lab, atHome);
  const cancellationReasonId = await reasonOf(lab, atHome, false);
  for (const [field, more] of [
    ['bookPhlebotomyAppointment', { bookingKey: slots[0]?.bookingKey }],
    ['reschedulePhlebotomyAppointment', { bookingKey: slots[0]?.bookingKey }],
    ['cancelPhlebotomyAppointment', { cancellationReasonId }],
    ['requestPhlebotomyAppointment', { address, provider: 'PHLEBFINDERS' }],
  ] as const) {
    const foreign = await change(lab, field, { orderId: other?.orderId, ...more }, token);
    const random = await change(lab, field, { orderId: crypto.randomUUID(), ...more }, token);
    expect(foreign).toEqual(random);
    expect(foreign).toMatchObject({ __typename: 'NotFound' });
  }
  expect(writes(lab)).toEqual([]);
  const input = { orderId: order.orderId, bookingKey: slots[0]?.bookingKey };
  const own = await change(lab, 'bookPhlebotomyAppointment', input, token);
  expect(own.__typename).toBe('AppointmentAccepted');
});

test('a browser needs the right to change appointments; an appointment of another user is not shown', async () => {
  await using lab = await startLab();
  const { orderId, userId, input } = await booked(lab, atHome);
  const token = await lab.tokenFor(userId);
  const refused = await change(lab, 'bookPhlebotomyAppointment', input, token);
  expect(refused).toMatchObject(isFault('FORBIDDEN'));
  const foreign = JSON.stringify({ id: 'a-1', user_id: crypto.randomUUID(), order_id: orderId });
  lab.sandbox.faults.add({
    method: 'GET',
    path: /phlebotomy\/appointment$/,
    effect: { kind: 'answer', status: 200, body: foreign },
  });
  const answer = await lab.query(`{ order(id: "${orderId}") { id appointment { id } } }`, { token });
  expect(answer.data).toEqual({ order: { id: orderId, appointment: null } });
});

test('the team receives appointment events, with the order they are for', async () => {
  await using lab = await startLab();
  const order = await readyOrder(lab, atHome);
  await lab.sandbox.webhooks.settled();
  const events = await subscribeOverSse({
    url: lab.url,
    token: gatewayKey,
    query: `subscription { events(types: ["labtest.appointment.created", "labtest.appointment.updated"]) {
      __typename type userId ... on AppointmentChanged { appointment { status startAt } order { id } }
      ... on UnknownEvent { payload }
    } }`,
  });
  const [slot] = await slotsOf(lab, atHome);
  const input = { orderId: order.orderId, bookingKey: slot?.bookingKey };
  await change(lab, 'bookPhlebotomyAppointment', input);
  expect((await events.next())?.data.events).toMatchObject({
    __typename: 'AppointmentChanged',
    type: 'labtest.appointment.created',
    userId: order.userId,
    appointment: { status: 'CONFIRMED' },
    order: { id: order.orderId },
  });
  lab.sandbox.webhooks.send('labtest.appointment.updated', { status: 'lost' }, { userId: order.userId });
  expect((await events.next())?.data.events).toMatchObject({
    __typename: 'UnknownEvent',
    payload: { status: 'lost' },
  });
  await events.close();
});

test('a booking at a center that is repeated under its idempotency key gets the first answer again', async () => {
  await using lab = await startLab();
  const { orderId } = await readyOrder(lab, atCenter);
  const [slot] = await slotsOf(lab, atCenter);
  const input = { orderId, bookingKey: slot?.bookingKey, idempotencyKey: 'visit-1', asyncConfirmation: true };
  const first = await change(lab, 'bookServiceCenterAppointment', input);
  expect(first.__typename).toBe('AppointmentAccepted');
  expect(await change(lab, 'bookServiceCenterAppointment', input)).toEqual(first);
  const other = { ...input, idempotencyKey: 'visit-2' };
  expect(await change(lab, 'bookServiceCenterAppointment', other)).toMatchObject({
    code: 'APPOINTMENT_REFUSED',
  });
  const refused = [
    [' ', 'REQUIRED'],
    ['k'.repeat(256), 'TOO_LONG'],
  ] as const;
  for (const [idempotencyKey, code] of refused) {
    expect(await change(lab, 'bookServiceCenterAppointment', { ...input, idempotencyKey })).toMatchObject({
      code: 'INPUT_REJECTED',
      issues: [{ path: ['idempotencyKey'], code }],
    });
  }
});

test('an order names the service centers around its patient, where its method has any', async () => {
  await using lab = await startLab();
  const walkIn = lab.sandbox.orders().find(({ method }) => method === 'walk_in_test');
  const kit = lab.sandbox.orders().find(({ method }) => method === 'testkit');
  const answer = await lab.query(`{
    walkIn: order(id: "${walkIn?.orderId}") { serviceCenters(radius: 10) { siteCode distance } }
    urgent: order(id: "${walkIn?.orderId}") { serviceCenters(capabilities: [STAT]) { capabilities } }
    kit: order(id: "${kit?.orderId}") { serviceCenters { siteCode } }
  }`);
  expect(answer.data.walkIn.serviceCenters.map(({ distance }: { distance: number }) => distance)).toEqual([
    2, 8,
  ]);
  expect(answer.data.urgent.serviceCenters).toEqual([{ capabilities: ['STAT'] }]);
  expect(answer.data.kit).toEqual({ serviceCenters: null });
});

test('slots of up to 15 minutes ago are asked for only on request', async () => {
  await using lab = await startLab();
  await lab.query(
    '{ serviceCenterAvailability(input: { lab: QUEST, zipCode: "85004", allowStale: true }) { date } }',
  );
  await slotsOf(lab, atCenter);
  expect(lab.sandbox.calls).toEqual([
    'POST /v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=25&allow_stale=true',
    'POST /v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=25',
  ]);
});
