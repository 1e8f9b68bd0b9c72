import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { groupByPanel } from '../../../widget/src/results/panels.ts';
import { MOST_RESULTS, type Results, readResults } from '../../../widget/src/results/results.ts';

const none = { at: null, on: null, raw: null };

function read(order: unknown): Results {
  const results = readResults(order);
  if (!results) throw new Error('There are no results.');
  return results;
}

function readOne(biomarker: object) {
  return read({ results: { biomarkers: [biomarker] } }).details?.biomarkers[0];
}

describe('the results of an answer', () => {
  test('are null before there are any', () => {
    expect(readResults({ id: '1', results: null })).toBeNull();
    expect(readResults(null)).toBeNull();
  });

  test('have only their head where only that was asked for', () => {
    expect(read({ resultMetadata: { statusRaw: 'partial', reportedOn: '2026-01-02' } })).toEqual({
      head: {
        completeness: 'partial',
        isCorrected: false,
        overall: null,
        collected: none,
        reported: { ...none, on: '2026-01-02' },
        provider: null,
      },
      details: null,
    });
  });

  test.each([
    ['final', 'PARTIAL_RESULTS', 'partial', false],
    ['partial', 'COMPLETED', 'partial', false],
    ['Preliminary', null, 'partial', false],
    ['final', 'COMPLETED', 'final', false],
    [null, 'COMPLETED', 'final', false],
    ['final', 'CORRECTED', 'final', true],
    ['amended', 'COMPLETED', 'final', true],
    ['corrected', null, null, true],
    ['corrected', 'PARTIAL_RESULTS', 'partial', true],
    ['amended', 'PARTIAL_RESULTS', 'partial', true],
    ['amended', 'CORRECTED', 'final', true],
    ['final', 'REDRAW_AVAILABLE', null, false],
    ['final', 'DELIVERED_TO_LAB', null, false],
    ['final', 'DRAW_COMPLETED', null, false],
    ['final', 'SAMPLE_ERROR', null, false],
    ['complete', null, null, false],
    ['incomplete', 'COMPLETED', 'partial', false],
    [null, null, null, false],
    ['strange', 'DRAW_COMPLETED', null, false],
  ])(
    'are, with the lab’s word %s at the step %s: %s, corrected %s',
    (statusRaw, step, completeness, isCorrected) => {
      const { head } = read({ status: { step }, results: { metadata: { statusRaw } } });

      expect([head.completeness, head.isCorrected]).toEqual([completeness, isCorrected]);
    },
  );

  test('name each laboratory once, with address and CLIA number where they are known', () => {
    const address = {
      firstLine: '1 Example Plaza',
      city: 'Phoenix',
      state: 'AZ',
      zip: '85004',
      country: 'United States',
    };
    const sample = {
      performingLaboratories: [{ name: 'North', phoneNumber: '+1', medicalDirector: 'Dr. R', address }],
    };

    const { details } = read({
      results: {
        metadata: { laboratory: 'North', cliaNumber: '00D' },
        biomarkers: [
          { name: 'A', performingLaboratory: 'South' },
          { name: 'B', performingLaboratory: 'North' },
        ],
        samples: [sample, sample, {}],
      },
    });

    expect(details?.laboratories).toEqual([
      {
        name: 'North',
        address: ['1 Example Plaza', 'Phoenix, AZ 85004', 'United States'],
        phone: '+1',
        director: 'Dr. R',
        clia: '00D',
      },
      { name: 'South', address: [], phone: null, director: null, clia: null },
    ]);
  });

  test('are cut where a lab sends more than a page can show', () => {
    const many = Array.from({ length: MOST_RESULTS + 1 }, (_, index) => ({ name: `Test ${index}` }));

    const { details } = read({ results: { biomarkers: many } });

    expect([details?.biomarkers.length, details?.isCut]).toEqual([MOST_RESULTS, true]);
    expect(read({ results: { biomarkers: many.slice(1) } }).details?.isCut).toBe(false);
  });

  test('and the list of those that are missing, which cuts no result', () => {
    const missing = Array.from({ length: 101 }, (_, index) => ({ name: `Test ${index}` }));

    const { details } = read({ results: { biomarkers: [{ name: 'A' }], missing } });

    expect([details?.missing.length, details?.isMissingCut, details?.isCut]).toEqual([100, true, false]);
  });

  test('have texts of a bounded length, and no half characters', () => {
    expect(readOne({ name: 'x'.repeat(301) })?.name).toBe(`${'x'.repeat(300)}…`);
    expect(readOne({ name: `${'x'.repeat(299)}😀 and more` })?.name).toBe(`${'x'.repeat(299)}…`);
    expect(readOne({ notes: 'x'.repeat(5000) })?.notes).toHaveLength(2001);
  });

  test('are read from any JSON without an error', () => {
    const order = fc.record(
      {
        status: fc.jsonValue(),
        results: fc.oneof(
          fc.jsonValue(),
          fc.record({
            metadata: fc.jsonValue(),
            biomarkers: fc.jsonValue(),
            missing: fc.jsonValue(),
            samples: fc.jsonValue(),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(order, fc.jsonValue()), (json) => {
        const results = readResults(json);
        expect(results === null || Array.isArray(results.details?.biomarkers ?? [])).toBe(true);
      }),
    );
  });
});

describe('a result', () => {
  test('belongs to the panel that was ordered, and to none where it was ordered by itself', () => {
    expect(readOne({ name: 'HDL', sourceMarkers: [{ name: 'Lipid Panel' }] })?.panel).toBe('Lipid Panel');
    expect(readOne({ name: 'HDL', sourceMarkers: [{ name: 'HDL' }, { name: 'Lipid Panel' }] })?.panel).toBe(
      'Lipid Panel',
    );
    expect(readOne({ name: 'HDL', sourceMarkers: [{ name: 'HDL' }] })?.panel).toBeNull();
    expect(readOne({ name: 'HDL', sourceMarkers: null })?.panel).toBeNull();
  });
});

describe('the results by panel', () => {
  const panel = fc.constantFrom('Lipid Panel', 'Blood Count', null);
  const list = fc.array(panel).map((panels) =>
    panels.map((name, index) => ({
      name: `Test ${index}`,
      sourceMarkers: name === null ? [] : [{ name }],
    })),
  );

  test('are all there, each once, and within a panel in the order of the lab', () => {
    fc.assert(
      fc.property(list, (biomarkers) => {
        const all = read({ results: { biomarkers } }).details?.biomarkers ?? [];
        const panels = groupByPanel(all);

        expect(new Set(panels.flatMap((each) => each.biomarkers))).toEqual(new Set(all));
        expect(panels.flatMap((each) => each.biomarkers)).toHaveLength(all.length);
        expect(new Set(panels.map(({ name }) => name)).size).toBe(panels.length);
        for (const { name, biomarkers: members } of panels) {
          expect(members).toEqual(all.filter((each) => each.panel === name));
        }
        const places = panels
          .filter(({ name }) => name !== null)
          .map(({ biomarkers: [first] }) => first && all.indexOf(first));
        expect(places).toEqual(places.toSorted((one, other) => Number(one) - Number(other)));
        expect(panels.slice(0, -1).every(({ name }) => name !== null)).toBe(true);
      }),
    );
  });
});
