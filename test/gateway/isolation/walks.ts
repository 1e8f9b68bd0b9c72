import { pageOrigin } from '../../support/launch.ts';
import { type SpoiltLab, startSpoiltLab } from '../../support/spoilt-lab.ts';
import { findLiveLeaks } from './live.ts';
import { ordersOf } from './people.ts';
import { type Circle, findStrangers, mixUp } from './reach.ts';
import { findFaultsOfReads, meetPairs, type Pair } from './reads.ts';
import type { Make } from './writes.ts';

export async function startWorld(make?: Make): Promise<SpoiltLab> {
  const env = { ALLOWED_ORIGINS: pageOrigin };
  return await startSpoiltLab({ env, ...(make === undefined ? {} : { make }) });
}

export async function* walkReads(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  yield* findFaultsOfReads(lab, await meetPairs(lab));
}

export async function* walkStreams(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  for (const pair of await meetPairs(lab)) yield* findLiveLeaks(lab, pair);
}

/** Those of the pairs, each with everybody they may meet. */
export function circlesOf(lab: SpoiltLab, [users, orders]: readonly [Pair, Pair]): readonly Circle[] {
  const { self, other, secrets } = users;
  const whole = (userId: string) => ordersOf(lab, userId);
  return [
    { self, orderIds: whole(self.userId), secrets },
    { self: other, orderIds: whole(other.userId), secrets: [self.userId, ...whole(self.userId)] },
    { self: orders.self, orderIds: [orders.self.orderId], secrets: orders.secrets },
  ];
}

export async function* walkMixedUp(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  const pairs = await meetPairs(lab);
  const { self, other } = pairs[0];
  const circles = circlesOf(lab, pairs).filter((circle) => circle.self.userId === self.userId);
  await mixUp(lab, self.userId, other);
  for (const circle of circles) {
    yield* findStrangers(lab, { ...circle, secrets: [...circle.secrets, other.userId, other.orderId] });
  }
}
