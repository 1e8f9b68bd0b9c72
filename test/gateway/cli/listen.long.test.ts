import { expect, test, vi } from 'vitest';
import { startListening } from './listening.ts';

test('a listener that was killed while 1,000 events came misses none and repeats none', async () => {
  await using listening = await startListening();
  await listening.kill();
  for (let n = 1; n <= 1000; n += 1) listening.send(n);
  await listening.lab.sandbox.webhooks.settled();
  listening.start();

  await vi.waitFor(() => expect(listening.numbers().length).toBeGreaterThanOrEqual(1000), {
    timeout: 240_000,
  });
  // An event sent after them arrives after them, so nothing else is on its way.
  listening.send(1001);
  await vi.waitFor(() => expect(listening.numbers()).toContain(1001), { timeout: 150_000 });
  expect(listening.numbers().toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 1001 }, (_, at) => at + 1),
  );
}, 300_000);
