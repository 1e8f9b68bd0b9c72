import { expect, test } from 'vitest';
import { gatewayKey, type Lab, startLab } from '../support/lab.ts';
import { subscribeOverSse } from '../support/subscribe.ts';

const readResults = `query ($id: ID!) { order(id: $id) {
  interpretation
  results {
    metadata { statusRaw interpretation patientName age birthDateRaw laboratory cliaNumber specimenNumber collectedAt reportedAt }
    biomarkers {
      name slug value type typeRaw unit referenceRange minRange maxRange isAboveRange isBelowRange
      interpretation interpretationRaw sourceInterpretation loincCode loincSlug providerId notes
      performingLaboratory sampleId reportedAt sourceMarkers { markerId name providerId }
    }
    missing { name reason reasonRaw note loincCode sourceMarkers { markerId } }
    samples { sampleId collectedAt laboratories fasting }
  }
} }`;
const scopes = ['read:orders', 'read:results'];

function orderAt(lab: Lab, index: number) {
  const order = lab.sandbox.orders()[index];
  if (order === undefined) throw new Error('The world has too few orders.');
  return order;
}

async function read(lab: Lab, orderId: string, token?: string) {
  return await lab.query(readResults, {
    variables: { id: orderId },
    ...(token === undefined ? {} : { token }),
  });
}

function answerResults(lab: Lab, body: unknown) {
  const effect = { kind: 'answer', status: 200, body: JSON.stringify(body) } as const;
  lab.sandbox.faults.add({ path: /\/result$/, effect });
}

test('the results of an order come with value, unit, range, interpretation, LOINC code and source markers', async () => {
  await using lab = await startLab();
  const { data, errors } = await read(lab, orderAt(lab, 0).orderId);
  expect(errors).toBeUndefined();
  const { results } = data.order;
  expect(results.metadata).toMatchObject({
    statusRaw: 'final',
    interpretation: 'ABNORMAL',
    patientName: 'Avery Lindholm',
    age: '37',
    birthDateRaw: '1988-04-12',
    cliaNumber: '00D0000000',
  });
  expect(results.biomarkers).toHaveLength(8);
  expect(results.biomarkers[0]).toMatchObject({
    name: 'Hemoglobin A1c',
    value: expect.stringMatching(/^\d\.\d$/),
    type: 'NUMERIC',
    typeRaw: 'numeric',
    unit: '%',
    referenceRange: '<5.7',
    minRange: null,
    maxRange: 5.6,
    isAboveRange: true,
    interpretation: 'ABNORMAL',
    sourceInterpretation: 'H',
    loincCode: '4548-4',
    sourceMarkers: [{ markerId: '27001', name: 'Hemoglobin A1c' }],
  });
  expect(results.missing).toEqual([]);
  expect(results.samples).toMatchObject([
    { laboratories: ['Example Diagnostics (invented)'], fasting: false },
  ]);
});

test('missing results come with their reasons', async () => {
  await using lab = await startLab();
  const { data } = await read(lab, orderAt(lab, 1).orderId);
  expect(data.order.results.missing).toMatchObject([
    { reason: 'QUANTITY_NOT_SUFFICIENT_FAILURE', note: 'The sample was too small for this test.' },
    { reason: 'PATIENT_CONDITION_FAILURE', reasonRaw: 'patient_condition_failure' },
  ]);
});

test('before results there are none, and nothing is an error', async () => {
  await using lab = await startLab();
  const { data, errors } = await lab.query(
    '{ orders(first: 100) { nodes { id status { stage } results { biomarkers { name } } resultMetadata { statusRaw } } } }',
  );
  expect(errors).toBeUndefined();
  const fresh = data.orders.nodes.filter(
    (order: { status: { stage: string } }) => order.status.stage === 'RECEIVED',
  );
  expect(fresh.length).toBeGreaterThan(5);
  expect(new Set(fresh.map((order: { results: unknown }) => order.results))).toEqual(new Set([null]));
  expect(new Set(fresh.map((order: { resultMetadata: unknown }) => order.resultMetadata))).toEqual(
    new Set([null]),
  );
});

test('the head of the results is to be had without the values', async () => {
  await using lab = await startLab();
  const { orderId } = orderAt(lab, 0);
  lab.sandbox.clearCalls();
  const { data } = await lab.query(`{ order(id: "${orderId}") { resultMetadata { statusRaw age } } }`);
  expect(data.order.resultMetadata).toEqual({ statusRaw: 'final', age: '37' });
  expect(lab.sandbox.calls).toEqual([`GET /v3/order/${orderId}`, `GET /v3/order/${orderId}/result/metadata`]);
});

test('unknown values and missing fields of one result leave it and its neighbours readable', async () => {
  await using lab = await startLab();
  const known = { name: 'Glucose', result: '90', type: 'numeric', interpretation: 'normal' };
  answerResults(lab, {
    metadata: {
      age: 37,
      clia_number: 'C1',
      date_collected: '18/08/2025',
      status: 7,
      interpretation: 'strange',
    },
    results: [
      known,
      { type: 'hologram', interpretation: 'cosmic', min_range_value: 'low', source_markers: 'none' },
      'not a result',
      { ...known, result: undefined, value: 4.2, source_markers: [null, { marker_id: 'x', name: 'M' }] },
      { ...known, result: undefined, value: -1 },
    ],
    missing_results: [{ name: 'Iron', inferred_failure_type: 'eaten_by_dog' }, 3],
    sample_information: {
      one: null,
      two: { date_collected: { timestamp: '2025-06-02T13:00:00Z', timezone_offset: 0 } },
    },
  });
  const { data, errors } = await read(lab, orderAt(lab, 0).orderId);
  expect(errors).toBeUndefined();
  const { metadata, biomarkers, missing, samples } = data.order.results;
  expect(metadata).toMatchObject({
    age: '37',
    cliaNumber: 'C1',
    collectedAt: null,
    statusRaw: null,
    interpretation: null,
  });
  expect(
    biomarkers.map((row: Record<string, unknown>) => [row.name, row.value, row.type, row.interpretationRaw]),
  ).toEqual([
    ['Glucose', '90', 'NUMERIC', 'normal'],
    [null, null, null, 'cosmic'],
    ['Glucose', '4.2', 'NUMERIC', 'normal'],
    ['Glucose', null, 'NUMERIC', 'normal'],
  ]);
  expect(biomarkers[2].sourceMarkers).toEqual([{ markerId: null, name: 'M', providerId: null }]);
  expect(missing).toMatchObject([{ name: 'Iron', reason: null, reasonRaw: 'eaten_by_dog' }]);
  expect(samples).toMatchObject([
    { collectedAt: '2025-06-02T13:00:00.000Z', laboratories: [], fasting: null },
  ]);
});

test.each([[{ results: { a: 1 } }], [{}], [[]], [null]])(
  'an answer like %j crashes nothing',
  async (body) => {
    await using lab = await startLab();
    answerResults(lab, body);
    const { data } = await read(lab, orderAt(lab, 0).orderId);
    expect(data.order.results?.biomarkers ?? []).toEqual([]);
  },
);

test('a fault of the service takes the results away and leaves the order', async () => {
  await using lab = await startLab();
  lab.sandbox.faults.add({ path: /\/result$/, effect: { kind: 'serverError' } });
  const { data, errors } = await read(lab, orderAt(lab, 0).orderId);
  expect(data.order).toEqual({ interpretation: 'ABNORMAL', results: null });
  expect(errors?.[0].extensions.code).toBe('UPSTREAM_UNAVAILABLE');
});

test('a viewer reads the results of its own orders with the scope read:results, and nobody else’s', async () => {
  await using lab = await startLab();
  const own = orderAt(lab, 0);
  const other = lab.sandbox.orders().find(({ userId }) => userId !== own.userId);
  const token = await lab.tokenFor(own.userId, { scopes });
  expect((await read(lab, own.orderId, token)).data.order.results.biomarkers).toHaveLength(8);
  lab.sandbox.clearCalls();
  const foreign = await read(lab, other?.orderId ?? '', token);
  expect(foreign).toEqual(await read(lab, crypto.randomUUID(), token));
  expect(lab.sandbox.calls.filter((call) => call.endsWith('/result'))).toEqual([]);

  const narrow = await read(lab, own.orderId, await lab.tokenFor(own.userId));
  expect(narrow.data.order.results).toBeNull();
  expect(narrow.errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } });
  expect(narrow.errors?.[0].message).toContain('read:results');
});

test('a critical result is an event of its own, without values', async () => {
  await using lab = await startLab();
  const order = lab.sandbox
    .orders()
    .find(({ status }) => status === 'sample_with_lab.at_home_phlebotomy.partial_results');
  const events = await subscribeOverSse({
    url: lab.url,
    token: gatewayKey,
    query: `subscription { events(types: ["labtest.result.critical"]) { __typename type userId
      ... on ResultCritical { orderId interpretation interpretationRaw statusRaw createdAt updatedAt order { id interpretation } } } }`,
  });
  await fetch(
    `${lab.serviceUrl}/v3/order/${order?.orderId}/test?final_status=completed.at_home_phlebotomy.completed`,
    {
      method: 'POST',
      headers: { 'x-service-api-key': 'canary-service-key-4f1d9a', 'content-type': 'application/json' },
      body: JSON.stringify({ interpretation: 'critical' }),
    },
  );
  expect((await events.next())?.data.events).toEqual({
    __typename: 'ResultCritical',
    type: 'labtest.result.critical',
    userId: order?.userId,
    orderId: order?.orderId,
    interpretation: 'CRITICAL',
    interpretationRaw: 'critical',
    statusRaw: 'final',
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
    order: { id: order?.orderId, interpretation: 'CRITICAL' },
  });
  await events.close();
});
