import { expect, test } from 'vitest';
import { scopes } from '../../gateway/auth/rights.ts';
import { type Lab, startLab } from '../support/lab.ts';

function pickTwo(lab: Lab) {
  const [mine, theirs] = lab.sandbox
    .users()
    .filter(({ userId }) => lab.sandbox.orders().some((order) => order.userId === userId));
  const order = lab.sandbox.orders().find(({ userId }) => userId === theirs?.userId);
  if (!mine || !theirs || !order) throw new Error('The world has too few people with orders.');
  return { mine, theirs: { userId: theirs.userId, orderId: order.orderId } };
}

test('a viewer sees in its lists only what is its own', async () => {
  await using lab = await startLab();
  const { mine } = pickTwo(lab);
  const token = await lab.tokenFor(mine.userId);
  const own = lab.sandbox.orders().filter(({ userId }) => userId === mine.userId);
  const answer = await lab.query(
    '{ viewer { kind userId scopes } users { totalCount nodes { id } } orders(first: 100) { totalCount nodes { id userId user { id } } } }',
    { token },
  );
  expect(answer.data.viewer).toEqual({
    kind: 'USER',
    userId: mine.userId,
    scopes: ['read:orders', 'launch:portal'],
  });
  expect(answer.data.users).toEqual({ totalCount: 1, nodes: [{ id: mine.userId }] });
  expect(answer.data.orders.totalCount).toBe(own.length);
  expect(new Set(answer.data.orders.nodes.map((order: { id: string }) => order.id))).toEqual(
    new Set(own.map(({ orderId }) => orderId)),
  );
});

test('a token limited to one order sees no other order of the same user', async () => {
  await using lab = await startLab();
  const [one, two] = lab.sandbox.orders();
  const token = await lab.tokenFor(one?.userId ?? '', { orderIds: [one?.orderId] });
  const answer = await lab.query(
    `{ a: order(id: "${one?.orderId}") { id } b: order(id: "${two?.orderId}") { id } orders { totalCount nodes { id } } }`,
    { token },
  );
  expect(two?.userId).toBe(one?.userId);
  expect(answer.data).toEqual({
    a: { id: one?.orderId },
    b: null,
    orders: { totalCount: 1, nodes: [{ id: one?.orderId }] },
  });
});

test('a token limited to one order neither reads nor writes anything else of its user', async () => {
  await using lab = await startLab();
  const [one] = lab.sandbox.orders();
  const user = one?.userId ?? '';
  const token = await lab.tokenFor(user, { orderIds: [one?.orderId], scopes: [...scopes] });
  const ask = (query: string) => lab.query(query, { token });

  lab.sandbox.clearCalls();
  for (const query of [
    `{ workoutStream(workoutId: "${user}") { workoutId } }`,
    '{ historicalPulls { nodes { userId } } }',
    `mutation { updateUser(input: { id: "${user}", clientUserId: "taken-over" }) { __typename } }`,
    `mutation { deleteUser(id: "${user}") { __typename } }`,
    `mutation { updateDemographics(input: { firstName: "A", lastName: "B", email: "a@example.com",
      phoneNumber: "+16025550143", gender: "other", dob: "1990-01-01", address: { firstLine: "1", city: "C",
      state: "AZ", zip: "85004", country: "US" } }) { __typename } }`,
  ]) {
    expect(await ask(query)).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  }
  expect(lab.sandbox.calls).toEqual([]);

  const { data } =
    await ask(`{ viewer { scopes } order(id: "${one?.orderId}") { id user { id demographics { dob } } }
    user(id: "${user}") { id createdAt fallbackBirthDate { value } connectedSources { source { slug } } orders { nodes { id } } }
    users { totalCount nodes { id } } }`);
  expect(data).toEqual({
    viewer: { scopes: expect.not.arrayContaining(['read:profile', 'write:profile', 'read:health']) },
    order: { id: one?.orderId, user: { id: user, demographics: null } },
    user: {
      id: user,
      createdAt: null,
      fallbackBirthDate: null,
      connectedSources: [],
      orders: { nodes: [{ id: one?.orderId }] },
    },
    users: { totalCount: 1, nodes: [{ id: user }] },
  });
});

test('a token of a user who does not exist counts nobody', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(crypto.randomUUID());
  const { data } = await lab.query('{ users { totalCount nodes { id } pageInfo { hasNextPage } } }', {
    token,
  });
  expect(data.users).toEqual({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } });
});

test('a service that ignores the filter by user leaks nothing, not even a count', async () => {
  await using lab = await startLab();
  const { mine, theirs } = pickTwo(lab);
  const token = await lab.tokenFor(mine.userId);
  const team = await lab.query(`{ order(id: "${theirs.orderId}") { id } }`);
  expect(team.data.order.id).toBe(theirs.orderId);
  const everything = await (
    await fetch(`${lab.serviceUrl}/orders?size=100`, {
      headers: { 'x-service-api-key': 'canary-service-key-4f1d9a' },
    })
  ).json();
  lab.sandbox.faults.add({
    path: '/orders',
    effect: { kind: 'answer', status: 200, body: JSON.stringify(everything) },
  });
  const answer = await lab.query('{ orders(first: 100) { totalCount nodes { userId } } }', { token });
  const owners = new Set(answer.data.orders.nodes.map((order: { userId: string }) => order.userId));
  expect(owners).toEqual(new Set([mine.userId]));
  expect(answer.data.orders.totalCount).toBeNull();
});

test('a token without a scope gets an error that names the scope', async () => {
  await using lab = await startLab();
  const { mine } = pickTwo(lab);
  const token = await lab.tokenFor(mine.userId);
  const answer = await lab.query(`{ user(id: "${mine.userId}") { id demographics { firstName } } }`, {
    token,
  });
  expect(answer.data).toEqual({ user: { id: mine.userId, demographics: null } });
  expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
  expect(answer.errors?.[0]?.message).toContain('read:profile');
});

const personal = 'patient { firstName } patientAddress { city } shippingAddress { city } requisitionFormUrl';

test.each([
  ['without read:profile', () => ({})],
  ['limited to some orders', (orderIds: readonly string[]) => ({ scopes, orderIds })],
])('a token %s reads its orders without the details of the patient, at no further call', async (_, limit) => {
  await using lab = await startLab();
  const [one] = lab.sandbox.orders();
  const own = lab.sandbox.orders().filter(({ userId }) => userId === one?.userId);
  const ids = own.map(({ orderId }) => orderId).toSorted();
  const token = await lab.tokenFor(one?.userId ?? '', limit(ids));
  lab.sandbox.clearCalls();
  const { data, errors } = await lab.query(
    `{ orders(first: 100) { nodes { id status { label } ${personal} } } }`,
    { token },
  );
  const { nodes } = data.orders;
  expect(nodes.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids);
  for (const { status, ...order } of nodes) {
    expect(status.label).toEqual(expect.any(String));
    const refused = { patient: null, patientAddress: null, shippingAddress: null, requisitionFormUrl: null };
    expect(order).toEqual({ id: order.id, ...refused });
  }
  expect(errors).toHaveLength(4 * ids.length);
  expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['FORBIDDEN']));
  expect(lab.sandbox.calls).toEqual([expect.stringMatching(/^GET \/orders\?/)]);
});

test('a token with read:profile reads of its orders who the patient is', async () => {
  await using lab = await startLab();
  const [one] = lab.sandbox.orders();
  const token = await lab.tokenFor(one?.userId ?? '', { scopes: ['read:orders', 'read:profile'] });
  const { data, errors } = await lab.query(`{ order(id: "${one?.orderId}") { ${personal} } }`, { token });
  expect(errors).toBeUndefined();
  expect(data.order).toMatchObject({
    patient: { firstName: expect.any(String) },
    patientAddress: { city: expect.any(String) },
  });
});

test('a token without read:profile sees where its lab visit takes place, and no home', async () => {
  await using lab = await startLab();
  const visits = lab.sandbox.orders().filter(({ status }) => status.endsWith('appointment_scheduled'));
  const seen = await Promise.all(
    visits.map(async ({ userId, orderId }) => {
      const query = `{ order(id: "${orderId}") { appointment { type startAt address { city } location { latitude } } } }`;
      const { data } = await lab.query(query, { token: await lab.tokenFor(userId) });
      const { type, startAt, address, location } = data.order.appointment;
      expect(startAt).toEqual(expect.any(String));
      return [type, address !== null, location !== null];
    }),
  );
  expect(seen).toContainEqual(['PATIENT_SERVICE_CENTER', true, true]);
  expect(seen).toContainEqual(['PHLEBOTOMY', false, false]);
});

test('a token without read:profile cannot search for a name', async () => {
  await using lab = await startLab();
  const { mine } = pickTwo(lab);
  const token = await lab.tokenFor(mine.userId);
  const { errors } = await lab.query('{ orders(filter: { search: "a" }) { nodes { id } } }', { token });
  expect(errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN' });
});

test('nobody without a key or token gets anything but 401', async () => {
  await using lab = await startLab();
  const answers = [];
  for (const token of ['', 'wrong', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.']) {
    answers.push(await lab.query('{ users { nodes { id } } }', { token }));
  }
  for (const answer of answers) {
    expect(answer.status).toBe(401);
    expect(answer.data).toBeUndefined();
    expect(answer.errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
  }
  expect(lab.sandbox.calls).toEqual([]);
});

test('a browser cannot make tokens', async () => {
  await using lab = await startLab();
  const { mine } = pickTwo(lab);
  const token = await lab.tokenFor(mine.userId, { scopes });
  const answer = await lab.query(
    `mutation { createViewerToken(input: { userId: "${mine.userId}" }) { token } }`,
    { token },
  );
  expect(answer.data).toEqual({ createViewerToken: null });
  expect(answer.errors?.[0]?.extensions).toEqual({ code: 'FORBIDDEN' });
});
