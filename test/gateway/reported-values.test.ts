import { expect, test } from 'vitest';
import { oncePerValue } from '../../gateway/composition/contexts.ts';

test('an operation reports 1,000 unknown values at most, each once and in 100 characters at most', () => {
  const reported: string[] = [];
  const report = oncePerValue((field, value) => reported.push(`${field} ${value}`));

  for (const round of [1, 2]) {
    for (let index = 0; index < 2000; index += 1) report('Order.status', `${index}${'x'.repeat(500)}`);
    expect(reported, `round ${round}`).toHaveLength(1000);
  }

  expect(new Set(reported).size).toBe(1000);
  expect(Math.max(...reported.map((line) => line.length))).toBe('Order.status '.length + 100);
});
