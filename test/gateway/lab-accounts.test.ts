import { expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

const fields = `id labSlug orgId status statusRaw delegatedFlow delegatedFlowRaw suppliesOwnPhysicians
  providerAccountId accountName defaultClinicalNotes businessUnits allowedBilling { typeRaw states }`;

async function accounts(lab: Lab, args = '') {
  const answer = await lab.query(`{ labAccounts${args} { ${fields} } }`);
  return answer.data?.labAccounts ?? answer;
}

const calls = (lab: Lab) => lab.sandbox.calls.filter((call) => call.includes('lab_account'));

function answerWith(lab: Lab, body: unknown) {
  lab.sandbox.faults.add({
    path: '/v3/lab_test/lab_account',
    effect: { kind: 'answer', status: 200, body: JSON.stringify(body) },
  });
}

test('lab accounts say whose physicians order on them', async () => {
  await using lab = await startLab();
  const [first, second, third] = await accounts(lab);
  expect(second).toEqual({
    id: second.id,
    labSlug: 'specimen-labs',
    orgId: first.orgId,
    status: 'ACTIVE',
    statusRaw: 'active',
    delegatedFlow: 'ORDER_DELEGATED',
    delegatedFlowRaw: 'order_delegated',
    suppliesOwnPhysicians: true,
    providerAccountId: 'SP-778',
    accountName: 'Specimen Labs, own physicians',
    defaultClinicalNotes: 'Call the office with critical results.',
    businessUnits: ['West'],
    allowedBilling: [
      { typeRaw: 'client_bill', states: ['AZ', 'TX'] },
      { typeRaw: 'patient_bill', states: ['AZ'] },
    ],
  });
  expect([first.suppliesOwnPhysicians, third.suppliesOwnPhysicians, third.status]).toEqual([
    false,
    true,
    'PENDING',
  ]);
});

test('lab accounts are asked for by id and by status, in either case of letters', async () => {
  await using lab = await startLab();
  const [, second, third] = await accounts(lab);
  lab.sandbox.clearCalls();
  expect(await accounts(lab, `(id: "${second.id}")`)).toEqual([second]);
  expect(await accounts(lab, '(status: "PENDING")')).toEqual([third]);
  expect(await accounts(lab, '(status: "suspended")')).toEqual([]);
  expect(await accounts(lab, `(id: "${crypto.randomUUID()}")`)).toEqual([]);
  expect(calls(lab).slice(0, 2)).toEqual([
    `GET /v3/lab_test/lab_account?lab_account_id=${second.id}`,
    'GET /v3/lab_test/lab_account?status=pending',
  ]);
});

test('a status is sent in lower case as a value of the enum, and as it is as a text', async () => {
  await using lab = await startLab();
  const { id } = (await accounts(lab))[2];
  lab.sandbox.clearCalls();
  for (const filter of ['{ status: PENDING }', '{ statusRaw: "PENDING" }', '{ statusRaw: "Pending" }']) {
    answerWith(lab, { data: [{ id, status: 'PENDING' }] });
    expect(await accounts(lab, `(filter: ${filter})`)).toMatchObject([{ id, status: 'PENDING' }]);
  }
  expect(calls(lab)).toEqual([
    'GET /v3/lab_test/lab_account?status=pending',
    'GET /v3/lab_test/lab_account?status=PENDING',
    'GET /v3/lab_test/lab_account?status=Pending',
  ]);
});

test('a service that ignores the filters is filtered here', async () => {
  await using lab = await startLab();
  const [first, second] = await accounts(lab);
  answerWith(lab, {
    data: [
      { id: first.id, status: 'active' },
      { id: second.id, status: 'PENDING' },
    ],
  });
  expect((await accounts(lab, `(id: "${first.id}")`)).map(({ id }: { id: string }) => id)).toEqual([
    first.id,
  ]);
  expect((await accounts(lab, '(status: "pending")')).map(({ id }: { id: string }) => id)).toEqual([
    second.id,
  ]);
});

test('an id that is no uuid reaches nobody', async () => {
  await using lab = await startLab();
  const answer = await accounts(lab, '(id: "27")');
  expect(answer.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(calls(lab)).toEqual([]);
});

test('a browser sees no lab account, with any scopes', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '', { scopes: ['read:catalogue'] });
  const answer = await lab.query('{ labAccounts { id } }', { token });
  expect(answer.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  expect(calls(lab)).toEqual([]);
});

test('what is new or broken in an account costs neither the account nor the list', async () => {
  await using lab = await startLab();
  answerWith(lab, {
    data: [
      { id: 'a', status: 'resting', delegated_flow: 'shared', lab: 'new_lab', allowed_billing: { new: 'x' } },
      { id: 'b', status: 7, delegated_flow: null, business_units: 'West', allowed_billing: [] },
      { status: 'active' },
      null,
    ],
  });
  const rows = await accounts(lab);
  expect(rows).toMatchObject([
    {
      id: 'a',
      status: null,
      statusRaw: 'resting',
      delegatedFlow: null,
      delegatedFlowRaw: 'shared',
      suppliesOwnPhysicians: null,
      allowedBilling: [{ typeRaw: 'new', states: [] }],
    },
    { id: 'b', statusRaw: null, suppliesOwnPhysicians: null, businessUnits: [], allowedBilling: [] },
  ]);
});

test.each(['{}', '{"data":null}'])('an answer like %s is an empty list', async (body) => {
  await using lab = await startLab();
  answerWith(lab, JSON.parse(body));
  expect(await accounts(lab)).toEqual([]);
});

test('a service that fails is reported as such', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: '/v3/lab_test/lab_account', effect: { kind: 'serverError' } });
  expect((await accounts(lab)).errors[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test('the catalogue of one lab account is read: its lab tests, its markers, and those of an order set', async () => {
  await using lab = await startLab();
  const [, account] = await accounts(lab);
  const labTests = await lab.query(
    `{ labTests(first: 100, filter: { labAccountId: "${account.id}" }) { nodes { id lab { slug } } } }`,
  );
  const [own] = labTests.data.labTests.nodes;
  const foreign = lab.sandbox
    .labTests()
    .find(({ labTestId }) =>
      labTests.data.labTests.nodes.every(({ id }: { id: string }) => id !== labTestId),
    );
  lab.sandbox.clearCalls();
  const answer = await lab.query(`{
    own: labTest(id: "${own.id}", labAccountId: "${account.id}") { id }
    foreign: labTest(id: "${foreign?.labTestId}", labAccountId: "${account.id}") { id }
    markers(first: 100, filter: { labAccountId: "${account.id}" }) { nodes { labId } }
    orderSetMarkers(orderSet: { addOn: { markerIds: ["1", "27001"] } }, labAccountId: "${account.id}") {
      nodes { id }
    }
    areaInfo(zipCode: "85004", labAccountId: "${account.id}") { zipCode }
    serviceCenters(zipCode: "85004", labId: 6, labAccountId: "${account.id}") { siteCode }
  }`);
  expect(labTests.data.labTests.nodes.map((each: { lab: object }) => each.lab)).toEqual([
    { slug: 'specimen-labs' },
    { slug: 'specimen-labs' },
  ]);
  expect(answer.data).toMatchObject({ own: { id: own.id }, foreign: null });
  expect(new Set(answer.data.markers.nodes.map(({ labId }: { labId: number }) => labId))).toEqual(
    new Set([6]),
  );
  expect(answer.data.orderSetMarkers.nodes).toEqual([{ id: '1' }]);
  const named = `lab_account_id=${account.id}`;
  expect(lab.sandbox.calls.toSorted()).toEqual(
    [
      `GET /v3/lab_tests/${own.id}?${named}`,
      `GET /v3/lab_tests/${foreign?.labTestId}?${named}`,
      `GET /v3/lab_tests/markers?${named}&page=1&size=100`,
      'POST /v3/lab_tests/list_order_set_markers?page=1&size=20',
      `GET /v3/order/area/info?zip_code=85004&radius=25&${named}`,
      `GET /v3/order/psc/info?zip_code=85004&lab_id=6&radius=25&${named}`,
    ].toSorted(),
  );
});

test.each([
  'labTest(id: "00000000-0000-4000-8000-000000000001", labAccountId: "27") { id }',
  'labTests(filter: { labAccountId: "27" }) { nodes { id } }',
  'markers(filter: { labAccountId: "27" }) { nodes { id } }',
  'orderSetMarkers(orderSet: {}, labAccountId: "27") { nodes { id } }',
  'areaInfo(zipCode: "85004", labAccountId: "27") { zipCode }',
  'serviceCenters(zipCode: "85004", labId: 6, labAccountId: "27") { siteCode }',
])('%s reaches nobody: the account is no uuid', async (field) => {
  await using lab = await startLab();
  const { errors } = await lab.query(`{ ${field} }`);
  expect(errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
  expect(lab.sandbox.calls).toEqual([]);
});

test('a cursor of the catalogue of one account is of no other list', async () => {
  await using lab = await startLab();
  const [first, second] = await accounts(lab);
  const list = (id: string, after: string) =>
    lab.query(`{ markers(first: 1, filter: { labAccountId: "${id}" }${after}) { pageInfo { endCursor } } }`);
  const { endCursor } = (await list(first.id, '')).data.markers.pageInfo;
  expect((await list(second.id, `, after: "${endCursor}"`)).errors?.[0].extensions.code).toBe('BAD_CURSOR');
});
