import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createExpiry, toDelay } from '../../gateway/cache/expiry.ts';

/** An expiry of ten seconds whose items are added at these milliseconds, and when each was given up. */
function addAt(times: Readonly<Record<string, number>>) {
  const begin = performance.now();
  const over = new Map<string, number>();
  const expiry = createExpiry<string>(10_000, (item) => over.set(item, performance.now() - begin));
  for (const [item, at] of Object.entries(times)) {
    vi.advanceTimersByTime(at - (performance.now() - begin));
    expiry.add(item);
  }
  return { expiry, over };
}

describe('what has ten seconds', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('is given up together with what was added up to a quarter of a second later', () => {
    const { over } = addAt({ first: 0, close: 100, last: 250, apart: 251 });
    vi.advanceTimersByTime(60_000);
    expect([...over]).toEqual([
      ['first', 10_000],
      ['close', 10_000],
      ['last', 10_000],
      ['apart', 10_251],
    ]);
  });

  test('begins anew when it is added again', () => {
    const { expiry, over } = addAt({ a: 0, b: 3000 });
    expiry.add('a');
    vi.advanceTimersByTime(60_000);
    expect([...over]).toEqual([
      ['b', 13_000],
      ['a', 13_000],
    ]);
  });

  test('is not given up once it was removed, and takes nothing with it', () => {
    const { expiry, over } = addAt({ first: 0, close: 200, apart: 900 });
    expiry.remove('first');
    vi.advanceTimersByTime(60_000);
    expect([...over]).toEqual([
      ['close', 10_000],
      ['apart', 10_900],
    ]);
  });

  test('leaves no timer behind', () => {
    addAt({ first: 0, apart: 900 });
    vi.advanceTimersByTime(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a time that was computed is a delay that Node takes without a warning', () => {
  const times = [-1, -Infinity, Number.NaN, 0, 0.4, 1, 1500, 2 ** 31, Infinity];
  expect(times.map(toDelay)).toEqual([1, 1, 1, 1, 1, 1, 1500, 2 ** 31 - 1, 2 ** 31 - 1]);
});
