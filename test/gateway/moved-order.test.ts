import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';
import { labTestOf, patient } from '../support/ordering.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

/** Everything that the service reports of an order without its owner. */
const nested = `results { biomarkers { value } metadata { patientName } } resultMetadata { patientName }
  serviceCenters { siteCode } appointment { id }`;
const nothing = { results: null, resultMetadata: null, serviceCenters: null, appointment: null };
const scopes = ['read:orders', 'write:orders', 'read:results', 'read:profile'];

const createTestkit = `mutation ($input: CreateTestkitOrderInput!) { createTestkitOrder(input: $input) {
  ... on OrderCreated { cursor order { id userId ${nested} } }
} }`;
const updates = {
  orderUpdates: `subscription ($id: ID!, $after: EventCursor) {
    item: orderUpdates(orderId: $id, after: $after) { kind order { id userId ${nested} } } }`,
  userOrderUpdates: `subscription ($id: ID!, $after: EventCursor) {
    item: userOrderUpdates(userId: $id, after: $after) { kind cursor order { id userId ${nested} } } }`,
} as const;

interface Kit {
  readonly orderId: string;
  /** Who ordered it, with a token; it is registered to somebody else. */
  readonly former: { readonly userId: string; readonly token: string };
  readonly present: { readonly userId: string; readonly token: string };
  /** The former user's order, repeated. */
  readonly repeat: () => Promise<{ readonly cursor: string; readonly order: unknown }>;
  readonly cursor: string;
}

function kitInput(lab: Lab, userId: string, idempotencyKey: string) {
  const { receiverName, firstLine, city, state, zip, country } = patient.patientAddress;
  const shippingDetails = { receiverName, firstLine, city, state, zip, country, phoneNumber: '+16025550100' };
  return { userId, labTestId: labTestOf(lab, 'testkit'), idempotencyKey, shippingDetails };
}

async function orderKit(lab: Lab): Promise<Kit> {
  const [one, two] = lab.sandbox.users();
  if (!one || !two) throw new Error('The world has too few people.');
  const [former, present] = await Promise.all(
    [one, two].map(async ({ userId }) => ({ userId, token: await lab.tokenFor(userId, { scopes }) })),
  );
  if (!former || !present) throw new Error('There are two.');
  const input = kitInput(lab, one.userId, 'kit-1');
  const repeat = async () => {
    const answer = await lab.query(createTestkit, { variables: { input }, token: former.token });
    return answer.data.createTestkitOrder;
  };
  const { cursor, order } = await repeat();
  return { orderId: order.id, former, present, repeat, cursor };
}

async function simulate(lab: Lab, orderId: string, finalStatus: string): Promise<void> {
  await lab.query(
    'mutation ($id: ID!, $to: String) { simulateOrder(id: $id, finalStatus: $to) { __typename } }',
    {
      variables: { id: orderId, to: finalStatus },
    },
  );
  await lab.sandbox.webhooks.settled();
}

/** The team registers the kit to the other user, whose results come. */
async function move(lab: Lab, { orderId, present }: Kit): Promise<void> {
  await simulate(lab, orderId, 'collecting_sample.testkit.with_customer');
  const { data } = await lab.query(`{ order(id: "${orderId}") { sampleId } }`);
  const input = { ...patient, sampleId: data.order.sampleId, userId: present.userId };
  const registered = await lab.query(
    'mutation ($input: RegisterTestkitInput!) { registerTestkit(input: $input) { __typename } }',
    { variables: { input } },
  );
  expect(registered.data.registerTestkit.__typename).toBe('TestkitRegistered');
  await simulate(lab, orderId, 'completed.testkit.completed');
  // The sandbox has service centers for walk-in orders only.
  const body = JSON.stringify({ patient_service_centers: [{ site_code: 'NEAR-THE-PRESENT-USER' }] });
  lab.sandbox.faults.add({
    path: `/v3/order/${orderId}/psc/info`,
    effect: { kind: 'answer', status: 200, body },
  });
}

async function follow(lab: Lab, kit: Kit, stream: keyof typeof updates, after?: string) {
  const id = stream === 'orderUpdates' ? kit.orderId : kit.former.userId;
  return await subscribeOverSse({
    url: lab.url,
    token: kit.former.token,
    query: updates[stream],
    variables: { id, after },
  });
}

/** Another kit of the former user, to see what their stream shows after all of the first. */
async function orderAnother(lab: Lab, { former }: Kit): Promise<string> {
  const answer = await lab.query(createTestkit, {
    variables: { input: kitInput(lab, former.userId, 'kit-2') },
    token: former.token,
  });
  await lab.sandbox.webhooks.settled();
  return answer.data.createTestkitOrder.order.id;
}

/** A cursor of the former user's stream from before anything happened to the kit. */
async function cursorOfUser(lab: Lab, kit: Kit): Promise<string> {
  await lab.sandbox.webhooks.settled();
  const { data } = await lab.query('{ orders(first: 100) { nodes { id } } }', { token: kit.former.token });
  const items = await follow(lab, kit, 'userOrderUpdates');
  let last = await items.next();
  for (const _ of data.orders.nodes.slice(1)) last = await items.next();
  await items.close();
  return last?.data.item.cursor;
}

test('the present user of a moved kit reads what came of it', async () => {
  await using lab = await startLab();
  const kit = await orderKit(lab);
  await move(lab, kit);
  const { data } = await lab.query(`{ order(id: "${kit.orderId}") { ${nested} } }`, {
    token: kit.present.token,
  });
  expect(data.order).toMatchObject({
    results: { biomarkers: expect.arrayContaining([{ value: expect.any(String) }]) },
    resultMetadata: { patientName: expect.any(String) },
    serviceCenters: [{ siteCode: 'NEAR-THE-PRESENT-USER' }],
  });
});

test('the former user who repeats the order of a moved kit gets the first answer and nothing of the present user', async () => {
  await using lab = await startLab();
  const kit = await orderKit(lab);
  await move(lab, kit);
  expect(await kit.repeat()).toMatchObject({
    order: { id: kit.orderId, userId: kit.former.userId, ...nothing },
  });
});

test('a stream of one order that is resumed after the order moved is over', async () => {
  await using lab = await startLab();
  const kit = await orderKit(lab);
  await move(lab, kit);
  const items = await follow(lab, kit, 'orderUpdates', kit.cursor);
  expect(await items.next()).toBeNull();
});

test("a user's stream that is resumed after an order moved passes over what happened to that order", async () => {
  await using lab = await startLab();
  const kit = await orderKit(lab);
  const cursor = await cursorOfUser(lab, kit);
  await move(lab, kit);
  const other = await orderAnother(lab, kit);

  const items = await follow(lab, kit, 'userOrderUpdates', cursor);
  expect((await items.next())?.data.item).toMatchObject({ kind: 'CHANGED', order: { id: other } });
  await items.close();
});

test.each(['orderUpdates', 'userOrderUpdates'] as const)(
  '%s shows the history of an order that moved without an event, and nothing of the present user',
  async (stream) => {
    await using lab = await startLab();
    const kit = await orderKit(lab);
    const after = stream === 'orderUpdates' ? kit.cursor : await cursorOfUser(lab, kit);
    await simulate(lab, kit.orderId, 'collecting_sample.testkit.with_customer');
    lab.sandbox.webhooks.knobs.drop = () => true;
    await move(lab, kit);

    const items = await follow(lab, kit, stream, after);
    expect((await items.next())?.data.item).toMatchObject({
      kind: 'CHANGED',
      order: { id: kit.orderId, userId: kit.former.userId, ...nothing },
    });
    await items.close();
  },
);

test('the stored events of a kit that moved without an event show nothing of the present user', async () => {
  await using lab = await startLab();
  const kit = await orderKit(lab);
  await simulate(lab, kit.orderId, 'collecting_sample.testkit.with_customer');
  lab.sandbox.webhooks.knobs.drop = () => true;
  const list = `{ orders(first: 100) { nodes { id userId ${nested} } } }`;
  const single = `{ order(id: "${kit.orderId}") { id userId ${nested} } }`;
  const ask = async (query: string) => (await lab.query(query, { token: kit.former.token })).data;
  await Promise.all([ask(list), ask(single)]);
  // Moved by a caller whose requests this gateway does not see.
  await using elsewhere = await startLab({
    serve: async () => lab.serviceUrl,
    env: { EVENT_LOG: 'memory:' },
  });
  await move({ ...lab, query: elsewhere.query }, kit);

  const shown = { id: kit.orderId, userId: kit.former.userId, ...nothing };
  expect((await ask(list)).orders.nodes).toContainEqual(shown);
  expect((await ask(single)).order).toEqual(shown);
});

test('orders that an operation has listed are not asked for again by what hangs on them', async () => {
  await using lab = await startLab();
  const [person] = lab.sandbox.users();
  const own = lab.sandbox.orders().filter(({ userId }) => userId === person?.userId);
  const token = await lab.tokenFor(person?.userId ?? '', { scopes });
  lab.sandbox.clearCalls();
  await lab.query('{ orders(first: 100) { nodes { id results { samples { sampleId } } } } }', { token });
  const asked = lab.sandbox.calls.map((call) => call.replace(/\?.*/, '')).toSorted();
  expect(asked).toEqual(
    ['GET /orders', ...own.map(({ orderId }) => `GET /v3/order/${orderId}/result`)].toSorted(),
  );
});
