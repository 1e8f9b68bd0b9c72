import { expect, test } from 'vitest';
import { biomarkers, findings } from '../../sandbox/world/biomarkers.ts';
import { at, openSandbox } from './support.ts';

interface Marker {
  readonly id: number;
  readonly lab_id: number;
  readonly provider_id: string;
  readonly type: string;
  readonly price: string;
  readonly expected_results: readonly { readonly loinc: { readonly code: string } }[];
}

interface MarkerPage {
  readonly markers: readonly Marker[];
  readonly total: number;
}

const setPath = '/v3/lab_tests/list_order_set_markers';

test('A marker has the fields of the specification, down to the LOINC code', async () => {
  await using service = openSandbox();
  const { status, body } = await service.ask('POST', setPath, { add_on: { provider_ids: ['000307'] } });
  expect(status).toBe(200);
  expect(body).toEqual({
    markers: [
      {
        id: 27001,
        name: 'Hemoglobin A1c',
        slug: 'hemoglobin-a1c',
        description: 'Hemoglobin A1c in serum, plasma or blood.',
        lab_id: 27,
        provider_id: '000307',
        type: 'biomarker',
        unit: '%',
        price: '7.50',
        aoe: null,
        a_la_carte_enabled: true,
        common_tat_days: 2,
        worst_case_tat_days: 5,
        is_orderable: true,
        expected_results: [
          {
            id: 27001,
            name: 'Hemoglobin A1c',
            slug: 'hemoglobin-a1c',
            lab_id: 27,
            provider_id: '000307',
            required: true,
            loinc: { id: 2, name: 'Hemoglobin A1c', slug: 'hemoglobin-a1c', code: '4548-4', unit: '%' },
          },
        ],
      },
    ],
    total: 1,
    page: 1,
    size: 50,
    pages: 1,
  });
});

test('An order set is the union of its lab tests and add-ons, each marker once, by id', async () => {
  await using service = openSandbox();
  const labTests = service.sandbox.labTests();
  const { body } = await service.ask<MarkerPage>('POST', setPath, {
    lab_test_ids: [at(labTests, 3).labTestId, at(labTests, 0).labTestId],
    add_on: { provider_ids: ['000307'], marker_ids: [27010, 27001] },
  });
  expect(body.markers.map((marker) => marker.id)).toEqual([
    3, 4, 5, 6, 7, 8, 27001, 27002, 27003, 27004, 27005, 27006, 27007, 27008, 27010,
  ]);
});

test('Pages of a long order set fit together', async () => {
  await using service = openSandbox();
  const body = { lab_test_ids: [at(service.sandbox.labTests(), 2).labTestId] };
  const whole = await service.ask<MarkerPage>('POST', setPath, body);
  const first = await service.ask<MarkerPage>('POST', `${setPath}?page=1&size=20`, body);
  const second = await service.ask<MarkerPage>('POST', `${setPath}?page=2&size=20`, body);
  const third = await service.ask<MarkerPage>('POST', `${setPath}?page=3&size=20`, body);
  expect(first.body).toMatchObject({ total: 28, page: 1, size: 20, pages: 2 });
  expect([...first.body.markers, ...second.body.markers]).toEqual(whole.body.markers);
  expect(third.body.markers).toEqual([]);
});

test.each([
  ['page=0', 'greater_than_equal', 'page'],
  ['size=0', 'greater_than_equal', 'size'],
  ['size=101', 'less_than_equal', 'size'],
])('Order-set markers refuse %s', async (query, type, name) => {
  await using service = openSandbox();
  const { status, body } = await service.ask('POST', `${setPath}?${query}`, {});
  expect(status).toBe(422);
  expect(body).toMatchObject({ detail: [{ type, loc: ['query', name] }] });
});

test('Sixty biomarkers have sixty different LOINC codes, some of them at both labs', async () => {
  await using service = openSandbox();
  const { body } = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?size=100');
  const biomarkers = body.markers.filter((marker) => marker.type === 'biomarker');
  const codesOf = (labId: number) =>
    biomarkers
      .filter((marker) => marker.lab_id === labId)
      .map((marker) => at(marker.expected_results, 0).loinc.code);
  expect(new Set(codesOf(27)).size).toBe(60);
  expect(codesOf(6).every((code) => codesOf(27).includes(code))).toBe(true);
  expect(codesOf(6)).toHaveLength(16);
  expect(body.markers.filter((marker) => marker.price === 'N/A')).not.toHaveLength(0);
});

/** The check digit of a LOINC code (mod 10, as on payment cards). */
function checkDigitOf(digits: string): number {
  const sum = [...digits].toReversed().reduce((total, digit, position) => {
    const value = Number(digit) * (position % 2 === 0 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return (10 - (sum % 10)) % 10;
}

test('Each LOINC code ends in its right check digit', () => {
  for (const [name, code] of [...biomarkers, ...findings]) {
    const [digits = '', digit] = code.split('-');
    expect([name, checkDigitOf(digits)]).toEqual([name, Number(digit)]);
  }
});

test('Markers are filtered by lab and by name or test code', async () => {
  await using service = openSandbox();
  const ofLab = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?lab_slug=specimen-labs&size=100');
  const byName = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?name=glucose');
  const byCode = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?name=000307');
  const ofNone = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?lab_slug=nowhere');
  expect(new Set(ofLab.body.markers.map((marker) => marker.lab_id))).toEqual(new Set([6]));
  expect(byName.body.markers.map((marker) => marker.id)).toEqual([1, 27000]);
  expect(byCode.body.markers.map((marker) => marker.id)).toEqual([27001]);
  expect(ofNone.body.markers).toEqual([]);
});

test('The lab test list is walked by its cursor and filtered', async () => {
  await using service = openSandbox();
  type Page = { data: { id: string }[]; next_cursor: string | null };
  const first = await service.ask<Page>('GET', '/v3/lab_test?lab_test_limit=5');
  const second = await service.ask<Page>(
    'GET',
    `/v3/lab_test?lab_test_limit=5&next_cursor=${first.body.next_cursor}`,
  );
  const kits = await service.ask<Page>('GET', '/v3/lab_test?collection_method=testkit');
  const damaged = await service.ask('GET', '/v3/lab_test?next_cursor=zzz');
  const ids = service.sandbox.labTests().map((labTest) => labTest.labTestId);
  expect([...first.body.data, ...second.body.data].map((labTest) => labTest.id)).toEqual(ids);
  expect(second.body.next_cursor).toBeNull();
  expect(kits.body.data.map((labTest) => labTest.id)).toEqual(ids.slice(0, 2));
  expect(damaged.status).toBe(422);
});

test('One lab test is shown with its markers, page by page on request', async () => {
  await using service = openSandbox();
  const { labTestId } = at(service.sandbox.labTests(), 7);
  const labTest = await service.ask('GET', `/v3/lab_tests/${labTestId}`);
  const markers = await service.ask<MarkerPage>('GET', `/v3/lab_tests/${labTestId}/markers?page=2&size=3`);
  expect(labTest.body).toMatchObject({
    id: labTestId,
    name: 'Sugar and Inflammation Check',
    method: 'on_site_collection',
    lab: { id: 6, slug: 'specimen-labs' },
    markers: [{ id: 1 }, { id: 2 }, { id: 9 }, { id: 10 }],
  });
  expect(markers.body).toMatchObject({ total: 4, page: 2, size: 3, pages: 2, markers: [{ id: 10 }] });
});

test('Unknown lab tests are 404, malformed ids 422', async () => {
  await using service = openSandbox();
  const unknown = await service.ask('GET', '/v3/lab_tests/00000000-0000-4000-8000-000000000000');
  const malformed = await service.ask('GET', '/v3/lab_tests/zzz');
  expect(unknown).toEqual({ status: 404, body: { detail: 'Lab test does not exist' } });
  expect(malformed).toEqual({
    status: 422,
    body: {
      detail: [
        {
          type: 'uuid_parsing',
          loc: ['path', 'lab_test_id'],
          msg: 'Input should be a valid UUID',
          input: 'zzz',
        },
      ],
    },
  });
});

test('There are two labs', async () => {
  await using service = openSandbox();
  const { body } = await service.ask('GET', '/v3/lab_tests/labs');
  expect(body).toMatchObject([
    { id: 6, slug: 'specimen-labs' },
    { id: 27, slug: 'example-diagnostics' },
  ]);
});

test('The catalogue grows at its end', async () => {
  await using service = openSandbox();
  const labTestId = service.sandbox.growth.addLabTest();
  service.sandbox.growth.addMarker(labTestId);
  const { body } = await service.ask<MarkerPage>('POST', setPath, { lab_test_ids: [labTestId] });
  const all = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?size=100');
  expect(body.markers).toHaveLength(1);
  expect(all.body.markers.at(-1)).toEqual(body.markers[0]);
  expect(service.sandbox.labTests().at(-1)).toMatchObject({ labTestId, method: 'testkit' });
});

test('Markers are found by their labs and by whether they are sold alone', async () => {
  await using service = openSandbox();
  const all = await service.ask<MarkerPage>('GET', '/v3/lab_tests/markers?size=100');
  const idsOf = async (query: string) => {
    const { body } = await service.ask<MarkerPage>('GET', `/v3/lab_tests/markers?size=100&${query}`);
    return body.markers.map(({ id }) => id);
  };
  const where = (isFound: (marker: MarkerPage['markers'][number]) => boolean) =>
    all.body.markers.filter(isFound).map(({ id }) => id);
  expect(await idsOf('lab_id=27')).toEqual(where((marker) => marker.lab_id === 27));
  expect(await idsOf('lab_id=6&lab_id=27')).toEqual(where(() => true));
  expect(await idsOf('lab_id=5')).toEqual([]);
  expect(await idsOf('lab_id=5&lab_slug=specimen-labs')).toEqual(where((marker) => marker.lab_id === 6));
  const alone = await idsOf('a_la_carte_enabled=true');
  const together = await idsOf('a_la_carte_enabled=false');
  expect(alone.length).toBeGreaterThan(0);
  expect(together.length).toBeGreaterThan(0);
  expect([...alone, ...together].toSorted()).toEqual(where(() => true).toSorted());
});

test('Lab tests are found by their markers and sorted by price', async () => {
  await using service = openSandbox();
  interface Page {
    readonly data: readonly {
      readonly id: string;
      readonly price: number;
      readonly markers: readonly { readonly id: number; readonly provider_id: string }[];
    }[];
  }
  const ask = async (query = '') => (await service.ask<Page>('GET', `/v3/lab_test?${query}`)).body.data;
  const all = await ask();
  const [first, second] = at(all, 0).markers;
  const ids = (tests: Page['data']) => tests.map(({ id }) => id);
  const withBoth = all.filter(({ markers }) =>
    [first, second].every((wanted) => markers.some(({ id }) => id === wanted?.id)),
  );
  expect(withBoth.length).toBeGreaterThan(0);
  expect(withBoth.length).toBeLessThan(all.length);
  expect(ids(await ask(`marker_ids=${first?.id}&marker_ids=${second?.id}`))).toEqual(ids(withBoth));
  expect(ids(await ask(`provider_ids=${first?.provider_id}&provider_ids=${second?.provider_id}`))).toEqual(
    ids(withBoth),
  );
  expect(await ask('marker_ids=99999')).toEqual([]);
  const prices = (await ask('order_key=price&order_direction=desc')).map(({ price }) => price);
  expect(prices).toEqual(all.map(({ price }) => price).toSorted((a, b) => b - a));
  expect(ids(await ask('order_key=created_at&order_direction=desc'))).toEqual(ids(all).toReversed());
  for (const query of ['order_key=name', 'order_direction=up', 'marker_ids=x']) {
    expect([query, (await service.ask('GET', `/v3/lab_test?${query}`)).status]).toEqual([query, 422]);
  }
});
