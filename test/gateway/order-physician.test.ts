import { describe, expect, test } from 'vitest';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { type Lab, startLab } from '../support/lab.ts';
import { create, patient, physician, posts } from '../support/ordering.ts';

const [open, delegated, pending] = createLabAccounts(1);

/** The answer of the service about its lab accounts. */
const answerAccounts = (lab: Lab, data: readonly object[]) =>
  lab.sandbox.faults.add({
    method: 'GET',
    path: '/v3/lab_test/lab_account',
    effect: { kind: 'answer', status: 200, body: JSON.stringify({ data }) },
  });

interface Marker {
  readonly id: string;
  readonly providerId: string;
}

const refuse = (lab: Lab, path = '/v3/order') =>
  lab.sandbox.faults.add({
    method: 'POST',
    path,
    effect: { kind: 'answer', status: 400, body: '{"detail":"No."}' },
  });

/** A test of the lab whose only account is delegated. */
function lipidCheck(lab: Lab) {
  const labTest = lab.sandbox.labTests().find(({ name }) => name === 'Lipid Check');
  return { orderSet: { labTestIds: [labTest?.labTestId] } };
}

describe('a physician', () => {
  test('is asked for where the named account is delegated, with any wording of the refusal', async () => {
    await using lab = await startLab();
    answerAccounts(lab, [{ ...delegated, delegated_flow: 'ORDER_DELEGATED' }, { ...open }]);
    const input = { ...lipidCheck(lab), labAccountId: delegated?.id };
    const refused = await create(lab, input);
    const created = await create(lab, { ...input, physician });
    expect(refused).toMatchObject({ __typename: 'PhysicianRequired', code: 'PHYSICIAN_REQUIRED' });
    expect(created).toMatchObject({ __typename: 'OrderCreated', order: { physician } });
  });

  test('is asked for where the only account of the lab is delegated', async () => {
    await using lab = await startLab();
    expect((await create(lab, lipidCheck(lab))).__typename).toBe('PhysicianRequired');
    expect((await create(lab)).__typename).toBe('OrderCreated');
  });

  test.each([
    ['by the ids of the graph', ({ id }: Marker) => ({ markerIds: [Number(id)] })],
    ['by the ids of the lab', ({ providerId }: Marker) => ({ providerIds: [providerId] })],
  ])(
    'is asked for when the markers of an order, named %s, are of that lab, also from a viewer',
    async (_, addOn) => {
      await using lab = await startLab();
      const { data } = await lab.query(
        '{ markers(first: 1, filter: { labSlug: "specimen-labs" }) { nodes { id providerId } } }',
      );
      const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '', { scopes: ['write:orders'] });
      const input = { orderSet: { addOn: addOn(data.markers.nodes[0]) }, collectionMethod: 'WALK_IN_TEST' };
      expect((await create(lab, input, token)).__typename).toBe('PhysicianRequired');
    },
  );

  test.each([
    ['is', 'order_delegated', 'PhysicianRequired'],
    ['is not', 'not_delegated', 'InputRejected'],
  ])(
    '%s asked for at the registration of a kit, if its lab has an account that is %s',
    async (_, flow, outcome) => {
      await using lab = await startLab();
      const { data } = await lab.query(
        '{ orders(first: 100, filter: { collectionMethods: [TESTKIT] }) { nodes { sampleId status { raw } labTest { lab { slug } } } } }',
      );
      const kit = data.orders.nodes.find((order: { readonly status: { readonly raw: string } }) =>
        order.status.raw.endsWith('with_customer'),
      );
      const { slug } = kit.labTest.lab;
      answerAccounts(lab, [
        { ...open, lab: slug, delegated_flow: flow },
        {
          ...open,
          lab: 'another-lab',
          delegated_flow: flow === 'not_delegated' ? 'order_delegated' : 'not_delegated',
        },
      ]);
      refuse(lab, '/v3/order/testkit/register');
      const query =
        'mutation ($input: RegisterTestkitInput!) { registerTestkit(input: $input) { __typename } }';
      const input = { sampleId: kit.sampleId, ...patient };
      expect((await lab.query(query, { variables: { input } })).data.registerTestkit.__typename).toBe(
        outcome,
      );
    },
  );

  test('is asked for by a viewer too, who may not read the catalogue', async () => {
    await using lab = await startLab();
    const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '', { scopes: ['write:orders'] });
    expect((await create(lab, lipidCheck(lab), token)).__typename).toBe('PhysicianRequired');
  });

  test('is asked for where the service names the field', async () => {
    await using lab = await startLab();
    const detail = [{ type: 'missing', loc: ['body', 'physician'], msg: 'Field required', input: {} }];
    lab.sandbox.faults.add({
      method: 'POST',
      path: '/v3/order',
      effect: { kind: 'answer', status: 422, body: JSON.stringify({ detail }) },
    });
    expect((await create(lab)).__typename).toBe('PhysicianRequired');
    const given = await create(lab, { physician });
    expect(given).toMatchObject({ __typename: 'InputRejected', issues: [{ path: ['physician'] }] });
  });

  const account = {
    id: 'a',
    lab: 'example-diagnostics',
    status: 'active',
    delegated_flow: 'fully_delegated',
  };
  test.each([
    ['one of them is not delegated', [account, { ...account, id: 'b', delegated_flow: 'not_delegated' }]],
    ['their flow is new', [{ ...account, delegated_flow: 'half_delegated' }]],
    ['they are of another lab', [{ ...account, lab: 'specimen-labs' }]],
    ['they are not open', [{ ...account, status: 'suspended' }]],
    ['there are none', []],
  ])('is not made the reason of a refusal where %s', async (_name, accounts) => {
    await using lab = await startLab();
    answerAccounts(lab, accounts);
    refuse(lab);
    expect(await create(lab)).toMatchObject({ __typename: 'InputRejected', issues: [] });
  });

  test('is not asked for where the named account takes no orders yet', async () => {
    await using lab = await startLab();
    expect((await create(lab, { labAccountId: pending?.id })).__typename).toBe('InputRejected');
  });

  test('is asked for by the accounts as they are now, not as they were read before', async () => {
    await using lab = await startLab();
    const shown = { id: 'a', lab: 'example-diagnostics', status: 'active', delegated_flow: 'not_delegated' };
    answerAccounts(lab, [shown]);
    refuse(lab);
    const { data } = await lab.query('{ labAccounts { delegatedFlowRaw } }');
    expect(data).toEqual({ labAccounts: [{ delegatedFlowRaw: 'not_delegated' }] });
    const before = await create(lab);
    lab.sandbox.faults.clear();
    answerAccounts(lab, [{ ...shown, delegated_flow: 'order_delegated' }]);
    refuse(lab);
    const after = await create(lab);
    expect([before.__typename, after.__typename]).toEqual(['InputRejected', 'PhysicianRequired']);
  });

  test('is not guessed at when the accounts cannot be read', async () => {
    await using lab = await startLab();
    const effect = { kind: 'answer', status: 200, body: '[]' } as const;
    lab.sandbox.faults.add({ method: 'GET', path: '/v3/lab_test/lab_account', effect });
    refuse(lab);
    expect((await create(lab)).__typename).toBe('InputRejected');
  });
});

describe('a viewer', () => {
  test('places orders for itself only, and only with the scope', async () => {
    await using lab = await startLab();
    const [mine, theirs] = lab.sandbox.users();
    const token = await lab.tokenFor(mine?.userId ?? '', { scopes: ['read:orders', 'write:orders'] });
    const reader = await lab.tokenFor(mine?.userId ?? '');
    const own = await create(lab, {}, token);
    const foreign = await create(lab, { userId: theirs?.userId, idempotencyKey: 'k' }, token);
    const random = await create(lab, { userId: crypto.randomUUID(), idempotencyKey: 'k' }, token);
    const denied = await create(lab, {}, reader);
    expect(own.__typename).toBe('OrderCreated');
    expect(foreign).toMatchObject({ __typename: 'NotFound' });
    expect(foreign).toEqual(random);
    expect(denied.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(posts(lab)).toBe(1);
  });

  test('whose token is limited to some orders places none', async () => {
    await using lab = await startLab();
    const order = lab.sandbox.orders()[0];
    const token = await lab.tokenFor(order?.userId ?? '', {
      orderIds: [order?.orderId],
      scopes: ['write:orders'],
    });
    expect((await create(lab, {}, token)).errors[0].extensions.code).toBe('FORBIDDEN');
    expect(posts(lab)).toBe(0);
  });
});
