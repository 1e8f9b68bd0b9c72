import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFlag } from '../../../widget/src/results/flag.ts';

const inside = { isAboveRange: false, isBelowRange: false };

test.each([
  [{ interpretation: 'NORMAL', ...inside }, 'normal'],
  [{ interpretation: 'NORMAL' }, 'normal'],
  [{ ...inside }, 'normal'],
  [{ sourceInterpretation: ' n ' }, 'normal'],
  [{ interpretation: 'ABNORMAL', isAboveRange: true, isBelowRange: false }, 'high'],
  [{ interpretation: 'ABNORMAL', isAboveRange: false, isBelowRange: true }, 'low'],
  [{ interpretation: 'NORMAL', isAboveRange: true }, 'high'],
  [{ interpretation: 'NORMAL', ...inside, sourceInterpretation: 'L' }, 'low'],
  [{ interpretation: 'ABNORMAL', ...inside }, 'abnormal'],
  [{ sourceInterpretation: 'A' }, 'abnormal'],
  [{ isAboveRange: true, isBelowRange: true }, 'abnormal'],
  [{ interpretation: 'CRITICAL' }, 'critical'],
  [{ interpretation: 'CRITICAL', isAboveRange: true }, 'critical-high'],
  [{ interpretation: 'NORMAL', sourceInterpretation: 'LL' }, 'critical-low'],
  [{ interpretation: 'CRITICAL', isAboveRange: true, isBelowRange: true }, 'critical'],
  [{}, null],
  [{ isAboveRange: null, isBelowRange: false }, null],
  [{ interpretation: null, interpretationRaw: 'cosmic', ...inside }, null],
  [{ interpretation: 'NORMAL', type: 'COMMENT' }, null],
  [{ interpretation: 'ABNORMAL', type: 'COMMENT' }, 'abnormal'],
  [{ sourceInterpretation: 'R' }, null],
])('%j is flagged %s', (fields, flag) => {
  expect(readFlag(fields)).toBe(flag);
});

describe('whatever is said of a result', () => {
  const flags = fc.record(
    {
      interpretation: fc.constantFrom('NORMAL', 'ABNORMAL', 'CRITICAL', null),
      interpretationRaw: fc.constantFrom('normal', 'cosmic', null),
      isAboveRange: fc.constantFrom(true, false, null),
      isBelowRange: fc.constantFrom(true, false, null),
      sourceInterpretation: fc.oneof(
        fc.constantFrom('H', 'HH', 'L', 'LL', 'A', 'AA', 'N', '>', '<'),
        fc.string(),
      ),
      type: fc.constantFrom('NUMERIC', 'COMMENT', null),
    },
    { requiredKeys: [] },
  );

  test('it is called normal only if nothing says otherwise', () => {
    fc.assert(
      fc.property(flags, (fields) => {
        if (readFlag(fields) !== 'normal') return;
        expect(fields.isAboveRange).not.toBe(true);
        expect(fields.isBelowRange).not.toBe(true);
        expect(['ABNORMAL', 'CRITICAL']).not.toContain(fields.interpretation);
        expect(fields.sourceInterpretation ?? '').not.toMatch(/^\s*(h+|l+|a+|>|<)\s*$/i);
      }),
    );
  });

  test('a critical one is never called less', () => {
    fc.assert(
      fc.property(flags, (fields) => {
        expect(readFlag({ ...fields, interpretation: 'CRITICAL' })).toMatch(/^critical/);
      }),
    );
  });
});
