import { expect, test } from 'vitest';
import { toDelay } from '../../../gateway/cache/delay.ts';

test('a time that was computed is a delay that Node takes without a warning', () => {
  const times = [-1, -Infinity, Number.NaN, 0, 0.4, 1, 1500, 2 ** 31, Infinity];
  expect(times.map(toDelay)).toEqual([1, 1, 1, 1, 1, 1, 1500, 2 ** 31 - 1, 2 ** 31 - 1]);
});
