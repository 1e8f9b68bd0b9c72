import { expect, test, vi } from 'vitest';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import type { UpstreamCall } from '../../../gateway/service/calls.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { startLab } from '../../support/lab.ts';
import { json, openUpstream } from '../../support/misbehaving-service.ts';
import { countMore, memory, send } from '../../support/whole-answers.ts';

const reader = (sent: unknown) => sent;
const list: UpstreamCall = { operation: 'order.list', method: 'GET', path: '/orders' };

test('a cached read holds the answer and nothing of the operation that read it', async () => {
  const cache = new SharedCache({ ttlMs: 60_000 });
  await using open = await openUpstream([json({ orders: [] })], { cache });
  const read = async () => {
    const operation = { tags: () => ['order x'], onEntry: () => {}, rights: 'team', reader };
    await open.upstream.read(list, operation);
    return new WeakRef(operation.tags);
  };
  const held = await read();

  await vi.waitFor(
    () => {
      collectGarbage();
      // Not the value itself: the failed expectation would hold it.
      expect(held.deref() === undefined).toBe(true);
    },
    { timeout: 150_000 },
  );

  await open.upstream.read(list, { rights: 'team', reader, tags: () => ['order x'] });
  expect(open.service.calls()).toEqual(['GET /orders']);
});

/** Node makes buffers of less than half a block (64 KiB) in a block that they share: these use up the current one. */
function useUpBlock(): void {
  for (let left = Buffer.poolSize; left > 0; left -= Buffer.poolSize / 4)
    Buffer.allocUnsafe(Buffer.poolSize / 4);
}

test('a cached answer holds its own bytes, and those of its compressed form, and no block that it shares', async () => {
  await using lab = await startLab({ env: memory });
  const answers = 200;
  const arrayBuffers = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const ask = (index: number) =>
    send(lab, `{ page${index}: labTests(first: 20) { nodes { id name description } } }`, {
      headers: { 'accept-encoding': 'br' },
    });
  const { text } = await ask(answers);
  expect(text.length).toBeGreaterThan(1024);
  const before = arrayBuffers();
  const counted = await countMore(lab, async () => {
    for (let index = 0; index < answers; index += 1) {
      useUpBlock();
      await ask(index);
    }
  });
  expect(counted).toMatchObject({ miss: answers, full: 0 });
  // Blocks are released some time after the collection.
  await expect.poll(() => (arrayBuffers() - before) / answers).toBeLessThan(2 * text.length);
});
