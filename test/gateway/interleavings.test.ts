import { describe, expect, test } from 'vitest';
import { readAnew } from '../support/lab.ts';
import { runs } from '../support/runs.ts';
import { countShared, findCrossing, findReads, gather } from './isolation/interleave.ts';

describe('two users, and a token of the first for one order, who ask the same at the same time', () => {
  test('are each answered as if alone, in many interleavings with leaves and webhooks', async () => {
    await using crowd = await gather();
    expect(await findCrossing(crowd, runs(300))).toBeNull();
    // Or nothing was shared that could have crossed.
    expect(await countShared(crowd)).toBeGreaterThan(runs(20));
  });

  test('are so where nothing is cached and all is in flight', async () => {
    await using crowd = await gather({ env: readAnew });
    expect(await findCrossing(crowd, runs(300))).toBeNull();
  });

  test('share no read of the service', async () => {
    await using crowd = await gather();
    expect(await findReads(crowd)).toBeNull();
  });
});
