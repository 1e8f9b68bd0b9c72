import { expect, test } from 'vitest';
import { measure } from '../../sandbox/results/measure.ts';
import { biomarkers } from '../../sandbox/world/biomarkers.ts';
import { patient } from '../contract/people.ts';
import { apiKey, at, type OpenSandbox, openSandbox } from './support.ts';

interface Result {
  readonly name: string;
  readonly result: string;
  readonly type: string;
  readonly value: number;
  readonly unit: string | null;
  readonly reference_range: string | null;
  readonly min_range_value: number | null;
  readonly max_range_value: number | null;
  readonly is_above_max_range: boolean;
  readonly is_below_min_range: boolean;
  readonly interpretation: string;
  readonly loinc: string;
  readonly source_interpretation: string;
  readonly source_markers: readonly { readonly marker_id: number; readonly name: string }[];
}

interface Results {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly results: readonly Result[];
  readonly missing_results: readonly { readonly inferred_failure_type: string }[] | null;
  readonly sample_information: Readonly<Record<string, unknown>>;
}

const read = (service: OpenSandbox, orderId: string) =>
  service.ask<Results>('GET', `/v3/order/${orderId}/result`);

async function readPdf({ sandbox }: OpenSandbox, path: string) {
  const request = new Request(`http://sandbox.test${path}`, { headers: { 'x-service-api-key': apiKey } });
  const answer = await sandbox.fetch(request);
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

test('A completed order has one result for each marker of its lab test, with unit, range and LOINC code', async () => {
  await using service = openSandbox();
  const { orderId } = at(service.sandbox.orders(), 0);
  const { status, body } = await read(service, orderId);
  expect(status).toBe(200);
  expect(body.metadata).toMatchObject({
    patient: 'Avery Lindholm',
    dob: '1988-04-12',
    age: '37',
    status: 'final',
    interpretation: 'abnormal',
    laboratory: 'Example Diagnostics (invented)',
  });
  expect(body.results.map(({ name }) => name)).toEqual([
    'Hemoglobin A1c',
    'Cholesterol, Total',
    'HDL Cholesterol',
    'LDL Cholesterol, Calculated',
    'Triglycerides',
    'Cholesterol/HDL Ratio',
    'VLDL Cholesterol, Calculated',
    'C-Reactive Protein, High Sensitivity',
  ]);
  expect(at(body.results, 0)).toMatchObject({
    unit: '%',
    type: 'numeric',
    reference_range: '<5.7',
    min_range_value: null,
    max_range_value: 5.6,
    is_above_max_range: true,
    interpretation: 'abnormal',
    source_interpretation: 'H',
    loinc: '4548-4',
    source_markers: [{ marker_id: 27001, name: 'Hemoglobin A1c' }],
  });
  expect(body.missing_results).toEqual([]);
});

test('Every value of every order lies to its range as its interpretation says, and is the same each time', async () => {
  await using service = openSandbox();
  const seen = new Set<string>();
  for (const { orderId } of service.sandbox.orders()) {
    const answer = await read(service, orderId);
    if (answer.status === 404) continue;
    expect(await read(service, orderId)).toEqual(answer);
    for (const result of answer.body.results.filter(({ type }) => type === 'numeric')) {
      const { value, min_range_value: min, max_range_value: max } = result;
      expect(Number(result.result)).toBe(value);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(result.is_above_max_range).toBe(max !== null && value > max);
      expect(result.is_below_min_range).toBe(min !== null && value < min);
      const isInside = !result.is_above_max_range && !result.is_below_min_range;
      expect([result.name, isInside]).toEqual([result.name, result.interpretation === 'normal']);
      seen.add(result.interpretation);
    }
  }
  expect(seen).toEqual(new Set(['normal', 'abnormal', 'critical']));
});

test('A check-up has panels, and results that are words, bounds and remarks, some of them without a range', async () => {
  await using service = openSandbox();
  const [order] = service.sandbox.orders().filter(({ status }) => status.endsWith('.corrected'));
  const { body } = await read(service, order?.orderId ?? '');
  const written = body.results
    .filter(({ type }) => type !== 'numeric')
    .map((each) => [each.name, each.type, each.result, each.reference_range, each.source_interpretation]);

  expect(written).toEqual([
    ['Glomerular Filtration Rate, Estimated', 'range', '>90', '>59', 'N'],
    ['Urine Protein', 'coded_value', 'Negative', 'Negative', 'N'],
    ['Urine Nitrite', 'coded_value', 'Positive', 'Negative', 'A'],
    ['Urine Color', 'coded_value', 'Yellow', null, 'N'],
    ['Remark', 'comment', 'No cells were seen under the microscope.', null, ''],
  ]);
  expect(new Set(body.results.flatMap((each) => each.source_markers.map(({ name }) => name)))).toEqual(
    new Set([
      'Thyroid Stimulating Hormone',
      'Vitamin D3, 25-Hydroxy',
      'Ferritin',
      'Lipid Panel',
      'Complete Blood Count',
      'Kidney Function',
      'Urinalysis',
    ]),
  );
});

test('Some completed orders lack results and say why; partial ones say nothing yet of what is to come', async () => {
  await using service = openSandbox();
  const complete = await read(service, at(service.sandbox.orders(), 1).orderId);
  expect(complete.body.results).toHaveLength(26);
  expect(complete.body.missing_results).toMatchObject([
    {
      inferred_failure_type: 'quantity_not_sufficient_failure',
      note: 'The sample was too small for this test.',
    },
    { inferred_failure_type: 'patient_condition_failure' },
  ]);
  const partial = service.sandbox
    .orders()
    .find(({ status }) => status.endsWith('walk_in_test.partial_results'));
  expect((await read(service, partial?.orderId ?? '')).body).toMatchObject({
    metadata: { status: 'partial' },
    missing_results: null,
  });
});

test('An order says whether results are missing, once there are final ones', async () => {
  await using service = openSandbox();
  const seen = new Set<unknown>();
  for (const { orderId } of service.sandbox.orders()) {
    const missing = (await read(service, orderId)).body.missing_results ?? null;
    const order = await service.ask<{ has_missing_results: unknown }>('GET', `/v3/order/${orderId}`);
    const expected = missing === null ? null : missing.length > 0;
    expect(order.body.has_missing_results).toBe(expected);
    seen.add(expected);
  }
  expect(seen).toEqual(new Set([null, true, false]));
});

/** A walk-in order of a single marker. */
const oneMarker = {
  order_set: { add_on: { marker_ids: [27_001] } },
  collection_method: 'walk_in_test',
  ...patient,
};

test.each([true, false])(
  'The result of a single marker is missing if the simulation says so: %s',
  async (isMissing) => {
    await using service = openSandbox();
    const { body } = await service.ask<{ order: { id: string } }>('POST', '/v3/order', {
      user_id: at(service.sandbox.users(), 0).userId,
      ...oneMarker,
    });
    const path = `/v3/order/${body.order.id}`;
    const flags = { has_missing_results: isMissing };
    await service.ask('POST', `${path}/test?final_status=completed.walk_in_test.completed`, flags);
    expect((await service.ask('GET', path)).body).toMatchObject(flags);
    expect((await read(service, body.order.id)).body.missing_results).toHaveLength(isMissing ? 1 : 0);
  },
);

test('The metadata alone equals the metadata in the results', async () => {
  await using service = openSandbox();
  const { orderId } = at(service.sandbox.orders(), 0);
  const { body } = await service.ask('GET', `/v3/order/${orderId}/result/metadata`);
  expect(body).toEqual((await read(service, orderId)).body.metadata);
});

test('Results and requisition are PDF files', async () => {
  await using service = openSandbox();
  const { orderId } = at(service.sandbox.orders(), 0);
  for (const path of [`/v3/order/${orderId}/result/pdf`, `/v3/order/${orderId}/requisition/pdf`]) {
    const pdf = await readPdf(service, path);
    expect([pdf.status, pdf.type]).toEqual([200, 'application/pdf']);
    expect(pdf.text).toMatch(/^%PDF-1\.4\n[\s\S]*startxref\n\d+\n%%EOF\n$/);
    const start = Number(/startxref\n(\d+)/.exec(pdf.text)?.[1]);
    expect(pdf.text.slice(start, start + 4)).toBe('xref');
  }
});

test.each(['/result', '/result/metadata', '/result/pdf', '/requisition/pdf'])(
  'An order that is only placed has no %s, and an unknown one neither',
  async (path) => {
    await using service = openSandbox();
    const fresh = service.sandbox.orders().find(({ status }) => status.endsWith('.ordered'));
    expect((await service.ask('GET', `/v3/order/${fresh?.orderId}${path}`)).status).toBe(404);
    expect((await service.ask('GET', `/v3/order/${crypto.randomUUID()}${path}`)).status).toBe(404);
    expect((await service.ask('GET', `/v3/order/not-a-uuid${path}`)).status).toBe(422);
  },
);

test.each(biomarkers)('An abnormal %s is out of its range and not negative', (_name, loinc) => {
  for (let ordinal = 0; ordinal < 200; ordinal += 1) {
    for (const gender of ['female', 'male']) {
      const measured = measure({ seed: 1, ordinal, loinc, gender, interpretation: 'abnormal' });
      expect(measured.isAbove || measured.isBelow).toBe(true);
      expect(measured.value).toBeGreaterThanOrEqual(0);
    }
  }
});
