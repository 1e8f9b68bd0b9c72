import { expect, test } from 'vitest';
import { createBodyBuffer, type Holding } from '../../../gateway/webhooks/body-buffer.ts';

const mebibyte = 1024 * 1024;

function openBound() {
  const begin = createBodyBuffer();
  return (sender: string, announcedBytes = 0): Holding =>
    begin({ sender, announcedBytes }) ?? expect.unreachable();
}

/** Bodies of a sender that have brought this many bytes and are not whole. */
function hold(begin: (sender: string) => Holding, sender: string, bytes: readonly number[]) {
  return bytes.map((count) => {
    const holding = begin(sender);
    expect(holding.add(count)).toBe(true);
    return holding;
  });
}

const evictedOf = (holdings: readonly Holding[]) =>
  holdings.flatMap(({ evicted }, index) => (evicted.aborted ? [index] : []));

test('when the buffer is full, the oldest incomplete bodies are evicted', () => {
  const begin = openBound();
  const bodies = hold(begin, 'a', Array(64).fill(mebibyte));
  expect(evictedOf(bodies)).toEqual([]);
  const newcomer = begin('a');
  expect(newcomer.add(mebibyte + 1)).toBe(true);
  expect(evictedOf(bodies)).toEqual([0, 1]);
  expect(newcomer.complete()).toBe(true);
  expect(bodies[0]?.complete()).toBe(false);
  expect(bodies[0]?.add(1)).toBe(false);
});

test('the sender with the most bytes is evicted for all others, small and large', () => {
  const begin = openBound();
  const others = ['b', 'c'].flatMap((sender) => hold(begin, sender, [500, mebibyte]));
  const flood = hold(begin, 'a', Array(500).fill(mebibyte));
  expect(evictedOf(others)).toEqual([]);
  expect(evictedOf(flood)).toHaveLength(500 - 61);
  for (const other of others) expect(other.complete()).toBe(true);
});

test('a complete body is never evicted, and only complete ones make new requests refused', () => {
  const begin = createBodyBuffer();
  const beginA = () => begin({ sender: 'a', announcedBytes: mebibyte }) ?? expect.unreachable();
  const whole = hold(beginA, 'a', Array(64).fill(mebibyte));
  for (const body of whole) expect(body.complete()).toBe(true);
  expect(begin({ sender: 'b', announcedBytes: 1 })).toBeNull();
  const unannounced = begin({ sender: 'b', announcedBytes: 0 });
  expect(unannounced?.add(1)).toBe(false);
  expect(evictedOf(whole)).toEqual([]);

  whole[0]?.end();
  expect(begin({ sender: 'b', announcedBytes: mebibyte })?.add(mebibyte)).toBe(true);
});

test('a request releases its space once, however it ended', () => {
  const begin = openBound();
  for (let round = 0; round < 1000; round += 1) {
    const [evicted, whole, left] = hold(begin, 'a', [30 * mebibyte, 20 * mebibyte, 14 * mebibyte]);
    whole?.complete();
    hold(begin, 'b', [1])[0]?.end();
    for (const body of [evicted, whole, left]) {
      body?.end();
      body?.end();
    }
  }
  const last = hold(begin, 'a', Array(64).fill(mebibyte));
  expect(evictedOf(last)).toEqual([]);
});
