import { describe, expect, test } from 'vitest';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { patient, physician } from '../contract/people.ts';
import { at, type OpenSandbox, openReceiver, openSandbox, requestTo, statusesOf } from './support.ts';

const [open, delegated, pending] = createLabAccounts(1);

const testsOf = ({ sandbox }: OpenSandbox, method: string) =>
  sandbox
    .labTests()
    .filter((labTest) => labTest.method === method)
    .map(({ labTestId }) => labTestId);

/** A test of the lab whose only account is delegated. */
const lipidCheckOf = ({ sandbox }: OpenSandbox) =>
  sandbox.labTests().find(({ name }) => name === 'Lipid Check')?.labTestId;

function orderOf(service: OpenSandbox, more: object = {}) {
  return {
    user_id: at(service.sandbox.users(), 0).userId,
    order_set: { lab_test_ids: testsOf(service, 'at_home_phlebotomy').slice(0, 1) },
    ...patient,
    ...more,
  };
}

interface Created {
  readonly order: {
    readonly id: string;
    readonly lab_test: { readonly id: string; readonly name: string };
    readonly clinical_notes: string | null;
  };
}

async function send(service: OpenSandbox, body: object, headers: Readonly<Record<string, string>>) {
  const request = requestTo('http://sandbox.test', 'POST', '/v3/order', body);
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
  const answer = await service.sandbox.fetch(request);
  return { status: answer.status, body: await answer.json() };
}

describe('an order', () => {
  test.each(['/v3/order', '/v3/order/create'])(
    'placed at %s is received as it was asked for',
    async (path) => {
      await using service = openSandbox();
      const more = { clinical_notes: 'Fasting.', physician, passthrough: 'basket 7', icd_codes: ['E78.5'] };
      const { status, body } = await service.ask('POST', path, orderOf(service, more));
      expect(status).toBe(200);
      expect(body).toMatchObject({
        status: 'success',
        message: 'Order created successfully',
        order: {
          events: [{ status: 'received.at_home_phlebotomy.ordered' }],
          patient_details: { first_name: 'Avery', dob: '1988-04-12T00:00:00+00:00' },
          patient_address: { country: 'United States', access_notes: 'Blue door.' },
          clinical_notes: 'Fasting.',
          passthrough: 'basket 7',
          physician,
          icd_codes: ['E78.5'],
          origin: 'initial',
        },
      });
    },
  );

  test('is announced once, as created', async () => {
    await using service = openSandbox();
    await using receiver = await openReceiver();
    service.sandbox.webhooks.register(receiver.url);
    await service.ask('POST', '/v3/order', orderOf(service));
    await service.sandbox.webhooks.settled();
    expect(receiver.received.map(({ body }) => body.event_type)).toEqual(['labtest.order.created']);
    expect(statusesOf(receiver.received)).toEqual(['received.at_home_phlebotomy.ordered']);
  });

  test('made of a test and add-ons gets a lab test of its own, whose markers are both', async () => {
    await using service = openSandbox();
    const [labTestId] = testsOf(service, 'at_home_phlebotomy');
    const order_set = { lab_test_ids: [labTestId], add_on: { marker_ids: [27_001] } };
    const more = { order_set, collection_method: 'at_home_phlebotomy' };
    const { body } = await service.ask<Created>('POST', '/v3/order', orderOf(service, more));
    const set = await service.ask<{ markers: { id: number }[] }>(
      'POST',
      '/v3/lab_tests/list_order_set_markers?size=100',
      { lab_test_ids: [body.order.lab_test.id] },
    );
    expect(body.order.lab_test.id).not.toBe(labTestId);
    expect(set.body.markers.map(({ id }) => id)).toEqual([
      27_001, 27_010, 27_013, 27_016, 27_900, 27_901, 27_904, 27_905,
    ]);
  });

  test('made of several things gets the results of them all', async () => {
    await using service = openSandbox();
    const order_set = { add_on: { marker_ids: [27_001, 27_002] } };
    const more = { order_set, collection_method: 'walk_in_test' };
    const { body } = await service.ask<Created>('POST', '/v3/order', orderOf(service, more));
    const final = 'completed.walk_in_test.completed';
    await service.ask('POST', `/v3/order/${body.order.id}/test?final_status=${final}`);
    const result = await service.ask<{ results: unknown[] }>('GET', `/v3/order/${body.order.id}/result`);
    expect(result.body.results).toHaveLength(2);
  });

  test.each([
    ['nothing to test', { order_set: {} }],
    ['an add-on without a collection method', { order_set: { add_on: { marker_ids: [27_001] } } }],
    ['an add-on without ids', { order_set: { add_on: {} }, collection_method: 'walk_in_test' }],
    [
      'an add-on with both kinds of ids',
      {
        order_set: { add_on: { marker_ids: [27_001], provider_ids: ['000300'] } },
        collection_method: 'walk_in_test',
      },
    ],
    [
      'an add-on of another lab',
      { order_set: { add_on: { marker_ids: [2, 27_001] } }, collection_method: 'walk_in_test' },
    ],
    ['another collection method than the test', { collection_method: 'walk_in_test' }],
    ['a day that is over', { activate_by: '2020-01-01' }],
    ['an unknown lab account', { lab_account_id: '00000000-0000-4000-8000-000000000000' }],
    ['a pending lab account', { lab_account_id: pending?.id }],
    ['a lab account of another lab', { lab_account_id: delegated?.id, physician }],
  ])('with %s is refused with 400', async (_name, more) => {
    await using service = openSandbox();
    const { status, body } = await service.ask('POST', '/v3/order', orderOf(service, more));
    expect([status, body]).toEqual([400, { detail: expect.any(String) }]);
    expect(service.sandbox.orders()).toHaveLength(48);
  });

  test('on a delegated account has a physician, and the comments of the account', async () => {
    await using service = openSandbox();
    const notes = { clinical_notes: 'Fasting.' };
    const ofLab = { order_set: { lab_test_ids: [lipidCheckOf(service)] } };
    const own = orderOf(service, { ...ofLab, lab_account_id: delegated?.id, physician, ...notes });
    const other = orderOf(service, { lab_account_id: open?.id, ...notes });
    const first = await service.ask<Created>('POST', '/v3/order', own);
    const second = await service.ask<Created>('POST', '/v3/order', other);
    expect(first.body.order.clinical_notes).toBe('Fasting.\nCall the office with critical results.');
    expect(second.body.order.clinical_notes).toBe('Fasting.');
  });

  test('on the one account of its lab, which is delegated, needs a physician', async () => {
    await using service = openSandbox();
    const ofLab = { order_set: { lab_test_ids: [lipidCheckOf(service)] } };
    const statuses = [
      (await service.ask('POST', '/v3/order', orderOf(service, ofLab))).status,
      (await service.ask('POST', '/v3/order', orderOf(service, { ...ofLab, lab_account_id: delegated?.id })))
        .status,
      (await service.ask('POST', '/v3/order', orderOf(service, { ...ofLab, physician }))).status,
    ];
    expect(statuses).toEqual([400, 400, 200]);
  });

  test('with a fault in its fields is refused with 422, field by field', async () => {
    await using service = openSandbox();
    const wrong = {
      patient_details: { ...patient.patient_details, dob: '2999-01-01', first_name: '' },
      clinical_notes: 'x'.repeat(1001),
      update_reason: 'BORED',
    };
    const { status, body } = await service.ask<{ detail: { loc: string[] }[] }>(
      'POST',
      '/v3/order',
      orderOf(service, wrong),
    );
    expect(status).toBe(422);
    expect(new Set(body.detail.map(({ loc }) => loc.join('.')))).toEqual(
      new Set([
        'body.patient_details.first_name',
        'body.patient_details.dob',
        'body.clinical_notes',
        'body.update_reason',
      ]),
    );
  });

  test('that replaces a wrong one says so', async () => {
    await using service = openSandbox();
    const { body } = await service.ask(
      'POST',
      '/v3/order',
      orderOf(service, { update_reason: 'INCORRECT_LAB' }),
    );
    expect(body).toMatchObject({ order: { origin: 'recreation' } });
  });
});

describe('an idempotency key', () => {
  test('replays the first answer for any body', async () => {
    await using service = openSandbox();
    const first = await send(service, orderOf(service), { 'X-Idempotency-Key': 'k' });
    const again = await send(service, orderOf(service, { clinical_notes: 'other' }), {
      'X-Idempotency-Key': 'k',
    });
    const other = await send(service, orderOf(service), { 'X-Idempotency-Key': 'l' });
    expect(again).toEqual(first);
    expect(other.body.order.id).not.toBe(first.body.order.id);
    expect(service.sandbox.orders()).toHaveLength(50);
  });

  test('replays a refusal too, unless only successes are to be stored', async () => {
    await using service = openSandbox();
    const wrong = orderOf(service, { order_set: {} });
    const stored = { 'X-Idempotency-Key': 'k' };
    const notStored = { 'X-Idempotency-Key': 'l', 'X-Idempotency-Error': 'no-cache' };
    const statuses = [];
    for (const headers of [stored, notStored]) {
      statuses.push((await send(service, wrong, headers)).status);
      statuses.push((await send(service, orderOf(service), headers)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 200]);
  });

  test('stores nothing of an invalid request', async () => {
    await using service = openSandbox();
    const headers = { 'X-Idempotency-Key': 'k' };
    const invalid = await send(service, { ...orderOf(service), user_id: 'me' }, headers);
    const valid = await send(service, orderOf(service), headers);
    expect([invalid.status, valid.status]).toEqual([422, 200]);
  });

  test('that is at work already is refused', async () => {
    await using service = openSandbox();
    const headers = { 'X-Idempotency-Key': 'k' };
    const answers = await Promise.all([1, 2].map(() => send(service, orderOf(service), headers)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(service.sandbox.orders()).toHaveLength(49);
  });
});

describe('an imported order', () => {
  const importOf = (service: OpenSandbox, more: object = {}) =>
    orderOf(service, {
      collection_method: 'at_home_phlebotomy',
      billing_type: 'client_bill',
      sample_id: 'OWN-1',
      patient_address: { ...patient.patient_address, receiver_name: 'Avery Sample', zip: 'AZ 85004' },
      ...more,
    });

  test('starts without a requisition and may have any postal code', async () => {
    await using service = openSandbox();
    const { status, body } = await service.ask('POST', '/v3/order/import', importOf(service));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      order: {
        sample_id: 'OWN-1',
        requisition_form_url: null,
        events: [{ status: 'received.at_home_phlebotomy.requisition_bypassed' }],
      },
    });
  });

  test('needs a sample id that no other order has', async () => {
    await using service = openSandbox();
    await service.ask('POST', '/v3/order/import', importOf(service));
    const { status, body } = await service.ask('POST', '/v3/order/import', importOf(service));
    expect(status).toBe(422);
    expect(body).toMatchObject({ detail: [{ loc: ['body', 'sample_id'] }] });
  });

  test('may name an account that is still pending', async () => {
    await using service = openSandbox();
    const more = { lab_account_id: pending?.id, physician };
    const { status } = await service.ask('POST', '/v3/order/import', importOf(service, more));
    expect(status).toBe(200);
  });
});
