import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Lab, startLab } from '../support/lab.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const address = { firstLine: '1 Way', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' };
const person = {
  ...{ firstName: 'Avery', lastName: 'Sample', dob: '1980-01-01', gender: 'FEMALE' },
  ...{ phoneNumber: '+16025550100', email: 'avery@example.com' },
};

function orderToImport() {
  return {
    ...{
      userId: crypto.randomUUID(),
      sampleId: '1',
      billingType: 'CLIENT_BILL',
      collectionMethod: 'TESTKIT',
    },
    orderSet: { labTestIds: [crypto.randomUUID()] },
    patientAddress: { ...address, receiverName: 'Avery Sample' },
  };
}

const rejected = 'result: createUser(input: $input) { ... on InputRejected { code issues { path code } } }';

describe('what is wrong with an input has a code', () => {
  test('of the gateway', async () => {
    const { data } = await lab.query(`mutation ($input: CreateUserInput!) { ${rejected} }`, {
      variables: { input: { clientUserId: ' ', fallbackTimeZone: 'Atlantis' } },
    });
    expect(data.result).toEqual({
      code: 'INPUT_REJECTED',
      issues: [
        { path: ['clientUserId'], code: 'REQUIRED' },
        { path: ['fallbackTimeZone'], code: 'INVALID' },
      ],
    });
  });

  test.each([
    ['no name', { firstName: ' ' }, 'REQUIRED'],
    ['a long name', { firstName: 'x'.repeat(51) }, 'TOO_LONG'],
    ['a child without a proxy', { dob: '2020-01-01' }, 'REQUIRED'],
  ])('of the gateway, for a patient with %s', async (_, patient, code) => {
    const { data } = await lab.query(
      'mutation ($input: ImportOrderInput!) { result: importOrder(input: $input) { ... on InputRejected { issues { path code } } } }',
      { variables: { input: { ...orderToImport(), patientDetails: { ...person, ...patient } } } },
    );
    const path = ['patientDetails', 'dob' in patient ? 'medicalProxy' : 'firstName'];
    expect(data.result.issues).toEqual([{ path, code }]);
  });

  test.each([
    ['missing', 'REQUIRED'],
    ['string_too_long', 'TOO_LONG'],
    ['value_error', 'INVALID'],
    [undefined, 'INVALID'],
  ])('of the service, where it says %s', async (type, code) => {
    const detail = [{ type, loc: ['body', 'client_user_id'], msg: 'No', input: 'x' }];
    const effect = { kind: 'answer', status: 422, body: JSON.stringify({ detail }) } as const;
    lab.sandbox.faults.add({ path: /v2\/user/, method: 'POST', times: 1, effect });
    const { data } = await lab.query(`mutation ($input: CreateUserInput!) { ${rejected} }`, {
      variables: { input: { clientUserId: 'web-77' } },
    });
    expect(data.result.issues).toEqual([{ path: ['clientUserId'], code }]);
  });
});

describe('a radius', () => {
  const areaInfo = (given: string) =>
    lab.query(`{ areaInfo(zipCode: "85004"${given}) { labs { serviceCenterCount } } }`);

  test('is an enum or, as before, a number of miles, and 25 miles when left out', async () => {
    const answers = ['', ', radius: 25', ', within: MILES_25', ', within: MILES_10'].map(areaInfo);
    const [byDefault, asNumber, asEnum, near] = await Promise.all(answers);
    expect(byDefault?.data.areaInfo.labs.length).toBeGreaterThan(0);
    expect([asNumber, asEnum]).toEqual([byDefault, byDefault]);
    expect(near).not.toEqual(byDefault);
  });

  test('is not both', async () => {
    const { errors } = await areaInfo(', radius: 25, within: MILES_25');
    expect(errors?.[0]).toMatchObject({
      message: 'Give either within or radius.',
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });
});

describe('what has another name now', () => {
  const testId = () => lab.sandbox.labTests()[0]?.labTestId;
  const pairs = [
    ['orders(filter: { steps: [COMPLETED] })', 'orders(filter: { statuses: [COMPLETED] })'],
    ['orders(filter: { stepsRaw: ["ordered"] })', 'orders(filter: { statusesRaw: ["ordered"] })'],
    ['orders(filter: { collectionMethods: [TESTKIT] })', 'orders(filter: { methods: [TESTKIT] })'],
    ['labTests(filter: { collectionMethod: TESTKIT })', 'labTests(filter: { method: TESTKIT })'],
    [
      'markers(filter: { labSlug: "specimen-labs", name: "a" })',
      'markers(labSlug: "specimen-labs", name: "a")',
    ],
    ['orderSetMarkers(orderSet: { labTestIds: [$test] })', 'orderSetMarkers(labTestIds: [$test])'],
    ['orderSetMarkers(orderSet: { addOn: { markerIds: [1] } })', 'orderSetMarkers(addOnMarkerIds: [1])'],
  ] as const;
  const rows = (field: string) =>
    lab.query(`{ ${field.replaceAll('$test', `"${testId()}"`)} { nodes { id } } }`);

  test.each(pairs)('%s is as %s', async (now, before) => {
    const [byNew, byOld] = await Promise.all([rows(now), rows(before)]);
    expect(Object.values(byNew.data).flatMap((list) => (list as { nodes: [] }).nodes)).not.toEqual([]);
    expect(byOld).toEqual(byNew);
  });

  test.each([
    'orders(filter: { steps: [LOST], statuses: [LOST] })',
    'labTests(filter: { collectionMethod: TESTKIT, method: TESTKIT })',
    'markers(filter: { name: "a" }, name: "a")',
    'orderSetMarkers(orderSet: { labTestIds: [$test] }, labTestIds: [$test])',
    'orderSetMarkers(orderSet: { addOn: { markerIds: [1], providerIds: ["1"] } })',
  ])('is not given under both names, nor in two ways: %s', async (field) => {
    expect((await rows(field)).errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('has the same value under both', async () => {
    const { data } = await lab.query(`{ orders(first: 3) { nodes {
      method methodRaw collectionMethod collectionMethodRaw status { method collectionMethod }
      labTest { method methodRaw collectionMethod collectionMethodRaw } } } }`);
    for (const { labTest, status, ...order } of data.orders.nodes) {
      expect([order.collectionMethod, status.collectionMethod]).toEqual([order.method, status.method]);
      expect([order.collectionMethodRaw, labTest.collectionMethod]).toEqual([
        order.methodRaw,
        labTest.method,
      ]);
      expect(order.collectionMethod).not.toBeNull();
    }
  });
});

describe('lab accounts of a status', () => {
  const accounts = (given: string) => lab.query(`{ labAccounts(${given}) { id statusRaw } }`);

  test('are asked for by the enum, by its text or, as before, by an argument', async () => {
    const [byEnum, byText, before] = await Promise.all(
      ['filter: { status: ACTIVE }', 'filter: { statusRaw: "active" }', 'status: "ACTIVE"'].map(accounts),
    );
    expect(byEnum?.data.labAccounts.length).toBeGreaterThan(0);
    expect([byText, before]).toEqual([byEnum, byEnum]);
  });

  test.each(['filter: { status: ACTIVE }, status: "active"', 'filter: { status: ACTIVE, statusRaw: "x" }'])(
    'are not asked for in two ways: %s',
    async (given) => {
      expect((await accounts(given)).errors?.[0].extensions.code).toBe('BAD_USER_INPUT');
    },
  );
});

test('the scopes of a caller are the texts that its token names', async () => {
  const userId = lab.sandbox.users()[0]?.userId ?? '';
  const token = await lab.tokenFor(userId, { scopes: ['read:orders', 'read:health'] });
  expect((await lab.query('{ viewer { scopes } }', { token })).data.viewer.scopes).toEqual([
    'read:orders',
    'read:health',
  ]);
});

describe('a mutation that had arguments of its own', () => {
  const forms = [
    ['cancelOrder', 'NotFound', 'id: $id', 'input: { id: $id }'],
    ['simulateOrder', 'NotFound', 'id: $id, delaySeconds: 1', 'input: { id: $id, delaySeconds: 1 }'],
    ['deleteUser', 'NotFound', 'id: $id', 'input: { id: $id }'],
    ['undoUserDeletion', 'NotFound', 'by: { id: $id }', 'input: { by: { id: $id } }'],
  ] as const;
  const call = (name: string, given: string) => {
    const query = `mutation ($id: ID!) {
      result: ${name}(${given}) { __typename ... on InputRejected { issues { path code } } }
    }`;
    return lab.query(given.includes('$id') ? query : query.replace('($id: ID!)', ''), {
      variables: { id: crypto.randomUUID() },
    });
  };

  test.each(forms)('%s takes them or an input, and exactly one of both', async (name, word, older, input) => {
    const both = [older, input].join(', ');
    const [first, second, ...refused] = await Promise.all(
      [older, input, both, 'input: null'].map((given) => call(name, given)),
    );
    expect([first?.data.result, second?.data.result]).toEqual([{ __typename: word }, { __typename: word }]);
    expect(refused.map(({ data }) => data.result)).toEqual(
      ['CONFLICT', 'REQUIRED'].map((code) => ({
        __typename: 'InputRejected',
        issues: [{ path: [], code }],
      })),
    );
  });
});
