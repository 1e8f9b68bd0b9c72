import { expect, test } from 'vitest';
import { parseJson } from '../../gateway/parse/json.ts';

/** So many levels of one kind around a leaf. */
const nested = (levels: number, [open, close]: readonly [string, string], leaf = '1') =>
  open.repeat(levels) + leaf + close.repeat(levels);

test.each([
  ['lists', ['[', ']']],
  ['objects', ['{"a":', '}']],
  ['later fields', ['{"a":0,"b":', '}']],
  ['later items', ['[1,2,', ',3]']],
] as const)('100 levels of %s are read, and 101 are refused', (_name, brackets) => {
  const deepest = nested(100, brackets);
  expect(parseJson(deepest)).toEqual(JSON.parse(deepest));
  expect(() => parseJson(nested(101, brackets))).toThrow('The JSON is nested too deeply.');
});

test('brackets that nest nothing are no levels, however many', () => {
  for (const text of [`["${'[{'.repeat(500)}"]`, wide(300)]) {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  }
});

function wide(rows: number): string {
  return JSON.stringify(Array.from({ length: rows }, (_, index) => ({ index, rows: [{}] })));
}
