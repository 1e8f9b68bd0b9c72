import { expect, test } from 'vitest';
import { readAnew } from '../support/lab.ts';
import { runs } from '../support/runs.ts';
import { countAnswers, makeOverNetwork, onDirectPath } from '../support/whole-answers.ts';
import { findCrossing, gather } from './isolation/interleave.ts';

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
    expect(await findCrossing(crowd, runs(300))).toBeNull();
    const { hit, joined } = await countAnswers(crowd.lab);
    // Or nothing was given to two that could have crossed.
    expect(hit + joined).toBeGreaterThan(runs(20));
  },
  120_000,
);
