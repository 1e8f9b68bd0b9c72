import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Lab, readAnew, serviceKey, startLab } from '../support/lab.ts';
import { spoil } from '../support/spoil.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ env: readAnew });
});
afterAll(() => lab[Symbol.asyncDispose]());

async function metric(name: string, on: Lab = lab): Promise<readonly string[]> {
  const text = await (await on.gateway.fetch(new Request(`${on.url}/metrics`))).text();
  return text.split('\n').filter((line) => line.startsWith(`${name}{`));
}

/** What the sandbox answers now, to be spoiled. */
async function answerOf(path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(lab.serviceUrl + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': serviceKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return await answer.json();
}

function answerWith(path: string | RegExp, body: string, on: Lab = lab): void {
  on.sandbox.faults.clear();
  on.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body } });
}

const order = `{ id userId status { raw stage step method label } events { id createdAt status { stage step } statusDetail }
  lastEvent { id } method methodRaw interpretation interpretationRaw origin originRaw labTest { id name method status }
  patient { firstName dob } patientAddress { country } shippingAddress { zip } shipment { notes } createdAt updatedAt }`;
const lists = [
  {
    name: 'users',
    path: '/v2/user/',
    query:
      '{ users(first: 3) { totalCount pageInfo { hasNextPage endCursor } nodes { id teamId clientUserId connectedSources { source { slug logo } createdAt } createdAt } } }',
  },
  {
    name: 'orders',
    path: '/orders',
    query: `{ orders(first: 3) { totalCount pageInfo { hasNextPage endCursor } nodes ${order} } }`,
  },
  {
    name: 'labTests',
    path: '/v3/lab_test',
    query:
      '{ labTests(first: 3) { pageInfo { hasNextPage } nodes { id name method methodRaw status statusRaw lab { slug collectionMethods } } } }',
  },
  {
    name: 'markers',
    path: '/v3/lab_tests/markers',
    query:
      '{ markers(first: 3) { nodes { id name type typeRaw price expectedResults { id name loinc { code name } } } } }',
  },
  { name: 'labs', path: '/v3/lab_tests/labs', query: '{ labs { id slug name collectionMethods logoUrl } }' },
  {
    name: 'labAccounts',
    path: '/v3/lab_test/lab_account',
    query: '{ labAccounts { id status statusRaw delegatedFlow delegatedFlowRaw } }',
  },
];

test.each(lists)(
  '$name in any shape: no internal error, and a list that came is never null',
  async ({ name, path, query }) => {
    lab.sandbox.faults.clear();
    const seed = await answerOf(path);
    await fc.assert(
      fc.asyncProperty(spoil(seed), async (spoiled) => {
        answerWith(path, JSON.stringify(spoiled));
        const { data, errors = [] } = await lab.query(query);
        const codes = errors.map(({ extensions }) => extensions.code);
        expect(codes.filter((code) => code !== 'UPSTREAM_UNREADABLE')).toEqual([]);
        if (codes.length === 0) expect(data[name].nodes ?? data[name]).toBeInstanceOf(Array);
      }),
      { numRuns: 40 },
    );
  },
);

test('an answer that is nested without end is unreadable, even where it is carried as data', async () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  for (const body of [deep, `{"orders":${deep}}`, `{"orders":[{"id":1,"brand_new":${deep}}]}`]) {
    answerWith('/orders', body);
    expect(await codesOf('{ orders(first: 3) { nodes { id } } }')).toEqual(['UPSTREAM_UNREADABLE']);
  }
  answerWith(
    '/v3/order/psc/info',
    `{"patient_service_centers":[{"site_code":"A","metadata":{"hours":{"mon":${deep}}}}]}`,
  );
  expect(await codesOf('{ serviceCenters(zipCode: "85004", labId: 6) { hours } }')).toEqual([
    'UPSTREAM_UNREADABLE',
  ]);
  lab.sandbox.faults.clear();
  expect(await codesOf('{ orders(first: 1) { nodes { id } } }')).toEqual([]);
});

async function codesOf(query: string): Promise<readonly string[]> {
  const { errors = [] } = await lab.query(query);
  return errors.map(({ extensions }) => extensions.code);
}

test('values that the graph does not know are counted once per operation, and identify no user', async () => {
  await using own = await startLab({ env: readAnew });
  const [user] = own.sandbox.users();
  own.sandbox.faults.add({
    path: '/orders',
    effect: { kind: 'unknownStatus', status: 'resting.testkit.on_the_moon' },
  });
  expect(
    (await own.query('{ orders(first: 20) { nodes { status { stage step } } } }')).errors,
  ).toBeUndefined();
  const counted = await metric('unknown_enum_total', own);
  expect(counted).toContain('unknown_enum_total{field="OrderStatus.stage",value="resting"} 1');
  expect(counted).toContain('unknown_enum_total{field="OrderStatus.step",value="on_the_moon"} 1');

  const rows = [
    { id: 1, name: 'a', slug: 'a', type: 'Jane Doe <jane@example.com>' },
    { id: 2, name: 'b', slug: 'b', type: `brand_new_${'x'.repeat(60)}` },
  ];
  answerWith('/v3/lab_tests/markers', JSON.stringify({ markers: rows }), own);
  await own.query('{ markers(first: 5) { nodes { type typeRaw } } }');
  own.sandbox.faults.clear();
  answerWith(/info\/latest/, JSON.stringify({ first_name: 'Ada', race: 'martian' }), own);
  await own.query(`{ user(id: "${user?.userId}") { demographics { race raceRaw } } }`);
  const later = (await metric('unknown_enum_total', own)).filter((line) => !line.includes('OrderStatus'));
  expect(later).toEqual([
    'unknown_enum_total{field="Marker.type",value="other"} 1',
    `unknown_enum_total{field="Marker.type",value="brand_new_${'x'.repeat(30)}"} 1`,
    'unknown_enum_total{field="Demographics.race",value="other"} 1',
  ]);
});

test('of a list the known values are shown, and each unknown one is counted', async () => {
  await using own = await startLab({ env: readAnew });
  const collection_methods = ['testkit', 'by_drone', 'walk-in-test'];
  answerWith('/v3/lab_tests/labs', JSON.stringify([{ id: 1, collection_methods }]), own);

  const { data } = await own.query('{ labs { collectionMethods collectionMethodsRaw } }');

  expect(data).toEqual({
    labs: [{ collectionMethods: ['TESTKIT', 'WALK_IN_TEST'], collectionMethodsRaw: collection_methods }],
  });
  expect(await metric('unknown_enum_total', own)).toEqual([
    'unknown_enum_total{field="Lab.collectionMethods",value="by_drone"} 1',
  ]);
});

test('known values count nothing', async () => {
  await using own = await startLab({ env: readAnew });
  expect(
    (await own.query(`{ orders(first: 100) { nodes ${order} } labs { collectionMethods } }`)).errors,
  ).toBeUndefined();
  expect(await metric('unknown_enum_total', own)).toEqual([]);
  expect(await metric('unreadable_total', own)).toEqual([]);
});

test('`unknown` is not counted as drift where the service declares it as a value', async () => {
  await using own = await startLab({ env: readAnew });
  const [user] = own.sandbox.users();
  const [placed] = own.sandbox.orders();
  const said = { interpretation: 'unknown' };
  const read = { ...said, sample_type: 'unknown', measurement_kind: 'unknown', sensitivity: 'unknown' };
  const faults: readonly (readonly [RegExp, unknown])[] = [
    [
      /^\/v2\/user\/providers\//,
      { providers: [{ slug: 'oura', status: 'error', error_details: { error_type: 'unknown' } }] },
    ],
    [/^\/lab_report/, { id: crypto.randomUUID(), status: 'completed', data: { results: [read] } }],
    [/\/result$/, { metadata: said, results: [said], missing_results: [], sample_information: {} }],
  ];
  for (const [path, body] of faults) {
    own.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
  }

  const { data, errors } = await own.query(`{
    user(id: "${user?.userId}") { connections { error { type typeRaw } } }
    labReport(id: "${crypto.randomUUID()}") {
      results { interpretation interpretationRaw sampleType measurementKind sensitivity }
    }
    order(id: "${placed?.orderId}") { results {
      metadata { interpretation interpretationRaw } biomarkers { interpretation interpretationRaw }
    } }
  }`);

  expect(errors).toBeUndefined();
  const interpreted = { interpretation: null, interpretationRaw: 'unknown' };
  expect(data).toEqual({
    user: { connections: [{ error: { type: 'UNKNOWN', typeRaw: 'unknown' } }] },
    labReport: {
      results: [
        { ...interpreted, sampleType: 'UNKNOWN', measurementKind: 'UNKNOWN', sensitivity: 'UNKNOWN' },
      ],
    },
    order: { results: { metadata: interpreted, biomarkers: [interpreted] } },
  });
  expect(await metric('unknown_enum_total', own)).toEqual([]);
});

test('a refused user, such as one beyond the quota, is no unreadable answer', async () => {
  await using own = await startLab({ env: readAnew });
  const detail = { error_type: 'INVALID_REQUEST', error_message: 'The quota of users is used up.' };
  own.sandbox.faults.add({
    path: /^\/v2\/user\/?$/,
    effect: { kind: 'answer', status: 400, body: JSON.stringify({ detail }) },
  });

  const { data, errors } = await own.query(
    'mutation { createUser(input: { clientUserId: "one-too-many" }) { __typename ... on UserError { code } } }',
  );

  expect(errors).toBeUndefined();
  expect(data.createUser).toEqual({ __typename: 'InputRejected', code: 'INPUT_REJECTED' });
  expect(await metric('unreadable_total', own)).toEqual([]);
});

test('rows left out and answers refused are counted by their place, once per answer', async () => {
  await using own = await startLab({ env: readAnew });
  answerWith('/orders', JSON.stringify({ orders: [null, { id: 3 }, { secret: 'Ada' }] }), own);
  // Two fields that share one read.
  await own.query('{ a: orders(first: 3) { nodes { id } } b: orders(first: 3) { nodes { id } } }');
  answerWith('/v3/lab_tests/markers', '{"rows": []}', own);
  await own.query('{ markers(first: 3) { nodes { id } } }');
  answerWith('/v3/lab_tests/labs', '[{"slug": "a"}]', own);
  await own.query('{ labs { id } }');
  expect(await metric('unreadable_total', own)).toEqual([
    'unreadable_total{operation="order.list",path="$.orders.*"} 3',
    'unreadable_total{operation="marker.list",path="$.markers"} 1',
    'unreadable_total{operation="lab.list",path="$.*"} 1',
  ]);
});

test('a flood of new values is counted under 200 labels and one more', async () => {
  await using own = await startLab({ env: readAnew });
  const markers = Array.from({ length: 250 }, (_, index) => ({
    id: index + 1,
    name: 'm',
    slug: 'm',
    type: `new_${index}`,
  }));
  answerWith('/v3/lab_tests/markers', JSON.stringify({ markers }), own);
  for (let start = 0; start < 250; start += 100) {
    answerWith('/v3/lab_tests/markers', JSON.stringify({ markers: markers.slice(start, start + 100) }), own);
    await own.query('{ markers(first: 100) { nodes { type } } }');
  }
  const counted = await metric('unknown_enum_total', own);
  expect(counted).toHaveLength(201);
  expect(counted).toContain('unknown_enum_total{field="Marker.type",value="other"} 50');
});
