import { describe, expect, test } from 'vitest';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { gatewayKey, serviceKey, startLab } from '../support/lab.ts';
import { json, startMisbehavingService, text } from '../support/misbehaving-service.ts';
import { create, labTestOf, openGateway, patient, physician, posts } from '../support/ordering.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const [open] = createLabAccounts(1);

describe('createOrder', () => {
  test('places an order with all that was given, and shows it', async () => {
    await using lab = await startLab();
    const created = await create(lab, {
      collectionMethod: 'AT_HOME_PHLEBOTOMY',
      labAccountId: open?.id,
      clinicalNotes: 'Fasting since the evening.',
      physician: { ...physician, email: 'robin@example.com', licensedStates: ['AZ'] },
      consents: [{ consentType: 'HIPAA_AUTHORIZATION', timeOfConsent: '2026-01-01T08:00:00Z' }],
      aoeAnswers: [{ markerId: '27016', questionId: '1', answer: 'no' }],
      activateBy: '2999-01-01',
      updateReason: 'INCORRECT_LAB',
      priority: true,
      billingType: 'PATIENT_BILL',
      icdCodes: ['E78.5'],
      passthrough: 'basket 7',
    });
    expect(created).toMatchObject({
      __typename: 'OrderCreated',
      serviceStatus: 'success',
      order: {
        passthrough: 'basket 7',
        status: { raw: 'received.at_home_phlebotomy.ordered' },
        origin: 'RECREATION',
        activateBy: '2999-01-01',
        clinicalNotes: 'Fasting since the evening.',
        billingType: 'PATIENT_BILL',
        priority: true,
        icdCodes: ['E78.5'],
        patient: { firstName: 'Avery', dob: '1988-04-12', gender: 'female' },
        patientAddress: { country: 'United States', accessNotes: 'Blue door.' },
        physician,
      },
    });
  });

  test('takes markers on top of a lab test, by either kind of id', async () => {
    await using lab = await startLab();
    const addOns = [{ markerIds: ['27001'] }, { providerIds: ['000307'] }];
    for (const [index, addOn] of addOns.entries()) {
      const created = await create(lab, {
        orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')], addOn },
        collectionMethod: 'AT_HOME_PHLEBOTOMY',
        idempotencyKey: `order-${index}`,
      });
      const markers = created.order.markers.nodes.map(({ id }: { id: string }) => id);
      expect(markers).toEqual(['27001', '27010', '27013', '27016', '27900', '27901', '27904', '27905']);
    }
  });

  test('called again with its key, ten times at once or later, places one order', async () => {
    await using lab = await startLab();
    const before = lab.sandbox.orders().length;
    const created = await Promise.all(Array.from({ length: 10 }, () => create(lab)));
    const later = await create(lab);
    expect(new Set([...created, later].map(({ order }) => order.id)).size).toBe(1);
    expect(posts(lab)).toBe(1);
    expect(lab.sandbox.orders()).toHaveLength(before + 1);
  });

  test('with another input under the same key is a conflict and reaches nobody', async () => {
    await using lab = await startLab();
    await create(lab);
    const conflict = await create(lab, { clinicalNotes: 'other' });
    expect(conflict).toMatchObject({ __typename: 'IdempotencyConflict', code: 'IDEMPOTENCY_CONFLICT' });
    expect(posts(lab)).toBe(1);
  });

  test('a lost answer is recovered: the caller gets the order that was made', async () => {
    await using lab = await startLab();
    const before = lab.sandbox.orders().length;
    lab.sandbox.faults.add({ method: 'POST', path: '/v3/order', times: 1, effect: { kind: 'lostAnswer' } });
    const created = await create(lab);
    const again = await create(lab);
    expect(created.__typename).toBe('OrderCreated');
    expect(again.order.id).toBe(created.order.id);
    expect(lab.sandbox.orders()).toHaveLength(before + 1);
  });

  test.each([
    ['truncatedBody', { kind: 'truncatedBody' }],
    ['empty', { kind: 'answer', status: 200, body: '' }],
  ] as const)(
    'an answer of success that is %s and leads to no order is never repeated',
    async (_name, effect) => {
      await using lab = await startLab();
      lab.sandbox.faults.add({ method: 'POST', path: '/v3/order', times: 1, effect });
      lab.sandbox.faults.add({
        path: '/orders',
        effect: { kind: 'answer', status: 200, body: '{"orders":[]}' },
      });
      const answers = [await create(lab), await create(lab)];
      for (const { errors } of answers) expect(errors[0].extensions.code).toBe('UPSTREAM_UNREADABLE');
      expect(posts(lab)).toBe(1);
    },
  );

  test("a service that does not echo the caller's text is searched for the order itself, which no other key has", async () => {
    await using lab = await startLab();
    const before = lab.sandbox.orders().length;
    const first = await create(lab, { idempotencyKey: 'order-0' });
    const sent = await fetch(`${lab.serviceUrl}/v3/order/${first.order.id}`, {
      headers: { 'x-service-api-key': serviceKey },
    });
    const ofAnotherKey = { ...((await sent.json()) as object), passthrough: null };
    const plain = { ...ofAnotherKey, id: crypto.randomUUID() };
    const old = { ...plain, id: crypto.randomUUID(), created_at: '2025-01-01T00:00:00+00:00' };
    const other = { ...plain, id: crypto.randomUUID(), patient_details: { first_name: 'Blake' } };
    const body = JSON.stringify({ orders: [other, old, ofAnotherKey, plain] });
    lab.sandbox.faults.add({ method: 'POST', path: '/v3/order', times: 1, effect: { kind: 'lostAnswer' } });
    lab.sandbox.faults.add({ path: '/orders', effect: { kind: 'answer', status: 200, body } });
    const found = await create(lab, { idempotencyKey: 'order-1' });
    expect(found.order.id).toBe(plain.id);
    expect(lab.sandbox.orders()).toHaveLength(before + 2);
  });

  test('the service is given a key of its own, the same for each repetition, and stores no failure', async () => {
    await using service = await startMisbehavingService(
      text('Internal Server Error', 500),
      json({ orders: [] }),
      text('Internal Server Error', 500),
      json({ orders: [] }),
    );
    await using gateway = await openGateway(service.url);
    const input = {
      userId: crypto.randomUUID(),
      orderSet: { labTestIds: [crypto.randomUUID()] },
      idempotencyKey: 'my-own-key',
      ...patient,
    };
    await gateway.query(input);
    await gateway.query(input);
    const sent = service.seen.filter(({ path }) => path === '/v3/order').map(({ headers }) => headers);
    expect(sent).toHaveLength(2);
    expect(sent[0]).toMatchObject({
      'x-idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
      'x-idempotency-error': 'no-cache',
    });
    expect(sent[1]?.['x-idempotency-key']).toBe(sent[0]?.['x-idempotency-key']);
  });

  test('while the service still works on the key the caller gets an error that asks to retry', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({
      method: 'POST',
      path: '/v3/order',
      times: 1,
      effect: { kind: 'answer', status: 409, body: '{"detail":"still running"}' },
    });
    const { errors } = await create(lab);
    expect(errors[0].extensions).toMatchObject({ code: 'IDEMPOTENCY_UNSETTLED', retryAfterSeconds: 5 });
  });

  test('a failed call that did nothing frees the key', async () => {
    await using lab = await startLab();
    lab.sandbox.faults.add({ method: 'POST', path: '/v3/order', times: 1, effect: { kind: 'serverError' } });
    const failed = await create(lab);
    expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect((await create(lab)).__typename).toBe('OrderCreated');
    expect(posts(lab)).toBe(2);
  });

  test('a refused order frees the key for a mended one', async () => {
    await using lab = await startLab();
    const refused = await create(lab, { collectionMethod: 'WALK_IN_TEST' });
    const created = await create(lab);
    expect(refused).toMatchObject({ __typename: 'InputRejected', issues: [] });
    expect(created.__typename).toBe('OrderCreated');
  });

  test('all faults of the input are reported at once, before the service is asked, never with the value', async () => {
    await using lab = await startLab();
    const rejected = await create(lab, {
      orderSet: { addOn: { markerIds: ['27001'], providerIds: ['000307'] } },
      patientDetails: {
        ...patient.patientDetails,
        lastName: ' ',
        dob: '2999-01-01',
        phoneNumber: 'secret',
        email: '@',
      },
      patientAddress: { ...patient.patientAddress, country: 'Atlantis', accessNotes: 'x'.repeat(1001) },
      clinicalNotes: 'x'.repeat(1001),
      idempotencyKey: ' ',
    });
    expect(rejected.issues.map(({ path }: { path: string[] }) => path.join('.'))).toEqual([
      'orderSet.addOn',
      'collectionMethod',
      'patientDetails.lastName',
      'patientDetails.dob',
      'patientDetails.phoneNumber',
      'patientDetails.email',
      'patientAddress.country',
      'patientAddress.accessNotes',
      'clinicalNotes',
      'idempotencyKey',
    ]);
    expect(JSON.stringify(rejected)).not.toMatch(/secret|Atlantis/);
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('notes of exactly 1,000 characters are taken', async () => {
    await using lab = await startLab();
    const created = await create(lab, { clinicalNotes: 'x'.repeat(1000) });
    expect(created.order.clinicalNotes).toHaveLength(1000);
  });

  test("the service's own refusals come back in the names of the graph, without values", async () => {
    await using lab = await startLab();
    const rejected = await create(lab, {
      patientDetails: { ...patient.patientDetails, firstName: 'Ävery-secret' },
      patientAddress: { ...patient.patientAddress, zip: 'secret' },
    });
    expect(rejected.issues.map(({ path }: { path: string[] }) => path)).toEqual([
      ['patientDetails', 'firstName'],
      ['patientAddress', 'zip'],
    ]);
    expect(JSON.stringify(rejected)).not.toContain('secret');
    expect(lab.logged.join('')).not.toMatch(/secret|Avery|Blue door/);
  });

  test('an unknown user or lab test is not found; a feature that is not enabled is named', async () => {
    await using lab = await startLab();
    const unknown = await create(lab, { userId: crypto.randomUUID() });
    const noTest = await create(lab, { orderSet: { labTestIds: [crypto.randomUUID()] } });
    lab.sandbox.faults.add({ method: 'POST', path: '/v3/order', effect: { kind: 'featureNotEnabled' } });
    const closed = await create(lab);
    expect([unknown, noTest, closed].map(({ __typename, code }) => [__typename, code])).toEqual([
      ['NotFound', 'NOT_FOUND'],
      ['NotFound', 'NOT_FOUND'],
      ['FeatureNotEnabled', 'FEATURE_NOT_ENABLED'],
    ]);
  });

  test.each([
    ['labTestIds', { labTestIds: ['no uuid'] }],
    ['markerIds', { addOn: { markerIds: ['27001; drop'] } }],
    ['labTestIds', { labTestIds: Array.from({ length: 101 }, () => crypto.randomUUID()) }],
    ['providerIds', { addOn: { providerIds: Array.from({ length: 101 }, () => '000307') } }],
  ])('an id in %s that cannot be one reaches nobody', async (name, orderSet) => {
    await using lab = await startLab();
    const refused = await create(lab, { orderSet });
    expect(refused).toMatchObject({
      code: 'INPUT_REJECTED',
      issues: [{ path: expect.arrayContaining([name]) }],
    });
    expect(lab.sandbox.calls).toEqual([]);
  });

  test('the cursor of a new order shows every later change and not the event it came with', async () => {
    await using lab = await startLab();
    const created = await create(lab);
    await lab.sandbox.webhooks.settled();
    const updates = await subscribeOverSse({
      url: lab.url,
      token: gatewayKey,
      query:
        'subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) { kind event { status { raw } } } }',
      variables: { id: created.order.id, after: created.cursor },
    });
    await lab.query('mutation ($id: ID!) { simulateOrder(id: $id) { __typename } }', {
      variables: { id: created.order.id },
    });
    expect((await updates.next())?.data.orderUpdates).toEqual({
      kind: 'CHANGED',
      event: { status: { raw: 'received.at_home_phlebotomy.requisition_created' } },
    });
    await updates.close();
  });
});
