import { setImmediate as nextRound } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { Waiters } from '../../../gateway/events/waiters.ts';

test('An event wakes only the waiters that it may concern', async () => {
  const waiters = new Waiters();
  const woken: string[] = [];
  const waiting = [
    waiters.wait({}, 7, new AbortController().signal).then(() => woken.push('all')),
    waiters.wait({ userId: 'u1' }, 7, new AbortController().signal).then(() => woken.push('u1')),
    waiters.wait({ userId: 'u2' }, 7, new AbortController().signal).then(() => woken.push('u2')),
    waiters.wait({ subject: 'o1' }, 7, new AbortController().signal).then(() => woken.push('o1')),
    waiters.wait({ subject: 'o2' }, 7, new AbortController().signal).then(() => woken.push('o2')),
  ];
  waiters.wake({ userId: 'u1', subject: { id: 'o1', version: 1 } });
  await Promise.all([waiting[0], waiting[1], waiting[3]]);
  expect(woken).toEqual(['all', 'u1', 'o1']);
  waiters.wake(null);
  await Promise.all(waiting);
  expect(woken).toEqual(['all', 'u1', 'o1', 'u2', 'o2']);
});

test('A waiter that has left leaves nothing behind', async () => {
  const waiters = new Waiters();
  const before = queryObjects(Set, { format: 'count' });
  for (let index = 0; index < 500; index += 1) {
    const leaving = new AbortController();
    const wait = waiters.wait({ subject: `order-${index}` }, 7, leaving.signal);
    leaving.abort();
    await wait;
  }
  expect(queryObjects(Set, { format: 'count' }) - before).toBeLessThan(100);
  waiters.wake(null);
});

test('One of two who wait for the same may leave without the other', async () => {
  const waiters = new Waiters();
  const leaving = new AbortController();
  const [left, stays] = [leaving.signal, new AbortController().signal].map((signal) =>
    waiters.wait({ userId: 'u1' }, 7, signal),
  );
  leaving.abort();
  await left;
  waiters.wake({ userId: 'u1', subject: null }, 9);
  expect([await left, await stays]).toEqual([7, 9]);
});

test('Many waiters are woken in parts, and other work goes in between', async () => {
  const waiters = new Waiters();
  const { signal } = new AbortController();
  const count = 5000;
  let woken = 0;
  const waiting = Array.from({ length: count }, () =>
    waiters.wait({ userId: 'u1' }, 7, signal).then(() => {
      woken += 1;
    }),
  );
  waiters.wake({ userId: 'u1', subject: null });
  await nextRound();
  expect(woken).toBeGreaterThan(0);
  expect(woken).toBeLessThan(count);
  await Promise.all(waiting);
});
