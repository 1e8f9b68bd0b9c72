import { describe, expect, test } from 'vitest';
import { gatewayKey, type Lab, serviceKey, startLab } from '../support/lab.ts';
import { patient, physician } from '../support/ordering.ts';
import { type Subscribed, transports } from '../support/subscribe.ts';

const registerTestkit = `mutation ($input: RegisterTestkitInput!) {
  registerTestkit(input: $input) {
    __typename
    ... on TestkitRegistered { cursor order { id userId user { id } status { raw } patient { firstName } physician { npi } } }
    ... on UserError { code message }
    ... on InputRejected { issues { path message } }
  }
}`;
const orderUpdates = `subscription ($orderId: ID!, $after: EventCursor) {
  orderUpdates(orderId: $orderId, after: $after) { cursor kind order { userId } event { status { raw } } }
}`;
const userOrderUpdates = `subscription ($userId: ID!) {
  userOrderUpdates(userId: $userId) { kind order { id userId } event { status { raw } } }
}`;
const scopes = ['read:orders', 'write:orders'];

interface Kit {
  readonly orderId: string;
  readonly userId: string;
  readonly sampleId: string;
  /** Another user of the team. */
  readonly otherId: string;
}

/** A kit that lies with its user, waiting to be registered. */
async function kitAtHome(lab: Lab): Promise<Kit> {
  const order = lab.sandbox.orders().find(({ status }) => status.endsWith('testkit.with_customer'));
  const sent = await fetch(`${lab.serviceUrl}/v3/order/${order?.orderId}`, {
    headers: { 'x-service-api-key': serviceKey },
  });
  const other = lab.sandbox.users().find(({ userId }) => userId !== order?.userId);
  lab.sandbox.clearCalls();
  const { sample_id: sampleId } = (await sent.json()) as { sample_id: string };
  if (!order || !other) throw new Error('The world has no kit at home.');
  return { orderId: order.orderId, userId: order.userId, sampleId, otherId: other.userId };
}

async function register(lab: Lab, input: object, token?: string) {
  const answer = await lab.query(registerTestkit, {
    variables: { input: { ...patient, ...input } },
    ...(token === undefined ? {} : { token }),
  });
  return answer.data?.registerTestkit ?? answer;
}

async function nextUpdate(updates: Subscribed) {
  const result = await updates.next();
  expect(result?.errors).toBeUndefined();
  return Object.values(result?.data ?? {})[0] as { cursor: string; kind: string; order: { userId: string } };
}

describe('registerTestkit', () => {
  test('makes the kit its user’s, with the patient and the physician that were given', async () => {
    await using lab = await startLab();
    const { sampleId, userId, orderId } = await kitAtHome(lab);
    const registered = await register(lab, {
      sampleId: ` ${sampleId} `,
      physician,
      consents: [{ consentType: 'TELEHEALTH_INFORMED_CONSENT', version: '2.0' }],
    });
    expect(registered).toMatchObject({
      __typename: 'TestkitRegistered',
      order: {
        id: orderId,
        userId,
        status: { raw: 'received.testkit.requisition_created' },
        patient: { firstName: 'Avery' },
        physician: { npi: physician.npi },
      },
    });
  });

  test('by a server of the team moves the order to another user, who reads and lists it from then on', async () => {
    await using lab = await startLab();
    const { sampleId, userId, orderId, otherId } = await kitAtHome(lab);
    const [former, present] = [
      await lab.tokenFor(userId, { scopes }),
      await lab.tokenFor(otherId, { scopes }),
    ];
    const read = `{ order(id: "${orderId}") { id } orders(first: 100) { nodes { id } }
      byId: orders(filter: { orderIds: ["${orderId}"] }) { totalCount nodes { id } } }`;
    const before = await lab.query(read, { token: former });

    const registered = await register(lab, { sampleId, userId: otherId });

    const after = await lab.query(read, { token: former });
    const random = await lab.query(read.replaceAll(orderId, crypto.randomUUID()), { token: former });
    const theirs = await lab.query(read, { token: present });
    expect(registered.order).toMatchObject({ id: orderId, userId: otherId, user: { id: otherId } });
    expect(before.data.order).toEqual({ id: orderId });
    expect(after).toEqual(random);
    expect(JSON.stringify(after)).not.toContain(orderId);
    expect(theirs.data.order).toEqual({ id: orderId });
    expect(theirs.data.orders.nodes).toContainEqual({ id: orderId });
  });

  test('leaves the former user no write either', async () => {
    await using lab = await startLab();
    const { sampleId, userId, orderId, otherId } = await kitAtHome(lab);
    const former = await lab.tokenFor(userId, { scopes });
    await register(lab, { sampleId, userId: otherId });
    const cancel = (id: string) =>
      lab.query(`mutation { cancelOrder(id: "${id}") { __typename ... on UserError { code message } } }`, {
        token: former,
      });
    expect(await cancel(orderId)).toEqual(await cancel(crypto.randomUUID()));
    expect((await register(lab, { sampleId }, former)).__typename).toBe('NotFound');
  });

  test('in one operation with reads shows the order as it is after each', async () => {
    await using lab = await startLab();
    const { sampleId, orderId, otherId } = await kitAtHome(lab);
    const { data } = await lab.query(
      `mutation ($id: ID!, $input: RegisterTestkitInput!) {
        before: simulateOrder(id: $id, finalStatus: "collecting_sample.testkit.problem_in_transit_customer") {
          ... on OrderSimulated { order { transaction { orders { order { userId } } } } }
        }
        after: registerTestkit(input: $input) {
          ... on TestkitRegistered { order { transaction { orders { order { userId } } } } }
        }
      }`,
      { variables: { id: orderId, input: { ...patient, sampleId, userId: otherId } } },
    );
    expect(data.before.order.transaction.orders[0].order.userId).not.toBe(otherId);
    expect(data.after.order.transaction.orders).toEqual([{ order: { userId: otherId } }]);
  });

  test('a lost answer is found again: the kit is registered once', async () => {
    await using lab = await startLab();
    const { sampleId, otherId, orderId } = await kitAtHome(lab);
    const path = '/v3/order/testkit/register';
    lab.sandbox.faults.add({ path, times: 1, effect: { kind: 'lostAnswer' } });
    const registered = await register(lab, { sampleId, userId: otherId });
    expect(registered).toMatchObject({
      __typename: 'TestkitRegistered',
      order: { id: orderId, userId: otherId },
    });
    expect(lab.sandbox.calls.filter((call) => call === `POST ${path}`)).toHaveLength(1);
  });

  test('a call that did nothing is a fault, though the kit was registered long ago', async () => {
    await using lab = await startLab();
    const { sampleId } = await kitAtHome(lab);
    lab.sandbox.faults.add({ path: '/v3/order/testkit/register', effect: { kind: 'serverError' } });
    const failed = await register(lab, { sampleId });
    const old = lab.sandbox.orders().find(({ status }) => status === 'received.testkit.registered');
    // Moved just now, so that only the time of its registration distinguishes it.
    await lab.query(`mutation { simulateOrder(id: "${old?.orderId}") { __typename } }`);
    const { data } = await lab.query(`{ order(id: "${old?.orderId}") { sampleId } }`);
    const again = await register(lab, { sampleId: data.order.sampleId, userId: old?.userId });
    for (const { errors } of [failed, again]) {
      expect(errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
    }
  });

  test('a kit that is registered already, unknown, or for nobody is refused', async () => {
    await using lab = await startLab();
    const { sampleId } = await kitAtHome(lab);
    await register(lab, { sampleId });
    const results = [
      await register(lab, { sampleId }),
      await register(lab, { sampleId: 'SMP0' }),
      await register(lab, { sampleId, userId: crypto.randomUUID() }),
    ];
    expect(results.map(({ code }) => code)).toEqual(['INPUT_REJECTED', 'NOT_FOUND', 'INPUT_REJECTED']);
  });

  test('reports the faults of the input before the call, and those of the service with our field names', async () => {
    await using lab = await startLab();
    const { sampleId } = await kitAtHome(lab);
    const early = await register(lab, {
      sampleId: '',
      patientAddress: { ...patient.patientAddress, city: ' ' },
    });
    expect(lab.sandbox.calls).toEqual([]);
    const late = await register(lab, {
      sampleId,
      patientAddress: { ...patient.patientAddress, zip: 'x-secret' },
    });
    const paths = [early, late].map(({ issues }) =>
      issues.map(({ path }: { path: string[] }) => path.join('.')),
    );
    expect(paths).toEqual([['sampleId', 'patientAddress.city'], ['patientAddress.zip']]);
    expect(JSON.stringify(late)).not.toContain('secret');
  });

  test('asks for a physician where every lab account is delegated', async () => {
    await using lab = await startLab();
    const { sampleId } = await kitAtHome(lab);
    const data = [{ id: 'a', status: 'active', delegated_flow: 'order_delegated' }];
    const answers = [
      ['/v3/lab_test/lab_account', 200, { data }],
      ['/v3/order/testkit/register', 400, { detail: 'No.' }],
    ] as const;
    for (const [path, status, body] of answers) {
      lab.sandbox.faults.add({ path, effect: { kind: 'answer', status, body: JSON.stringify(body) } });
    }
    expect((await register(lab, { sampleId })).__typename).toBe('PhysicianRequired');
    expect((await register(lab, { sampleId, physician })).__typename).toBe('InputRejected');
  });

  test('a feature that is not enabled is named', async () => {
    await using lab = await startLab();
    const { sampleId } = await kitAtHome(lab);
    lab.sandbox.faults.add({ path: '/v3/order/testkit/register', effect: { kind: 'featureNotEnabled' } });
    expect((await register(lab, { sampleId })).__typename).toBe('FeatureNotEnabled');
  });
});

describe('a viewer', () => {
  test('registers a kit that was ordered for it, and only to itself', async () => {
    await using lab = await startLab();
    const { sampleId, userId, otherId } = await kitAtHome(lab);
    const token = await lab.tokenFor(userId, { scopes });
    const away = await register(lab, { sampleId, userId: otherId }, token);
    const own = await register(lab, { sampleId }, token);
    expect(away.__typename).toBe('NotFound');
    expect(own).toMatchObject({ __typename: 'TestkitRegistered', order: { userId } });
  });

  test('gets for the kit of another user what it gets for no kit at all', async () => {
    await using lab = await startLab();
    const { sampleId, otherId } = await kitAtHome(lab);
    const token = await lab.tokenFor(otherId, { scopes });
    const foreign = await register(lab, { sampleId }, token);
    const random = await register(lab, { sampleId: 'SMP0' }, token);
    expect(foreign).toEqual(random);
    expect(foreign.__typename).toBe('NotFound');
    expect(lab.sandbox.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
  });

  test('needs the scope, and a token for the order', async () => {
    await using lab = await startLab();
    const { sampleId, userId } = await kitAtHome(lab);
    const another = lab.sandbox.orders().find((order) => order.userId === userId);
    const reader = await lab.tokenFor(userId);
    const limited = await lab.tokenFor(userId, { scopes, orderIds: [another?.orderId] });
    expect((await register(lab, { sampleId }, reader)).errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await register(lab, { sampleId }, limited)).__typename).toBe('NotFound');
  });
});

describe.each(transports)('over %s, when a kit is registered to another user', (_name, subscribe) => {
  test("the former user's stream of the order ends, and there is no order to follow any more", async () => {
    await using lab = await startLab();
    const { sampleId, userId, orderId, otherId } = await kitAtHome(lab);
    const token = await lab.tokenFor(userId, { scopes });
    const follow = (variables: object) =>
      subscribe({ url: lab.url, token, query: orderUpdates, variables: { ...variables } });
    const former = await follow({ orderId });
    const { kind, cursor } = await nextUpdate(former);

    await register(lab, { sampleId, userId: otherId });
    await lab.sandbox.webhooks.settled();

    expect(kind).toBe('SNAPSHOT');
    expect(await former.next()).toBeNull();
    const resumed = await follow({ orderId, after: cursor });
    expect(await resumed.next()).toBeNull();
    const answers = [];
    for (const id of [orderId, crypto.randomUUID()]) {
      const again = await follow({ orderId: id });
      answers.push(await again.next().catch((error: unknown) => error));
      await again.close();
    }
    expect(JSON.stringify(answers[0])).toContain('NOT_FOUND');
    expect(answers[0]).toEqual(answers[1]);
    await Promise.all([former.close(), resumed.close()]);
  });

  test('the new user receives it, the former only other orders, the team continues', async () => {
    await using lab = await startLab();
    const { sampleId, userId, orderId, otherId } = await kitAtHome(lab);
    const follow = async (id: string) => {
      const token = await lab.tokenFor(id, { scopes });
      const updates = await subscribe({
        url: lab.url,
        token,
        query: userOrderUpdates,
        variables: { userId: id },
      });
      for (const order of lab.sandbox.orders()) if (order.userId === id) await nextUpdate(updates);
      return updates;
    };
    const former = await follow(userId);
    const present = await follow(otherId);
    const team = await subscribe({
      url: lab.url,
      token: gatewayKey,
      query: orderUpdates,
      variables: { orderId },
    });
    await nextUpdate(team);

    await register(lab, { sampleId, userId: otherId });
    const another = lab.sandbox
      .orders()
      .find((order) => order.status === 'received.at_home_phlebotomy.requisition_created');
    await lab.query(`mutation { simulateOrder(id: "${another?.orderId}") { __typename } }`);

    expect(await nextUpdate(present)).toMatchObject({
      kind: 'CHANGED',
      order: { id: orderId, userId: otherId },
      event: { status: { raw: 'received.testkit.registered' } },
    });
    expect(await nextUpdate(team)).toMatchObject({ kind: 'CHANGED', order: { userId: otherId } });
    expect(another?.userId).toBe(userId);
    expect(await nextUpdate(former)).toMatchObject({ kind: 'CHANGED', order: { id: another?.orderId } });
    await Promise.all([former, present, team].map((updates) => updates.close()));
  });
});
