import { describe, expect, test } from 'vitest';
import { type Lab, readAnew, startLab } from '../support/lab.ts';
import { type LaggingService, startLaggingService } from '../support/lagging-service.ts';

/** The answer to a booking is true now, and names the fault if there was one. */

const result = `{
  __typename
  ... on AppointmentAccepted { appointment { id status startAt } }
  ... on UserError { code message }
  ... on AppointmentRefused { appointment { id status } }
  ... on InputRejected { issues { path message } }
}`;

async function change(lab: Lab, field: string, type: string, input: unknown) {
  const answer = await lab.query(
    `mutation ($input: ${type}!) { changed: ${field}(input: $input) ${result} }`,
    { variables: { input } },
  );
  return answer.data?.changed ?? answer;
}

const book = (lab: Lab, input: unknown) =>
  change(lab, 'bookServiceCenterAppointment', 'BookServiceCenterAppointmentInput', input);
const bookAtHome = (lab: Lab, input: unknown) =>
  change(lab, 'bookPhlebotomyAppointment', 'BookAppointmentInput', input);

/** A walk-in order at its requisition, without appointment. */
async function readyOrder(lab: Lab): Promise<string> {
  const order = lab.sandbox
    .orders()
    .find(({ method, status }) => method === 'walk_in_test' && status.endsWith('.ordered'));
  await lab.query(`mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`);
  return order?.orderId ?? '';
}

const atCenter = 'serviceCenterAvailability(input: { lab: QUEST, zipCode: "85004" })';
const atHome =
  'phlebotomyAvailability(input: { address: { firstLine: "100 Example Street", city: "Phoenix", state: "AZ", zip: "85004" } })';

async function keysOf(lab: Lab, field: string): Promise<readonly string[]> {
  const answer = await lab.query(`{ days: ${field} { slots { bookingKey } } }`);
  return answer.data.days.flatMap((day: { slots: { bookingKey: string }[] }) =>
    day.slots.map(({ bookingKey }) => bookingKey),
  );
}

async function cancel(lab: Lab, orderId: string): Promise<void> {
  const { data } = await lab.query(
    '{ reasons: appointmentCancellationReasons(type: PATIENT_SERVICE_CENTER) { id needsNotes } }',
  );
  const reason = data.reasons.find((each: { needsNotes: boolean }) => !each.needsNotes);
  const input = { orderId, cancellationReasonId: reason.id };
  const answer = await change(lab, 'cancelServiceCenterAppointment', 'CancelAppointmentInput', input);
  expect(answer.__typename).toBe('AppointmentAccepted');
}

/** Books under an idempotency key and cancels. Returns the input of the booking. */
async function bookAndCancel(lab: Lab) {
  const orderId = await readyOrder(lab);
  const [bookingKey] = await keysOf(lab, atCenter);
  const input = { orderId, bookingKey, idempotencyKey: 'visit-1' };
  await book(lab, input);
  await cancel(lab, orderId);
  return input;
}

describe('a booking under an idempotency key', () => {
  test('that is repeated after its appointment was cancelled is no success: its booking key was used', async () => {
    await using lab = await startLab();
    const input = await bookAndCancel(lab);
    expect(await book(lab, input)).toMatchObject({ __typename: 'SlotUnavailable' });
  });

  test('that is repeated after its appointment was cancelled is no success where the service no longer shows it', async () => {
    await using lab = await startLab();
    const input = await bookAndCancel(lab);
    const hidden = { kind: 'answer', status: 404, body: '{}' } as const;
    lab.sandbox.faults.add({ method: 'GET', path: /psc\/appointment$/, effect: hidden });
    const repeated = await book(lab, input);
    await lab.query(`mutation { cancelOrder(id: "${input.orderId}") { __typename } }`);
    const late = await book(lab, input);
    expect(repeated).toMatchObject({ __typename: 'SlotUnavailable' });
    expect(late).toMatchObject({ __typename: 'AppointmentRefused', appointment: null });
  });

  test('that is repeated after its appointment made room for another is refused with the current one', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [one, two] = await keysOf(lab, atCenter);
    const input = { orderId, bookingKey: one, idempotencyKey: 'visit-1' };
    await book(lab, input);
    await cancel(lab, orderId);
    const { appointment } = await book(lab, { orderId, bookingKey: two });
    expect(await book(lab, input)).toMatchObject({
      __typename: 'AppointmentRefused',
      appointment: { id: appointment.id, status: 'CONFIRMED' },
    });
  });

  test('that is repeated after its appointment was moved shows its current time', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [one, two] = await keysOf(lab, atCenter);
    const input = { orderId, bookingKey: one, idempotencyKey: 'visit-1' };
    const first = await book(lab, input);
    const move = { orderId, bookingKey: two };
    const moved = await change(lab, 'rescheduleServiceCenterAppointment', 'RescheduleAppointmentInput', move);
    expect(moved.appointment.startAt).not.toBe(first.appointment.startAt);
    expect(await book(lab, input)).toEqual(moved);
  });

  test('succeeds where the service still shows the time before it, with no appointment or a cancelled one', async () => {
    let service: LaggingService | undefined;
    await using lab = await startLab({
      env: readAnew,
      serve: async (_sandbox, url) => {
        service = await startLaggingService(url);
        return service.url;
      },
    });
    const orderId = await readyOrder(lab);
    const keys = await keysOf(lab, atCenter);
    const confirmed = { __typename: 'AppointmentAccepted', appointment: { status: 'CONFIRMED' } };
    const bookLagging = async (bookingKey: string | undefined, idempotencyKey: string) => {
      service?.hold();
      const booked = await book(lab, { orderId, bookingKey, idempotencyKey });
      service?.release();
      return booked;
    };
    expect(await bookLagging(keys[0], 'visit-1')).toMatchObject(confirmed);
    await cancel(lab, orderId);
    const shown = await lab.query(`{ order(id: "${orderId}") { status { raw } appointment { status } } }`);
    expect(shown.data.order).toEqual({
      status: { raw: 'collecting_sample.walk_in_test.appointment_cancelled' },
      appointment: { status: 'CANCELLED' },
    });
    expect(await bookLagging(keys[1], 'visit-2')).toMatchObject(confirmed);
    await service?.close();
  });

  test('whose appointment cannot be read afterwards is reported as possibly made', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [bookingKey] = await keysOf(lab, atCenter);
    const path = /psc\/appointment$/;
    lab.sandbox.faults.add({ method: 'GET', path, times: 1 });
    lab.sandbox.faults.add({ method: 'GET', path, effect: { kind: 'serverError' } });
    const input = { orderId, bookingKey, idempotencyKey: 'visit-1' };
    expect(await book(lab, input)).toMatchObject({
      errors: [{ extensions: { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true } }],
    });
    lab.sandbox.faults.clear();
    expect((await book(lab, input)).__typename).toBe('AppointmentAccepted');
  });

  test('that the service still works on is unsettled: neither refused nor booked', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [bookingKey] = await keysOf(lab, atCenter);
    const path = /appointment\/book$/;
    lab.sandbox.faults.add({ path, times: 1, effect: { kind: 'answer', status: 409, body: '{}' } });
    const input = { orderId, bookingKey, idempotencyKey: 'visit-1' };
    const early = await book(lab, input);
    const late = await book(lab, input);
    expect(early.errors?.[0].extensions).toEqual({
      code: 'IDEMPOTENCY_UNSETTLED',
      retryAfterSeconds: 5,
      mayHaveBeenDone: true,
    });
    expect(late).toMatchObject({ __typename: 'AppointmentAccepted' });
  });

  test('books another slot under the same key, once there is room for it', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [one, two] = await keysOf(lab, atCenter);
    const first = await book(lab, { orderId, bookingKey: one, idempotencyKey: 'visit-1' });
    const second = { orderId, bookingKey: two, idempotencyKey: 'visit-1' };
    expect(await book(lab, second)).toMatchObject({ __typename: 'AppointmentRefused' });
    await cancel(lab, orderId);
    const booked = await book(lab, second);
    expect(booked).toMatchObject({ __typename: 'AppointmentAccepted', appointment: { status: 'CONFIRMED' } });
    expect(booked.appointment.startAt).not.toBe(first.appointment.startAt);
  });
});

describe('a refused booking', () => {
  const takenOtherwise =
    'The sample of this order is taken in another way: it has no appointment of this kind.';

  test('of a visit at home for a walk-in order names the order, not the slot', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [bookingKey] = await keysOf(lab, atHome);
    expect(await bookAtHome(lab, { orderId, bookingKey })).toMatchObject({
      __typename: 'AppointmentRefused',
      message: `${takenOtherwise} The service says: "An order of method walk_in_test has no appointment of this kind"`,
    });
  });

  test('of a visit for a kit names the order, not the slot', async () => {
    await using lab = await startLab();
    const kit = lab.sandbox.orders().find(({ method }) => method === 'testkit');
    const [bookingKey] = await keysOf(lab, atHome);
    expect(await bookAtHome(lab, { orderId: kit?.orderId, bookingKey })).toMatchObject({
      __typename: 'AppointmentRefused',
      message: `${takenOtherwise} The service says: "An order of method testkit has no appointment of this kind"`,
    });
  });

  test('of a provider that takes no requests blames neither the status nor an appointment', async () => {
    await using lab = await startLab();
    const order = lab.sandbox
      .orders()
      .find(({ method, status }) => method === 'at_home_phlebotomy' && status.endsWith('.ordered'));
    await lab.query(`mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`);
    const address = { firstLine: '100 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004' };
    const input = { orderId: order?.orderId, address, provider: 'GETLABS' };
    expect(await change(lab, 'requestPhlebotomyAppointment', 'RequestAppointmentInput', input)).toMatchObject(
      {
        __typename: 'AppointmentRefused',
        message: expect.stringMatching(
          /^The service refused this for an order with the status "[^"]+"\. The service says: "The provider takes bookings, not requests"$/,
        ),
      },
    );
  });

  test.each([
    [404, 'This slot is taken, or its booking key was used or has expired. Ask for the slots again.'],
    [
      400,
      'The service refused the booking; most often the slot is taken, or its booking key was used or has expired. Ask for the slots again. The service says: "no"',
    ],
  ])('with %i says of the slot what is known', async (status, message) => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const effect = { kind: 'answer', status, body: '{"detail":"no"}' } as const;
    lab.sandbox.faults.add({ path: /appointment\/book$/, effect });
    expect(await book(lab, { orderId, bookingKey: 'k' })).toMatchObject({
      code: 'SLOT_UNAVAILABLE',
      message,
    });
  });

  /** Books where the service answers with this status, and shows the order with this one. */
  async function bookAt(answered: number, status: string) {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const refusal = { kind: 'answer', status: answered, body: '{"detail":"no"}' } as const;
    lab.sandbox.faults.add({ path: /appointment\/book$/, effect: refusal });
    lab.sandbox.faults.add({ path: `/v3/order/${orderId}`, effect: { kind: 'unknownStatus', status } });
    return (await book(lab, { orderId, bookingKey: 'k' })).__typename;
  }

  test.each([
    [404, 'received.walk_in_test.ordered', 'SlotUnavailable'],
    [410, 'received.walk_in_test.ordered', 'SlotUnavailable'],
    [400, 'received.walk_in_test.ordered', 'AppointmentRefused'],
    [404, 'received.walk_in_test.a_new_step', 'SlotUnavailable'],
    [404, 'sample_with_lab.walk_in_test.partial_results', 'AppointmentRefused'],
    [404, 'cancelled.walk_in_test.cancelled', 'AppointmentRefused'],
  ])('with %i at the status %s is %s', async (answered, status, kind) => {
    expect(await bookAt(answered, status)).toBe(kind);
  });

  test('with a status that speaks of neither slot nor order is a fault', async () => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const effect = { kind: 'answer', status: 405, body: '{"detail":"no"}' } as const;
    lab.sandbox.faults.add({ path: /appointment\/book$/, effect });
    expect(await book(lab, { orderId, bookingKey: 'k' })).toMatchObject({
      errors: [{ extensions: { code: 'UPSTREAM_REJECTED' } }],
    });
  });
});

test('two who ask for slots at once get booking keys of their own', async () => {
  await using lab = await startLab();
  for (const field of [atHome, atCenter]) {
    const answers = await Promise.all([keysOf(lab, field), keysOf(lab, field)]);
    const keys = answers.flat();
    expect(keys.length).toBeGreaterThan(20);
    expect(new Set(keys).size).toBe(keys.length);
  }
});

test('an appointment at a center is cancelled after its order, which stays at its end', async () => {
  await using lab = await startLab();
  const orderId = await readyOrder(lab);
  const [first, second] = await keysOf(lab, atCenter);
  await book(lab, { orderId, bookingKey: first });
  await lab.query(`mutation { cancelOrder(id: "${orderId}") { __typename } }`);
  const input = { orderId, bookingKey: second };
  const moved = await change(lab, 'rescheduleServiceCenterAppointment', 'RescheduleAppointmentInput', input);
  await cancel(lab, orderId);
  const { data } = await lab.query(`{ order(id: "${orderId}") { status { raw } appointment { status } } }`);
  expect(moved.__typename).toBe('AppointmentRefused');
  expect(data.order).toEqual({
    status: { raw: 'cancelled.walk_in_test.cancelled' },
    appointment: { status: 'CANCELLED' },
  });
});

test('an appointment that the service cannot show is rescheduled if the status of its order says that there is one', async () => {
  await using lab = await startLab();
  const orderId = await readyOrder(lab);
  const [first, second] = await keysOf(lab, atCenter);
  const booked = await book(lab, { orderId, bookingKey: first });
  const effect = { kind: 'answer', status: 404, body: '{"detail":"Not Found"}' } as const;
  lab.sandbox.faults.add({ path: /appointment$/, effect });

  const input = { orderId, bookingKey: second };
  const moved = await change(lab, 'rescheduleServiceCenterAppointment', 'RescheduleAppointmentInput', input);

  expect(moved).toMatchObject({
    __typename: 'AppointmentAccepted',
    appointment: {
      id: booked.appointment.id,
      startAt: expect.not.stringMatching(booked.appointment.startAt),
    },
  });
});

test.each([
  ['cannot show', {}],
  ['did not show at first', { times: 1 }],
])(
  'the move of an appointment that the service %s may have been done where it failed',
  async (_how, often) => {
    await using lab = await startLab();
    const orderId = await readyOrder(lab);
    const [first, second] = await keysOf(lab, atCenter);
    await book(lab, { orderId, bookingKey: first });
    const hidden = { kind: 'answer', status: 404, body: '{"detail":"Not Found"}' } as const;
    lab.sandbox.faults.add({ path: /appointment$/, effect: hidden, ...often });
    lab.sandbox.faults.add({ path: /reschedule$/, effect: { kind: 'serverError' } });

    const input = { orderId, bookingKey: second };
    const moved = await change(
      lab,
      'rescheduleServiceCenterAppointment',
      'RescheduleAppointmentInput',
      input,
    );

    expect(moved.errors).toMatchObject([
      { extensions: { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true } },
    ]);
  },
);
