import { describe, expect, test } from 'vitest';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { labTestOf, patient, physician, placed, posts } from '../support/ordering.ts';

const [, , pending] = createLabAccounts(1);
const importOrder = `mutation ($input: ImportOrderInput!) { importOrder(input: $input) ${placed} }`;

describe('importOrder', () => {
  async function imported(lab: Lab, more: Readonly<Record<string, unknown>> = {}, token?: string) {
    const input = {
      userId: lab.sandbox.users()[0]?.userId,
      orderSet: { labTestIds: [labTestOf(lab, 'at_home_phlebotomy')] },
      collectionMethod: 'AT_HOME_PHLEBOTOMY',
      billingType: 'CLIENT_BILL',
      sampleId: 'OWN-1',
      ...patient,
      ...more,
    };
    const answer = await lab.query(importOrder, {
      variables: { input },
      ...(token === undefined ? {} : { token }),
    });
    return answer.data?.importOrder ?? answer;
  }

  test('takes over an order that starts without a requisition', async () => {
    await using lab = await startLab();
    expect(await imported(lab)).toMatchObject({
      __typename: 'OrderCreated',
      order: {
        sampleId: 'OWN-1',
        passthrough: null,
        status: { raw: 'received.at_home_phlebotomy.requisition_bypassed' },
      },
    });
  });

  test('may name a lab account that is still pending', async () => {
    await using lab = await startLab();
    const refused = await imported(lab, { labAccountId: pending?.id });
    const order = await imported(lab, { labAccountId: pending?.id, physician });
    expect(refused.__typename).toBe('PhysicianRequired');
    expect(order.__typename).toBe('OrderCreated');
  });

  test('imports a sample once: again, at once, or after a lost answer', async () => {
    await using lab = await startLab();
    const before = lab.sandbox.orders().length;
    lab.sandbox.faults.add({ path: '/v3/order/import', times: 1, effect: { kind: 'lostAnswer' } });
    const first = await imported(lab);
    const again = await Promise.all([imported(lab), imported(lab)]);
    expect(new Set([first, ...again].map(({ order }) => order.id)).size).toBe(1);
    expect(posts(lab, '/v3/order/import')).toBe(1);
    expect(lab.sandbox.orders()).toHaveLength(before + 1);
  });

  test('refuses a sample that another order has, of any importer', async () => {
    await using lab = await startLab();
    await imported(lab);
    const mine = await imported(lab, { billingType: 'PATIENT_BILL' });
    const userId = lab.sandbox.users()[1]?.userId ?? '';
    const token = await lab.tokenFor(userId, { scopes: ['read:orders', 'write:orders'] });
    const theirs = await imported(lab, { userId }, token);
    for (const refused of [mine, theirs]) {
      expect(refused).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['sampleId'] }] });
    }
  });

  test('takes a corrected order for a sample whose first import was lost before it was placed', async () => {
    await using lab = await startLab();
    const lost = { kind: 'answer', status: 504, body: '' } as const;
    lab.sandbox.faults.add({ path: '/v3/order/import', times: 1, effect: lost });
    const first = await imported(lab, { billingType: 'PATIENT_BILL' });
    const corrected = await imported(lab);
    const again = await imported(lab);
    expect(first.errors[0].extensions).toMatchObject({ mayHaveBeenDone: true });
    expect(corrected).toMatchObject({ __typename: 'OrderCreated', order: { billingType: 'CLIENT_BILL' } });
    expect(again.order).toEqual(corrected.order);
    expect(posts(lab, '/v3/order/import')).toBe(2);
  });

  test('reports what is missing, and a fault of the service as a fault', async () => {
    await using lab = await startLab();
    const rejected = await imported(lab, {
      sampleId: ' ',
      patientAddress: { ...patient.patientAddress, receiverName: null },
    });
    lab.sandbox.faults.add({ path: '/v3/order/import', effect: { kind: 'serverError' } });
    const failed = await imported(lab);
    const unknown = await imported(lab, { userId: crypto.randomUUID(), sampleId: 'OWN-2' });
    expect(rejected.issues.map(({ path }: { path: string[] }) => path)).toEqual([
      ['sampleId'],
      ['patientAddress', 'receiverName'],
    ]);
    expect(failed.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    expect(unknown.errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
  });
});
