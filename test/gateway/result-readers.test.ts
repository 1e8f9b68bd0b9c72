import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLabReport, versionOfLabReport } from '../../gateway/domain/lab-report/rest.ts';
import { readCriticalResult, readOrderResults } from '../../gateway/domain/result/rest.ts';
import { readNoting } from '../../gateway/service/unreadable.ts';

const anything = fc.jsonValue({ maxDepth: 3 });
/** An object with some of the service's keys, each with anything at all under it. */
const withKeys = (keys: readonly string[], value: fc.Arbitrary<unknown> = anything) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });

const result = withKeys([
  'name',
  'result',
  'value',
  'type',
  'unit',
  'timestamp',
  'reference_range',
  'source_markers',
]);
const results = fc.record(
  {
    metadata: fc.oneof(anything, withKeys(['age', 'dob', 'clia_#', 'date_collected', 'status'])),
    results: fc.oneof(anything, fc.array(fc.oneof(anything, result))),
    missing_results: fc.oneof(
      anything,
      fc.array(fc.oneof(anything, withKeys(['name', 'inferred_failure_type']))),
    ),
    sample_information: fc.oneof(
      anything,
      fc.dictionary(fc.string(), fc.oneof(anything, withKeys(['performing_laboratories', 'date_received']))),
    ),
  },
  { requiredKeys: [] },
);

test('results of any shape are read, and each row that is an object is a result', () => {
  fc.assert(
    fc.property(results, (json) => {
      const rows = Array.isArray(json.results) ? json.results : [];
      const objects = rows.filter((row) => typeof row === 'object' && row !== null && !Array.isArray(row));
      expect(readOrderResults(json).results).toHaveLength(objects.length);
    }),
  );
});

test.each([
  ['its number', { first: { sample_id: 'S1', control_number: 'C1' } }],
  ['its key, where it has no number', { S1: { control_number: 'C1' }, S2: {} }],
  ['its key, where its number is null', { S1: { sample_id: null, control_number: 'C1' } }],
])('a result finds its sample by %s', (_name, sample_information) => {
  const { results } = readOrderResults({
    results: [{ name: 'Iron', source_sample_id: 'S1' }, { name: 'Zinc' }],
    sample_information,
  });
  expect(results.map(({ sample }) => sample?.controlNumber)).toEqual(['C1', undefined]);
});

const row = withKeys(['test_name', 'value', 'type', 'loinc_matches', 'interpretation', 'sample_type']);
const report = fc.record(
  {
    status: anything,
    data: fc.oneof(
      anything,
      fc.record(
        { metadata: anything, results: fc.oneof(anything, fc.array(fc.oneof(anything, row))) },
        { requiredKeys: [] },
      ),
    ),
    needs_human_review: anything,
    is_reviewed: anything,
  },
  { requiredKeys: [] },
);

test('a report of any shape with an id is read and has a version', () => {
  fc.assert(
    fc.property(report, (json) => {
      const payload = { ...json, id: 'a-report' };
      expect(readLabReport(payload, 'a-user')).toMatchObject({ id: 'a-report', userId: 'a-user' });
      expect(versionOfLabReport('lab_report.parsing_job.updated', payload)?.version).toBeGreaterThan(0);
    }),
    { examples: [[{ status: 'valueOf' }], [{ status: '__proto__' }]] },
  );
});

test('reading a webhook of any shape never throws', () => {
  fc.assert(
    fc.property(anything, (payload) => {
      readLabReport(payload, null);
      readCriticalResult(payload);
      versionOfLabReport('lab_report.parsing_job.created', payload);
    }),
  );
});

test.each([
  [{ status: 'upload_pending' }, 1],
  [{ status: 'started' }, 2],
  [{ status: 'a new one' }, 3],
  [{ status: 'pending_review' }, 3],
  [{ status: 'completed', is_reviewed: false }, 4],
  [{ status: 'failed' }, 4],
  [{ status: 'completed', is_reviewed: true }, 8],
])('a job that is %j has version %d', (payload, version) => {
  expect(versionOfLabReport('lab_report.parsing_job.updated', { id: 'J', ...payload })).toEqual({
    id: 'j',
    version,
    userId: null,
  });
});

test('other events are no versions of a report', () => {
  expect(versionOfLabReport('labtest.order.updated', { id: 'j', status: 'started' })).toBeNull();
});

test('what cannot be read of samples and their laboratories is counted by its place, and once', () => {
  const counts: Record<string, number> = {};
  const json = {
    sample_information: {
      S1: { performing_laboratories: { a: { name: 'A' }, b: 'B', c: { name: 3 } } },
      S2: null,
    },
  };
  const { samples } = readNoting(readOrderResults, json, (path, rows) => {
    counts[path] = rows;
  });
  expect(samples.map(({ laboratories }) => laboratories)).toEqual([
    [expect.objectContaining({ code: 'a', name: 'A' }), expect.objectContaining({ code: 'c', name: null })],
  ]);
  expect(counts).toEqual({
    '$.sample_information.*': 1,
    '$.sample_information.*.performing_laboratories.*': 1,
  });
});
