import { expect, test } from 'vitest';
import { type Lab, readAnew, startLab } from '../support/lab.ts';

const catalogue = '/v3/lab_tests/markers';
const catalogueCalls = (lab: Lab) => lab.sandbox.calls.filter((call) => call.includes(catalogue));

function answerWith(lab: Lab, body: unknown, path: string | RegExp = catalogue) {
  lab.sandbox.faults.add({ path, effect: { kind: 'answer', status: 200, body: JSON.stringify(body) } });
}

test('a marker shows what the lab asks when it is ordered, in the order of asking', async () => {
  await using lab = await startLab();
  const answer = await lab.query(`{ markers(name: "Insulin") { nodes { name questions {
    id code text isRequired type typeRaw sequence constraint defaultAnswer answers { id code value } } } } }`);
  expect(answer.data.markers.nodes).toEqual([
    {
      name: 'Insulin',
      questions: [
        {
          id: '270590',
          code: 'FASTING',
          text: 'Has the patient fasted for eight hours or more?',
          isRequired: true,
          type: 'CHOICE',
          typeRaw: 'choice',
          sequence: 1,
          constraint: null,
          defaultAnswer: null,
          answers: [
            { id: '2705900', code: 'Y', value: 'Yes' },
            { id: '2705901', code: 'N', value: 'No' },
          ],
        },
        {
          id: '270591',
          code: 'HOURS_SINCE_MEAL',
          text: 'How many hours have passed since the last meal?',
          isRequired: false,
          type: 'NUMERIC',
          typeRaw: 'numeric',
          sequence: 2,
          constraint: '^[0-9]{1,2}$',
          defaultAnswer: '0',
          answers: [],
        },
      ],
    },
  ]);
});

test('a marker without questions, or with questions that cannot be read, keeps its place', async () => {
  await using lab = await startLab();
  const drawing = { id: 9, type: 'drawing', sequence: 'first', answers: [{ code: 'no id' }, null] };
  answerWith(lab, {
    markers: [
      { id: 1, aoe: null },
      { id: 2, aoe: 'later' },
      { id: 3, aoe: { questions: [drawing, { code: 'no id' }, 5] } },
      { id: 4 },
    ],
  });
  const answer = await lab.query(
    '{ markers { nodes { id questions { id type typeRaw sequence isRequired answers { id } } } } }',
  );
  expect(answer.data.markers.nodes).toEqual([
    { id: '1', questions: [] },
    { id: '2', questions: [] },
    {
      id: '3',
      questions: [{ id: '9', type: null, typeRaw: 'drawing', sequence: null, isRequired: null, answers: [] }],
    },
    { id: '4', questions: [] },
  ]);
});

const sameLoinc = `query ($first: Int, $after: String) { markers(name: "Glucose", labSlug: "specimen-labs") { nodes {
  expectedResults { loinc { code markers(first: $first, after: $after) {
    totalCount nodes { id labId name } pageInfo { hasNextPage hasPreviousPage endCursor } } } } } } }`;

async function sameAsGlucose(lab: Lab, variables: Readonly<Record<string, unknown>> = {}) {
  const answer = await lab.query(sameLoinc, { variables });
  return answer.data.markers.nodes[0].expectedResults[0].loinc.markers;
}

test('a LOINC code leads to the markers that measure it at every lab, panels too', async () => {
  await using lab = await startLab();
  expect(await sameAsGlucose(lab)).toEqual({
    totalCount: 3,
    nodes: [
      { id: '1', labId: 6, name: 'Glucose' },
      { id: '27000', labId: 27, name: 'Glucose' },
      { id: '27902', labId: 27, name: 'Comprehensive Metabolic Panel' },
    ],
    pageInfo: { hasNextPage: false, hasPreviousPage: false, endCursor: expect.any(String) },
  });
});

test('markers of one LOINC code are paged like every list', async () => {
  await using lab = await startLab();
  const first = await sameAsGlucose(lab, { first: 1 });
  const rest = await sameAsGlucose(lab, { first: 100, after: first.pageInfo.endCursor });
  const end = await sameAsGlucose(lab, { first: 100, after: rest.pageInfo.endCursor });
  expect([first, rest, end].map(({ nodes }) => nodes.length)).toEqual([1, 2, 0]);
  expect([first, rest, end].map(({ pageInfo }) => pageInfo.hasNextPage)).toEqual([true, false, false]);
  const other = await lab.query('{ markers { pageInfo { endCursor } } }');
  const refused = await lab.query(sameLoinc, {
    variables: { after: other.data.markers.pageInfo.endCursor },
  });
  expect(refused.errors?.[0]?.extensions.code).toBe('BAD_CURSOR');
});

test('all LOINC codes of an operation share one walk through the catalogue', async () => {
  await using lab = await startLab();
  const answer = await lab.query(
    '{ markers(first: 50) { nodes { expectedResults { loinc { markers(first: 5) { totalCount } } } } } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(catalogueCalls(lab)).toEqual([
    'GET /v3/lab_tests/markers?page=1&size=50',
    'GET /v3/lab_tests/markers?page=1&size=100',
  ]);
});

const glucose = { id: 1, name: 'Glucose', expected_results: [{ id: 2, loinc: { id: 3, code: '2345-7' } }] };

test('a catalogue that is too long to be read is read in part, and no total is claimed', async () => {
  await using lab = await startLab();
  answerWith(lab, { markers: [glucose], pages: 50, total: 5000 }, /size=100/);
  expect(await sameAsGlucose(lab)).toMatchObject({ totalCount: null, nodes: [{ id: '1' }] });
  expect(catalogueCalls(lab).filter((call) => call.endsWith('size=100'))).toHaveLength(20);
});

test('a catalogue that never names its pages is read until a page is not full', async () => {
  await using lab = await startLab();
  const full = Array.from({ length: 100 }, (_, index) => ({ ...glucose, id: 100 + index }));
  answerWith(lab, { markers: full }, /page=1&size=100/);
  answerWith(lab, { markers: [glucose] }, /page=2&size=100/);
  expect(await sameAsGlucose(lab)).toMatchObject({ totalCount: 101 });
  expect(catalogueCalls(lab).filter((call) => call.endsWith('size=100'))).toHaveLength(2);
});

test.each([
  ['markers', (args: string) => `markers(${args})`, catalogue],
  [
    'orderSetMarkers',
    (args: string) => `orderSetMarkers(labTestIds: ["00000000-0000-4000-8000-000000000001"], ${args})`,
    '/v3/lab_tests/list_order_set_markers',
  ],
])(
  '%s whose total counts the page only, without pages, are read to their end',
  async (_name, field, path) => {
    await using lab = await startLab();
    const all = Array.from({ length: 130 }, (_, index) => ({ ...glucose, id: 1 + index }));
    for (const page of [1, 2, 3, 4]) {
      const markers = all.slice((page - 1) * 45, page * 45);
      const body = { markers, total: markers.length, page, size: 45 };
      answerWith(lab, body, new RegExp(`^${path}\\?page=${page}&size=45$`));
    }

    const ids: string[] = [];
    const counts: (number | null)[] = [];
    let after: string | null = null;
    do {
      const rest: string = after === null ? '' : `, after: "${after}"`;
      const { data, errors } = await lab.query(
        `{ list: ${field(`first: 45${rest}`)} { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }`,
      );
      expect(errors).toBeUndefined();
      ids.push(...data.list.nodes.map(({ id }: { id: string }) => id));
      counts.push(data.list.totalCount);
      after = data.list.pageInfo.hasNextPage ? data.list.pageInfo.endCursor : null;
    } while (after !== null);

    expect(ids).toEqual(all.map(({ id }) => String(id)));
    expect(counts).toEqual([null, null, 130]);
  },
);

test('a catalogue that is not paged at all is read until it repeats itself', async () => {
  await using lab = await startLab();
  const everything = Array.from({ length: 150 }, (_, index) => ({ ...glucose, id: 100 + index }));
  answerWith(lab, { markers: everything }, /size=100/);
  expect(await sameAsGlucose(lab)).toMatchObject({ totalCount: 150, nodes: { length: 20 } });
  expect(catalogueCalls(lab).filter((call) => call.endsWith('size=100'))).toHaveLength(2);
});

test('a LOINC entry without a code has no markers, and a failing catalogue leaves the rest of the answer', async () => {
  await using lab = await startLab({ env: readAnew });
  answerWith(lab, { markers: [{ id: 1, expected_results: [{ id: 2, loinc: { id: 3 } }] }] }, /name=Glucose/);
  expect(await sameAsGlucose(lab)).toBeNull();
  lab.sandbox.faults.clear();
  lab.sandbox.faults.add({ path: /size=100/, effect: { kind: 'serverError' } });
  const answer = await lab.query(sameLoinc);
  expect(answer.data.markers.nodes[0].expectedResults[0].loinc).toEqual({ code: '2345-7', markers: null });
  expect(answer.errors?.[0]?.extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test('a browser needs the scope of the catalogue for it', async () => {
  await using lab = await startLab();
  const token = await lab.tokenFor(lab.sandbox.users()[0]?.userId ?? '');
  const test = lab.sandbox.labTests()[0]?.labTestId;
  const answer = await lab.query(
    `{ orderSetMarkers(labTestIds: ["${test}"], first: 1) { nodes { expectedResults { loinc { code markers { totalCount } } } } } }`,
    { token },
  );
  expect(answer.data.orderSetMarkers.nodes[0].expectedResults[0].loinc).toMatchObject({ markers: null });
  expect(answer.errors?.[0]?.message).toContain('read:catalogue');
});

test('the catalogue is as it was asked for: labs, lab tests and markers by lab and name', async () => {
  await using lab = await startLab();
  const answer = await lab.query(`{
    labs { slug collectionMethods }
    markers(labSlug: "specimen-labs", name: "gluc") { totalCount nodes { name labId } }
    labTests(first: 1, filter: { method: WALK_IN_TEST, labSlug: "specimen-labs" }) {
      nodes { name status lab { slug } markers(first: 100) { totalCount } } pageInfo { hasNextPage } }
  }`);
  expect(answer.data).toEqual({
    labs: [
      {
        slug: 'specimen-labs',
        collectionMethods: ['WALK_IN_TEST', 'AT_HOME_PHLEBOTOMY', 'ON_SITE_COLLECTION'],
      },
      {
        slug: 'example-diagnostics',
        collectionMethods: ['TESTKIT', 'WALK_IN_TEST', 'AT_HOME_PHLEBOTOMY', 'ON_SITE_COLLECTION'],
      },
    ],
    markers: { totalCount: 1, nodes: [{ name: 'Glucose', labId: 6 }] },
    labTests: {
      nodes: [
        { name: 'Lipid Check', status: 'ACTIVE', lab: { slug: 'specimen-labs' }, markers: { totalCount: 6 } },
      ],
      pageInfo: { hasNextPage: false },
    },
  });
});

test('an order set takes single markers by their ids, or by the codes of the lab', async () => {
  await using lab = await startLab();
  const set = (args: string) =>
    lab.query(`{ orderSetMarkers(first: 10, ${args}) { nodes { id isOrderable } } }`);
  const byId = await set('addOnMarkerIds: ["27003", "27900"]');
  expect(byId.data.orderSetMarkers.nodes).toEqual([
    { id: '27003', isOrderable: true },
    { id: '27900', isOrderable: true },
  ]);
  const test = lab.sandbox.labTests()[0]?.labTestId;
  const beside = await set(`labTestIds: ["${test}"], addOnMarkerIds: ["1"], addOnProviderIds: []`);
  expect(beside.data.orderSetMarkers.nodes.map((marker: { id: string }) => marker.id)).toContain('1');
});

test.each([
  ['both kinds of ids', 'addOnMarkerIds: ["27003"], addOnProviderIds: ["000307"]', 'not both'],
  ['an id that is no number', 'addOnMarkerIds: ["a"]', 'whole number'],
  ['101 ids', `addOnMarkerIds: [${'1,'.repeat(101)}]`, '100 ids'],
  ['101 codes', `addOnProviderIds: [${'"1",'.repeat(101)}]`, '100 ids'],
])('an order set with %s is refused before the service is asked', async (_name, args, message) => {
  await using lab = await startLab();
  const { errors } = await lab.query(`{ orderSetMarkers(${args}) { nodes { id } } }`);
  expect(errors?.[0]).toMatchObject({
    message: expect.stringContaining(message),
    extensions: { code: 'BAD_USER_INPUT' },
  });
});
