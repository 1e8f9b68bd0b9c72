import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { formatDate, formatRange, formatUnit, formatValue } from '../../../widget/src/results/numbers.ts';
import { english } from '../../../widget/src/results/strings.ts';
import { speakAtHome } from '../support/browser-language.ts';

const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'ar', '', 'en_US', 'no language'];
const none = { range: null, min: null, max: null };

describe('a value', () => {
  test.each([
    ['5.70', 'en', '5.70'],
    ['5.70', 'de', '5,70'],
    ['1245', 'de', '1245'],
    ['<0.3', 'fr', '<0,3'],
    ['-0.5', 'es', '-0,5'],
    ['5.7', 'ar', '5.7'],
    ['1.0.2', 'de', '1.0.2'],
    ['Negative', 'de', 'Negative'],
    ['1:80', 'de', '1:80'],
    ['2.0E+3', 'de', '2.0E+3'],
    ['1,200', 'en', '1,200'],
    ['1,200', 'ar', '1,200'],
    ['1,200', 'de', '1200'],
    ['<1,200', 'fr', '<1200'],
    ['-12,345,678.90', 'pt', '-12345678,90'],
    // No thousands: what the comma means is not known.
    ['0,123', 'de', '0,123'],
    ['1,2', 'de', '1,2'],
    ['12,34,567', 'de', '12,34,567'],
    ['1200,300', 'de', '1200,300'],
    ['1.234', '', '1.234'],
    ['1.234', 'en_US', '1.234'],
    ['1.234', 'de_DE', '1,234'],
    ['1.234', 'es_MX', '1.234'],
    ['1.234', 'de_DE.UTF-8', '1,234'],
    ['1.234', 'no language', '1.234'],
  ])('%s in %j is written %s, whatever the browser speaks', (text, language, written) => {
    using _browser = speakAtHome('de');

    expect(formatValue(text, language)).toBe(written);
  });

  test('is the same number in every language: only the signs between its digits may change', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[<>]?-?\d{1,20}(\.\d{1,20})?$/),
      fc.stringMatching(/^[<>]?-?[1-9]\d{0,2}(,\d{3}){1,4}(\.\d{1,20})?$/),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom(...LANGUAGES), (text, language) => {
        const written = formatValue(text, language);
        if (written !== text) expect(written.replace(',', '.')).toBe(text.replaceAll(',', ''));
      }),
    );
  });

  test('has one comma at most where that is the decimal sign', () => {
    const texts = fc.stringMatching(/^[<>]?-?[1-9]\d{0,2}(,\d{3}){1,4}(\.\d{1,20})?$/);
    fc.assert(
      fc.property(texts, fc.constantFrom('de', 'fr', 'es', 'pt'), (text, language) => {
        expect(formatValue(text, language)).toMatch(/^[^.,]*(,\d+)?$/);
        expect(formatValue(text, language).includes(',')).toBe(text.includes('.'));
      }),
    );
  });
});

describe('an expected range', () => {
  test.each([
    [{ ...none, range: '70-99' }, '70 to 99'],
    [{ ...none, range: '0.45 – 4.5' }, '0.45 to 4.5'],
    [{ ...none, range: '-2.0-2.0' }, '-2.0 to 2.0'],
    [{ ...none, range: '<200' }, 'below 200'],
    [{ ...none, range: '<=0.3' }, 'up to 0.3'],
    [{ ...none, range: '>39' }, 'above 39'],
    [{ ...none, range: '≥ 60' }, '60 or more'],
    [{ ...none, range: 'Negative' }, 'Negative'],
    [{ ...none, range: '<200', max: 199 }, 'below 200'],
    [{ ...none, min: 70, max: 99 }, '70 to 99'],
    [{ ...none, max: 5.6 }, 'up to 5.6'],
    [{ ...none, min: 0 }, '0 or more'],
    [none, null],
  ])('%j is read as: %s', (range, text) => {
    expect(formatRange(range, english, 'en')).toBe(text);
  });

  test('has the numbers of the reader’s language', () => {
    expect(formatRange({ ...none, range: '0.82-1.77' }, english, 'de')).toBe('0,82 to 1,77');
    expect(formatRange({ ...none, range: '1,500-7,800' }, english, 'de')).toBe('1500 to 7800');
    expect(formatRange({ ...none, range: '<1,000.5' }, english, 'de')).toBe('below 1000,5');
    expect(formatRange({ ...none, range: '1,500-7,800' }, english, 'en')).toBe('1,500 to 7,800');
  });

  test('is not changed by signs of a pattern in the text of the lab', () => {
    expect(formatRange({ ...none, range: "$& $' {min}" }, english, 'de')).toBe("$& $' {min}");
  });
});

test.each([
  ['mg/dL', 'mg/dL'],
  ['{ratio}', ''],
  ['10*3/uL', '10³/uL'],
  ['10*12/L', '10¹²/L'],
  ['m[IU]/L', 'mIU/L'],
  ['%', '%'],
  ['x10E3/uL', 'x10E3/uL'],
])('the unit %s is written %s', (unit, written) => {
  expect(formatUnit(unit)).toBe(written);
});

describe('a date', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test.each(['Pacific/Kiritimati', 'America/Phoenix', 'UTC'])(
    'without a time is the same day in %s',
    (zone) => {
      vi.stubEnv('TZ', zone);
      const date = formatDate({ at: null, on: '2026-03-04', raw: '2026-03-04' }, 'en');
      expect(date).toEqual({ text: 'March 4, 2026', machine: '2026-03-04' });
    },
  );

  test('with a time is shown in the reader’s zone', () => {
    vi.stubEnv('TZ', 'America/Phoenix');
    const date = formatDate({ at: '2026-03-04T02:30:00.000Z', on: '2026-03-04', raw: null }, 'en');
    expect(date?.text).toMatch(/^March 3, 2026 at 7:30\sPM$/);
  });

  test('that is no date stays as the lab wrote it', () => {
    expect(formatDate({ at: null, on: null, raw: '18/08/2025' }, 'en')).toEqual({
      text: '18/08/2025',
      machine: null,
    });
    expect(formatDate({ at: null, on: null, raw: null }, 'en')).toBeNull();
  });

  test.each(['', 'en_US', '!'])(
    'is in English where the texts are, whatever the browser speaks: %j',
    (language) => {
      using _browser = speakAtHome('de');

      expect(formatDate({ at: null, on: '2026-03-04', raw: null }, language)?.text).toMatch(
        /^March 4, 2026$/,
      );
    },
  );

  test.each(LANGUAGES)('is written in the language %s', (language) => {
    expect(formatDate({ at: null, on: '2026-03-04', raw: null }, language)?.text).toMatch(/2026/);
  });
});
