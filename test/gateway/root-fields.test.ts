import { isNonNullType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../gateway/domain/schema.ts';
import { json, text } from '../support/misbehaving-service.ts';
import { type SpoiltLab, startSpoiltLab } from '../support/spoilt-lab.ts';

function kitFor({ sandbox }: SpoiltLab, userId = sandbox.users()[0]?.userId) {
  return {
    userId,
    labTestId: sandbox.labTests().find(({ method }) => method === 'testkit')?.labTestId,
    idempotencyKey: 'kit-1',
    shippingDetails: {
      receiverName: 'Avery Sample',
      firstLine: '100 Example Street',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'US',
      phoneNumber: '+16025550100',
    },
  };
}

const takeKit = `createTestkitOrder(input: $kit) {
  __typename ... on OrderCreated { order { id } } ... on InputRejected { code issues { path message } }
}`;

test('no field of Query or Mutation that can fail takes its neighbours along', () => {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const fields = roots.flatMap((type) => Object.values(type?.getFields() ?? {}));
  // The viewer is known before anything is executed.
  expect(fields.filter(({ type }) => isNonNullType(type)).map(({ name }) => name)).toEqual(['viewer']);
});

describe('an operation of two mutations', () => {
  test.each([
    ['a malformed id', 'x', { __typename: 'InputRejected' }, undefined],
    ['a service that fails', 'order', null, { code: 'UPSTREAM_UNAVAILABLE', mayHaveBeenDone: true }],
  ])('shows what the first has done where the second has %s', async (_, id, b, extensions) => {
    await using lab = await startSpoiltLab();
    const [order] = lab.sandbox.orders().filter(({ status }) => /with_customer|ordered/.test(status));
    lab.spoil({ at: /cancel$/, isDone: false, answer: text('', 502), times: 9 });
    const before = lab.sandbox.orders().length;
    const answer = await lab.query(
      `mutation ($kit: CreateTestkitOrderInput!, $id: ID!) { a: ${takeKit} b: cancelOrder(id: $id) { __typename } }`,
      { variables: { kit: kitFor(lab), id: id === 'order' ? order?.orderId : id } },
    );
    expect(answer.data).toEqual({
      a: { __typename: 'OrderCreated', order: { id: expect.any(String) } },
      b,
    });
    const failed = { path: ['b'], extensions };
    expect(answer.errors).toEqual(extensions && [expect.objectContaining(failed)]);
    expect(lab.sandbox.orders()).toHaveLength(before + 1);
  });
});

test('a query of two lists shows the one that can be read', async () => {
  await using lab = await startSpoiltLab();
  const answer = await lab.query('{ labs { id } orders(first: 0) { nodes { id } } }');
  expect(answer.data).toMatchObject({ labs: [{ id: '6' }, { id: '27' }], orders: null });
  expect(answer.errors).toMatchObject([{ path: ['orders'], extensions: { code: 'BAD_USER_INPUT' } }]);
});

test('a malformed id of a mutation is a refusal as data, where its result has one', async () => {
  await using lab = await startSpoiltLab();
  const answer = await lab.query(`mutation ($kit: CreateTestkitOrderInput!) { ${takeKit} }`, {
    variables: { kit: kitFor(lab, 'x') },
  });
  expect(answer.errors).toBeUndefined();
  expect(answer.data.createTestkitOrder).toEqual({
    __typename: 'InputRejected',
    code: 'INPUT_REJECTED',
    issues: [{ path: ['userId'], message: 'It must be a uuid.' }],
  });
  expect(lab.sandbox.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
});

test('a mutation shows what it created although a field of it cannot be read', async () => {
  await using lab = await startSpoiltLab();
  lab.spoil({ at: /GET .orders/, isDone: false, answer: text('', 502), times: 9 });
  const answer = await lab.query(
    `mutation { createUser(input: { clientUserId: "new-1" }) {
      ... on UserCreated { user { id orders { nodes { id } } } } } }`,
  );
  expect(answer.data).toEqual({ createUser: { user: { id: expect.any(String), orders: null } } });
  expect(answer.errors).toMatchObject([
    { path: ['createUser', 'user', 'orders'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } },
  ]);
});

test('a mutation whose result is lost to one of its own fields may have been done, and says so', async () => {
  await using lab = await startSpoiltLab();
  const answer = json({ url: `${lab.serviceUrl}/portal`, expires_in: 2_419_200_000 });
  lab.spoil({ at: /create_portal_url/, isDone: false, answer });
  const { data, errors } = await lab.query(
    `mutation { createPortalUrl(input: { userId: "${lab.sandbox.users()[0]?.userId}" }) {
      ... on PortalUrl { url expiresIn } } }`,
  );
  expect(data).toEqual({ createPortalUrl: null });
  expect(errors).toEqual([
    expect.objectContaining({
      path: ['createPortalUrl', 'expiresIn'],
      message: expect.stringMatching(/It may have been done all the same\.$/),
      extensions: { code: 'UPSTREAM_UNREADABLE', mayHaveBeenDone: true },
    }),
  ]);
  expect(JSON.stringify(errors)).not.toContain('2419200000');
});
