import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { createWakers } from '../../../gateway/events/waiters.ts';

test('Only those are woken whom the news may concern', async () => {
  const wakers = createWakers();
  const woken: string[] = [];
  const waiting = [
    wakers.wait({}, new AbortController().signal).then(() => woken.push('all')),
    wakers.wait({ userId: 'u1' }, new AbortController().signal).then(() => woken.push('u1')),
    wakers.wait({ userId: 'u2' }, new AbortController().signal).then(() => woken.push('u2')),
    wakers.wait({ subject: 'o1' }, new AbortController().signal).then(() => woken.push('o1')),
    wakers.wait({ subject: 'o2' }, new AbortController().signal).then(() => woken.push('o2')),
  ];
  wakers.wake({ userId: 'u1', subject: { id: 'o1', version: 1 } });
  await Promise.all([waiting[0], waiting[1], waiting[3]]);
  expect(woken).toEqual(['all', 'u1', 'o1']);
  wakers.wake(null);
  await Promise.all(waiting);
  expect(woken).toEqual(['all', 'u1', 'o1', 'u2', 'o2']);
});

test('A waiter that has left leaves nothing behind', async () => {
  const wakers = createWakers();
  const before = queryObjects(Set, { format: 'count' });
  for (let index = 0; index < 500; index += 1) {
    const leaving = new AbortController();
    const wait = wakers.wait({ subject: `order-${index}` }, leaving.signal);
    leaving.abort();
    await wait;
  }
  expect(queryObjects(Set, { format: 'count' }) - before).toBeLessThan(100);
  wakers.wake(null);
});

test('One of two who wait for the same may leave without the other', async () => {
  const wakers = createWakers();
  const leaving = new AbortController();
  const [left, stays] = [leaving.signal, new AbortController().signal].map((signal) =>
    wakers.wait({ userId: 'u1' }, signal),
  );
  leaving.abort();
  await left;
  wakers.wake({ userId: 'u1', subject: null });
  expect(await stays).toBeUndefined();
});
