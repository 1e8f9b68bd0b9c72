import { expect, test } from 'vitest';
import { makeWith } from '../support/replaced-parts.ts';
import { makeOverNetwork, onDirectPath } from '../support/whole-answers.ts';
import { findCrossing, gather } from './isolation/interleave.ts';

const make = makeWith({
  name: 'gives whole answers to everybody who asks the same',
  factories: {
    answerKey: ({ head, body }) => `${head.origin}\n${head.mediaType}\n${body.toString('latin1')}`,
  },
});

test('over the network two users and a token for one order are each answered as if alone, in 1,000 interleavings', async () => {
  await using crowd = await gather({
    make: makeOverNetwork,
    env: { ...onDirectPath, RATE_LIMIT_POINTS: '0' },
  });
  expect(await findCrossing(crowd, 1000)).toBeNull();
});

test('a gateway that gives whole answers to everybody who asks the same is found out', async () => {
  await using crowd = await gather({ make: (parts) => makeOverNetwork(parts, make), env: onDirectPath });
  expect(await findCrossing(crowd, 1000)).not.toBeNull();
});
