import { expect, test } from 'vitest';
import { readAnew } from '../support/lab.ts';
import { countAnswers, makeOverNetwork, onDirectPath } from '../support/whole-answers.ts';
import { findCrossing, gather } from './isolation/interleave.ts';

// interleavings-over-network.long.test.ts draws 1,000 each time.
test.each([
  ['answers are cached', {}],
  ['nothing is cached and all is in flight', readAnew],
])(
  'over the network, where %s, two users and a token for one order are each answered as if alone',
  async (_name, more) => {
    await using crowd = await gather({
      make: makeOverNetwork,
      env: { ...onDirectPath, ...more, RATE_LIMIT_POINTS: '0' },
    });
    expect(await findCrossing(crowd, 300)).toBeNull();
    const { hit, joined } = await countAnswers(crowd.lab);
    // Or nothing was given to two that could have crossed.
    expect(hit + joined).toBeGreaterThan(20);
  },
  120_000,
);
