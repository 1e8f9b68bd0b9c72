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
  [{ interpretation: null, interpretationRaw: 'cosmic', ...inside }, 'unknown'],
  [{ interpretationRaw: 'cosmic', isAboveRange: true, isBelowRange: false }, 'high'],
  [{ interpretation: 'NORMAL', type: 'COMMENT' }, null],
  [{ interpretation: 'ABNORMAL', type: 'COMMENT' }, 'abnormal'],
  [{ sourceInterpretation: 'R' }, 'unknown'],
  [{ sourceInterpretation: ' ' }, null],
  [{ interpretation: 'CRITICAL', sourceInterpretation: 'N' }, 'critical'],
])('%j is flagged %s', (fields, flag) => {
  expect(readFlag(fields)).toBe(flag);
});

describe('the mark of a lab counts more than the service’s word for normal', () => {
  /** The codes of HL7 table 0078 and of ObservationInterpretation, which took its place, and words that labs write. */
  const marks = {
    normal: 'N|n|normal|NORMAL',
    high: 'H|>|HU|HX|H>|HI|High|HIGH|h*|(H)|*H*|H!|[H]|H,|borderline high|Above high normal|H^High^HL70078|N~H',
    low: 'L|<|LU|LX|L<|LO|Low|l*|(L)|*L*|L!|slightly low|Below low normal|L^Below low normal^HL70078',
    abnormal: 'A|A*|ABN|abnl|Abnormal|(A)|very abnormal|H/L|D~A',
    critical:
      'AA|AA*|Critical|CRIT|panic|Alert|critically abnormal|not critical|H. pylori: critical|high risk: critical',
    'critical-high':
      'HH|HH*|H HH|Critical High|High Panic|alert high|CRITICAL_HIGH|crit-high|CRIT H|H, critical|HH^Panic high',
    'critical-low': 'LL|LL!|critical low|panic-low|ALERT_LOW|Crit. L',
    unknown:
      'U|D|B|W|S|R|I|MS|VS|NS|SDD|SYN-R|SYN-S|POS|Positive|NEG|Negative|IND|DET|ND|detected|E|IE|EX|EXP|UNE|RR|WR|NR|HM|MM|TOX|CAR|AC|QCF|OBX|null|*|**|!|?|+|N*|N!|(N)|↑|-|.|5|<5|H. pylori|Low risk|high risk|Negative for high-risk HPV|no abnormal cells|not abnormal|Hepatitis A|Vitamin A level|Abc|Highlands|normalish|not normal|normal?|élevé|正常',
  };
  const rows = Object.entries(marks).flatMap(([flag, texts]) => texts.split('|').map((mark) => [mark, flag]));

  test.each(rows)('%s is %s', (mark, flag) => {
    const fields = { interpretation: 'NORMAL', ...inside, sourceInterpretation: mark };

    expect(readFlag(fields)).toBe(flag);
    expect(readFlag({ ...fields, interpretation: null })).toBe(flag);
    expect(readFlag({ sourceInterpretation: mark })).toBe(flag);
  });
});

describe('whatever is said of a result', () => {
  const flags = fc.record(
    {
      interpretation: fc.constantFrom('NORMAL', 'ABNORMAL', 'CRITICAL', null),
      interpretationRaw: fc.constantFrom('normal', 'cosmic', null),
      isAboveRange: fc.constantFrom(true, false, null),
      isBelowRange: fc.constantFrom(true, false, null),
      sourceInterpretation: fc.oneof(
        fc.constantFrom('H', 'HH', 'L', 'LL', 'A', 'AA', 'N', '>', '<', 'normal', ' n '),
        fc
          .array(fc.constantFrom('critical', 'panic', 'HH', 'H', 'L', 'N', 'normal', ' ', '*', '_', '~', '?'))
          .map((parts) => parts.join('')),
        fc.string({ unit: 'grapheme' }),
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
        expect(fields.sourceInterpretation ?? '').toMatch(/^\s*(n|normal)?\s*$/i);
      }),
    );
  });

  test('a critical one is never called less', () => {
    const around = fc.tuple(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('critical', 'PANIC', 'Alert'),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(flags, around, (fields, words) => {
        expect(readFlag({ ...fields, interpretation: 'CRITICAL' })).toMatch(/^critical/);
        expect(readFlag({ ...fields, sourceInterpretation: words.join(' ') })).toMatch(/^critical/);
      }),
    );
  });
});
