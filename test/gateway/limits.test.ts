import { complexityFromQuery } from '@pothos/plugin-complexity';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../../gateway/domain/schema.ts';
import { ways } from '../support/ask.ts';
import { gatewayKey, graphqlRequest, type Lab, startLab } from '../support/lab.ts';

let lab: Lab;

beforeAll(async () => {
  lab = await startLab();
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

const id = '0d5f6c1e-5a8f-4b7e-9a53-3a5d0d8d1c11';
const times = (count: number, field: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => field(index)).join(' ');
const reports = (count: number) => times(count, (index) => `r${index}: labReport(id: "${id}") { id }`);
const simulations = (count: number) =>
  times(count, (index) => `m${index}: simulateOrder(id: "${id}") { __typename }`);

describe.each(ways)('over %s', (_name, ask) => {
  test.each([
    ['themselves', `{ ${reports(21)} }`],
    ['in a fragment', `{ ...reports } fragment reports on Query { ${reports(21)} }`],
    ['in an inline fragment', `{ ... { ... on Query { ${reports(21)} } } }`],
    [
      'some here and some in fragments inside fragments',
      `{ ${reports(10)} ...outer } fragment outer on Query { ...inner } fragment inner on Query {
        ${times(11, (index) => `s${index}: labReport(id: "${id}") { id }`)} }`,
    ],
    ['in a fragment of a mutation', `mutation { ...all } fragment all on Mutation { ${simulations(45)} }`],
  ])('more than 20 fields at the root are refused: %s', async (_where, query) => {
    const before = lab.sandbox.calls.length;
    const { errors } = await ask(lab, query);
    expect(errors).toMatchObject([
      {
        message: 'The operation has more than 20 fields at its root.',
        extensions: { code: 'QUERY_TOO_COSTLY' },
      },
    ]);
    expect(lab.sandbox.calls).toHaveLength(before);
  });

  test('20 of them are allowed, and a fragment that is written twice counts once', async () => {
    const twice = `{ ...reports ...reports } fragment reports on Query { ${reports(20)} }`;
    expect((await ask(lab, twice)).errors).toBeUndefined();
  });
});

const costly = '{ users(first: 100) { nodes { orders(first: 100) { nodes { user { id } } } } } }';

test.each([
  [
    'in a fragment',
    `{ ...all } fragment all on Query { users(first: 100) { nodes { ...theirs } } }
    fragment theirs on User { orders(first: 100) { nodes { user { id } } } }`,
  ],
  ['plainly', costly],
])('what costs too much is refused: %s', async (_where, query) => {
  for (const [, ask] of ways) {
    expect((await ask(lab, query)).errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COSTLY' } }]);
  }
});

test('of a document with several operations the one that is run is measured', async () => {
  const query = `query cheap { viewer { kind } } query costly ${costly}`;
  const run = async (operationName: string) => {
    const request = graphqlRequest(lab.url, { query, operationName }, gatewayKey);
    return await (await lab.gateway.fetch(request)).json();
  };
  expect(await run('costly')).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COSTLY' } }] });
  expect(await run('cheap')).toEqual({ data: { viewer: { kind: 'TEAM' } } });
});

test('no field at the root makes more calls than it weighs', async () => {
  const [order] = lab.sandbox.orders();
  const kit = lab.sandbox.labTests().find(({ method }) => method === 'testkit');
  const user = order?.userId;
  const shipping = `shippingDetails: { receiverName: "A", firstLine: "1 Street", city: "Phoenix", state: "AZ",
    zip: "85004", country: "US", phoneNumber: "+16025550143" }`;
  const operations = [
    `{ user(id: "${user}") { id } }`,
    '{ userByClientUserId(clientUserId: "nobody") { id } }',
    '{ users { totalCount } }',
    `{ order(id: "${order?.orderId}") { id } }`,
    '{ orders { totalCount } }',
    `{ labTest(id: "${kit?.labTestId}") { id } }`,
    '{ labTests { nodes { id } } }',
    '{ markers { nodes { id } } }',
    `{ orderSetMarkers(labTestIds: ["${kit?.labTestId}"]) { nodes { id } } }`,
    '{ labs { name } }',
    '{ labAccounts { id } }',
    `{ labReport(id: "${id}") { id } }`,
    `{ workoutStream(workoutId: "${id}") { workoutId } }`,
    '{ appointmentCancellationReasons(type: PHLEBOTOMY) { id } }',
    '{ historicalPulls { nodes { userId } } }',
    `mutation { createPortalUrl(input: { userId: "${user}" }) { __typename } }`,
    `mutation { createTestkitOrder(input: { userId: "${user}", labTestId: "${kit?.labTestId}",
      idempotencyKey: "weighed", ${shipping} }) { __typename } }`,
    `mutation { simulateOrder(id: "${order?.orderId}") { __typename } }`,
    `mutation { cancelOrder(id: "${order?.orderId}") { __typename } }`,
    `mutation { createUser(input: { clientUserId: "weighed" }) { __typename } }`,
    `mutation { deleteUser(id: "${lab.sandbox.users().at(-1)?.userId}") { __typename } }`,
  ];
  for (const query of operations) {
    const calls = lab.sandbox.calls.length;
    const answer = await lab.query(query);
    const made = lab.sandbox.calls.length - calls;
    const { complexity } = complexityFromQuery(parse(query), { schema, variables: {}, ctx: {} });
    expect({ query, errors: answer.errors, isCovered: made * 100 <= complexity, made }).toEqual({
      query,
      errors: undefined,
      isCovered: true,
      made,
    });
  }
});
