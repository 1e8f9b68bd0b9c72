import { expect, test } from 'vitest';
import { readAnew } from '../support/lab.ts';
import { countAnswers, inFastLane, makeOverNetwork } from '../support/whole-answers.ts';
import { findCrossing, gather } from './isolation/interleave.ts';

test.each([
  ['answers are kept', {}, 1000],
  ['nothing is kept and all is in flight', readAnew, 300],
])(
  'over the network, where %s, two users and a token for one order are each told what they are told alone',
  async (_name, more, runs) => {
    await using crowd = await gather({
      make: makeOverNetwork,
      env: { ...inFastLane, ...more, RATE_LIMIT_POINTS: '0' },
    });
    expect(await findCrossing(crowd, runs)).toBeNull();
    const { hit, joined } = await countAnswers(crowd.lab);
    // Or nothing was given to two that could have crossed.
    expect(hit + joined).toBeGreaterThan(20);
  },
  120_000,
);
