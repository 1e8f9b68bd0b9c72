import { isInterfaceType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { scopes } from '../../gateway/auth/rights.ts';
import { schema } from '../../gateway/domain/schema.ts';
import { createLabAccounts } from '../../sandbox/world/lab-accounts.ts';
import { type Lab, readAnew } from '../support/lab.ts';
import { nodeIdOf } from '../support/node-id.ts';
import { startSpoiltLab } from '../support/spoilt-lab.ts';
import { meet } from './isolation/people.ts';

const [account] = createLabAccounts(1);

/** How each type is read by its own id. */
const plain: Readonly<Record<string, (id: string) => string>> = {
  Appointment: (id) => `appointment(id: "${id}") { id nodeId userId }`,
  Lab: (id) => `lab(id: "${id}") { id nodeId name }`,
  LabAccount: (id) => `labAccounts(id: "${id}") { id nodeId accountName }`,
  LabReport: (id) => `labReport(id: "${id}") { id nodeId userId }`,
  LabTest: (id) => `labTest(id: "${id}") { id nodeId name }`,
  Marker: (id) => `marker(id: "${id}") { id nodeId name }`,
  Order: (id) => `order(id: "${id}") { id nodeId userId events { id } results { biomarkers { name } } }`,
  User: (id) => `user(id: "${id}") { id nodeId clientUserId demographics { firstName } }`,
};

interface Subject {
  readonly type: string;
  readonly id: string;
}

/** One object of each type, those of people of the first user. */
async function findSubjects(lab: Lab & Parameters<typeof meet>[0]): Promise<readonly Subject[]> {
  const [order] = lab.sandbox.orders().filter(({ status }) => status.endsWith('completed'));
  const { userId = '', orderId = '' } = order ?? {};
  const { appointmentId, labReportId } = await meet(lab, { userId, orderId });
  return [
    { type: 'User', id: userId },
    { type: 'Order', id: orderId },
    { type: 'Appointment', id: appointmentId },
    { type: 'LabReport', id: labReportId },
    { type: 'LabTest', id: lab.sandbox.labTests()[0]?.labTestId ?? '' },
    { type: 'Lab', id: '27' },
    { type: 'Marker', id: '27000' },
    { type: 'LabAccount', id: account?.id ?? '' },
  ];
}

const asNode = ({ type, id }: Subject) => {
  const selection = plain[type]?.(id).replace(/^\w+\(.*?\)/, '');
  return `node(nodeId: "${nodeIdOf(type, id)}") { ... on ${type} ${selection} }`;
};

test('every type that has a nodeId is tried here', () => {
  const node = schema.getType('Node');
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : [];
  expect(types.toSorted()).toEqual(Object.keys(plain));
});

test('node shows and refuses each type as the field does that takes its id, to every kind of caller', async () => {
  await using lab = await startSpoiltLab();
  const subjects = await findSubjects(lab);
  const [{ id: userId = '' } = {}, { id: orderId = '' } = {}] = subjects;
  const stranger = lab.sandbox.users().find((user) => user.userId !== userId)?.userId ?? '';
  const tokens = [
    undefined,
    await lab.tokenFor(userId, { scopes }),
    await lab.tokenFor(userId, { scopes: [] }),
    await lab.tokenFor(userId, { scopes: ['read:orders'] }),
    await lab.tokenFor(userId, { scopes: ['read:results', 'read:catalogue'] }),
    await lab.tokenFor(userId, { scopes, orderIds: [orderId] }),
    await lab.tokenFor(stranger, { scopes }),
  ];
  const words = new Set<string>();
  for (const token of tokens) {
    for (const subject of subjects) {
      const ask = async (query: string) => {
        const answer = await lab.query(`{ result: ${query} }`, token === undefined ? {} : { token });
        // Lab accounts are read as a list.
        const [result = null] = [answer.data.result].flat();
        return { result, errors: answer.errors?.map(({ path, extensions }) => [path.at(-1), extensions]) };
      };
      const found = await ask(asNode(subject));
      expect(found).toEqual(await ask(plain[subject.type]?.(subject.id) ?? ''));
      if (found.result !== null) expect(found.result.nodeId).toBe(nodeIdOf(subject.type, subject.id));
      words.add(found.errors?.[0]?.[1].code ?? (found.result === null ? 'nothing' : 'shown'));
    }
  }
  expect([...words].toSorted()).toEqual(['FORBIDDEN', 'nothing', 'shown']);
});

describe('nodes', () => {
  test('reads many objects in as few calls as the service has for them, in the order of the ids', async () => {
    await using lab = await startSpoiltLab({ env: readAnew });
    const orders = lab.sandbox.orders().slice(0, 30);
    const ids = [
      ...orders.map(({ orderId }) => nodeIdOf('Order', orderId)),
      ...['27000', '1', '27001'].map((id) => nodeIdOf('Marker', id)),
      ...['6', '27', '5'].map((id) => nodeIdOf('Lab', id)),
    ];
    lab.sandbox.clearCalls();
    const { data, errors } = await lab.query(
      'query ($ids: [ID!]!) { nodes(nodeIds: $ids) { __typename nodeId ... on Order { status { raw } } } }',
      { variables: { ids } },
    );
    expect(errors).toBeUndefined();
    expect(data.nodes.map((node: { nodeId: string } | null) => node?.nodeId)).toEqual([
      ...ids.slice(0, -1),
      undefined,
    ]);
    const paths = lab.sandbox.calls.map((call) => call.replace(/\?.*/, ''));
    expect(paths.toSorted()).toEqual([
      'GET /orders',
      'GET /v3/lab_tests/labs',
      'POST /v3/lab_tests/list_order_set_markers',
    ]);
  });

  test('has an error for each id that is none, and shows the others', async () => {
    await using lab = await startSpoiltLab();
    const order = nodeIdOf('Order', lab.sandbox.orders()[0]?.orderId ?? '');
    const ids = [
      ...['', 'x', lab.sandbox.orders()[0]?.orderId, nodeIdOf('Order', 'x'), nodeIdOf('Marker', '01')],
      ...[nodeIdOf('Viewer', '1'), nodeIdOf('__proto__', '1'), `${order}=`, 'a'.repeat(15_000)],
      nodeIdOf('Order', lab.sandbox.orders()[0]?.orderId.toUpperCase() ?? ''),
    ];
    const { data, errors = [] } = await lab.query(
      'query ($ids: [ID!]!) { nodes(nodeIds: $ids) { nodeId } }',
      { variables: { ids: [...ids, order] } },
    );
    expect(data.nodes).toEqual([...ids.map(() => null), { nodeId: order }]);
    expect(errors.map(({ path, extensions }) => [path, extensions])).toEqual(
      ids.map((_, index) => [['nodes', index], { code: 'BAD_USER_INPUT' }]),
    );
  });

  test('takes 100 ids, and costs as much as the fields that read one each', async () => {
    await using lab = await startSpoiltLab();
    const ask = async (count: number, selection = 'nodeId') =>
      await lab.query(`query ($ids: [ID!]!) { nodes(nodeIds: $ids) { ${selection} } }`, {
        variables: { ids: Array.from({ length: count }, () => nodeIdOf('User', crypto.randomUUID())) },
      });
    const codeOf = ({ errors }: Awaited<ReturnType<typeof ask>>) => errors?.[0]?.extensions.code;
    const costly = '... on User { orders(first: 100) { nodes { user { id } } } }';
    expect(codeOf(await ask(100))).toBeUndefined();
    expect(codeOf(await ask(101))).toBe('BAD_USER_INPUT');
    expect(codeOf(await ask(40, costly))).toBeUndefined();
    expect(codeOf(await ask(60, costly))).toBe('QUERY_TOO_COSTLY');
  });
});

test('objects that have one id in the service have different ones in the graph', async () => {
  await using lab = await startSpoiltLab();
  const { data } = await lab.query(
    '{ lab(id: 6) { id nodeId } marker(id: 6) { id nodeId lab { nodeId } expectedResults { id } } }',
  );
  expect([data.lab.id, data.marker.id, data.marker.expectedResults[0].id]).toEqual(['6', '6', '6']);
  expect(data.lab.nodeId).not.toBe(data.marker.nodeId);
  expect(data.marker.lab.nodeId).toBe(data.lab.nodeId);
});

test('the zone of a user is no object with an id', async () => {
  await using lab = await startSpoiltLab();
  const userId = lab.sandbox.users()[0]?.userId;
  const input = `{ id: "${userId}", fallbackTimeZone: "America/Denver" }`;
  await lab.query(`mutation { updateUser(input: ${input}) { __typename } }`);
  const { data } = await lab.query(`{ user(id: "${userId}") { fallbackTimeZone { name id } } }`);
  expect(data.user.fallbackTimeZone).toEqual({ name: 'America/Denver', id: 'America/Denver' });
});
