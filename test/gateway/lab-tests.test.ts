import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const page = `query ($first: Int, $after: String, $filter: LabTestFilter) {
  labTests(first: $first, after: $after, filter: $filter) {
    totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;

async function read(lab: Lab, variables: Readonly<Record<string, unknown>> = {}) {
  const answer = await lab.query(page, { variables });
  return answer.data?.labTests ?? answer;
}

test('one lab test is found by id; a random id is nobody, and a wrong one reaches nobody', async () => {
  await using lab = await startLab();
  const known = lab.sandbox.labTests()[0];
  const ask = (id: string | undefined) => lab.query(`{ labTest(id: "${id}") { id name method } }`);
  expect((await ask(known?.labTestId)).data.labTest).toEqual({
    id: known?.labTestId,
    name: known?.name,
    method: known?.method.toUpperCase(),
  });
  expect((await ask(crypto.randomUUID())).data.labTest).toBeNull();
  lab.sandbox.clearCalls();
  expect((await ask('27')).errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  expect(lab.sandbox.calls).toEqual([]);
});

test.each([1, 3, 8, 100])('lab tests are read to the end in stretches of %i', async (first) => {
  await using lab = await startLab();
  const seen: string[] = [];
  let after: string | null = null;
  for (let isMore = true; isMore; ) {
    const { nodes, pageInfo } = await read(lab, { first, after });
    expect(pageInfo.hasPreviousPage).toBe(after !== null);
    seen.push(...nodes.map(({ id }: { id: string }) => id));
    isMore = pageInfo.hasNextPage;
    after = pageInfo.endCursor;
  }
  expect(seen).toEqual(lab.sandbox.labTests().map(({ labTestId }) => labTestId));
});

test('a filter that fits nothing gives an empty list, and its cursors fit no other list', async () => {
  await using lab = await startLab();
  const nothing = await read(lab, { filter: { name: 'nothing of the kind' } });
  expect(nothing).toMatchObject({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } });
  const { pageInfo } = await read(lab, { first: 2 });
  const foreign = await read(lab, { after: pageInfo.endCursor, filter: { method: 'TESTKIT' } });
  expect(foreign.errors[0].extensions.code).toBe('BAD_CURSOR');
});

test('lab tests are asked for by status, one of the enum or one that it lacks', async () => {
  await using lab = await startLab();
  const all = await read(lab, { filter: { status: 'ACTIVE' } });
  const waiting = await read(lab, { filter: { status: 'PENDING_APPROVAL' } });
  await read(lab, { filter: { statusRaw: 'retired' } });
  expect([all.nodes.length, waiting.nodes.length]).toEqual([lab.sandbox.labTests().length, 0]);
  expect(lab.sandbox.calls).toEqual([
    'GET /v3/lab_test?lab_test_limit=20&status=active',
    'GET /v3/lab_test?lab_test_limit=20&status=pending_approval',
    'GET /v3/lab_test?lab_test_limit=20&status=retired',
  ]);
});

test('a status in both ways is refused before the service is asked', async () => {
  await using lab = await startLab();
  const refused = await read(lab, { filter: { status: 'ACTIVE', statusRaw: 'inactive' } });
  expect(refused.errors[0]).toMatchObject({
    message: 'Give either filter.status or filter.statusRaw.',
    extensions: { code: 'BAD_USER_INPUT' },
  });
  expect(lab.sandbox.calls).toEqual([]);
});

test.each([0, 101, -1])('a stretch of %i is refused before the service is asked', async (first) => {
  await using lab = await startLab();
  expect((await read(lab, { first })).errors[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(lab.sandbox.calls).toEqual([]);
});

test('ways of collection that nobody knows yet are shown as the service sent them', async () => {
  await using lab = await startLab();
  const body = JSON.stringify([{ id: 1, collection_methods: ['testkit', 'teleport', 7] }]);
  lab.sandbox.faults.add({ path: '/v3/lab_tests/labs', effect: { kind: 'answer', status: 200, body } });
  const answer = await lab.query('{ labs { collectionMethods collectionMethodsRaw } }');
  expect(answer.data.labs).toEqual([
    { collectionMethods: ['TESTKIT'], collectionMethodsRaw: ['testkit', 'teleport'] },
  ]);
});
