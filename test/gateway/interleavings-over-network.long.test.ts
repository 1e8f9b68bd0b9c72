import { expect, test } from 'vitest';
import { plantMutant } from '../support/plant-mutant.ts';
import { inFastLane, makeOverNetwork } from '../support/whole-answers.ts';
import { findCrossing, gather } from './isolation/interleave.ts';

test('a gateway that gives whole answers to whoever asks the same is found out', async () => {
  const given = 'const { authorization, origin, mediaType } = head;';
  using planted = plantMutant({
    name: 'gives whole answers to whoever asks the same',
    changes: [
      {
        file: 'gateway/edge/whole-answers.ts',
        from: given,
        to: given.replace(' authorization', ' authorization: _, trace: authorization'),
      },
    ],
  });
  const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
  await using crowd = await gather({
    make: (parts) => makeOverNetwork(parts, createGateway),
    env: inFastLane,
  });
  expect(await findCrossing(crowd, 1000)).not.toBeNull();
}, 60_000);
