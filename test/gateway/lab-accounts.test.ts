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
