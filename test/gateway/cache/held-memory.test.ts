import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { SharedCache } from '../../../gateway/cache/shared-cache.ts';
import type { UpstreamCall } from '../../../gateway/service/calls.ts';
import { json, openUpstream } from '../../support/misbehaving-service.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

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
