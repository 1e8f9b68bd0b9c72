import { describe, expect, test } from 'vitest';
import { pageOrigin } from '../support/launch.ts';
import { type Mutant, plantMutant } from '../support/plant-mutant.ts';
import { type SpoiltLab, startSpoiltLab } from '../support/spoilt-lab.ts';
import { findLiveLeaks } from './isolation/live.ts';
import { ordersOf } from './isolation/people.ts';
import { places } from './isolation/places.ts';
import { type Circle, findStrangers, leadsFor, mixUp } from './isolation/reach.ts';
import { findFaultsOfReads, meetPairs, type Pair } from './isolation/reads.ts';
import { table } from './isolation/table.ts';
import { findFaultsOfWrites, type Make } from './isolation/writes.ts';

async function startWorld(make?: Make): Promise<SpoiltLab> {
  const env = { ALLOWED_ORIGINS: pageOrigin };
  return await startSpoiltLab({ env, ...(make === undefined ? {} : { make }) });
}

async function* walkReads(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  yield* findFaultsOfReads(lab, await meetPairs(lab));
}

async function* walkStreams(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  for (const pair of await meetPairs(lab)) yield* findLiveLeaks(lab, pair);
}

/** Those of the pairs, each with everybody they may meet. */
function circlesOf(lab: SpoiltLab, [users, orders]: readonly [Pair, Pair]): readonly Circle[] {
  const { self, other, secrets } = users;
  const whole = (userId: string) => ordersOf(lab, userId);
  return [
    { self, orderIds: whole(self.userId), secrets },
    { self: other, orderIds: whole(other.userId), secrets: [self.userId, ...whole(self.userId)] },
    { self: orders.self, orderIds: [orders.self.orderId], secrets: orders.secrets },
  ];
}

async function* walkMixedUp(make?: Make): AsyncGenerator<string> {
  await using lab = await startWorld(make);
  const pairs = await meetPairs(lab);
  const { self, other } = pairs[0];
  const circles = circlesOf(lab, pairs).filter((circle) => circle.self.userId === self.userId);
  await mixUp(lab, self.userId, other);
  for (const circle of circles) {
    yield* findStrangers(lab, { ...circle, secrets: [...circle.secrets, other.userId, other.orderId] });
  }
}

describe('the table of what takes an id', () => {
  const coordinates = [...new Set(places.map(({ coordinate }) => coordinate))];

  test('has a row for every place of the schema that does', () => {
    const missing = coordinates.filter((coordinate) => table[coordinate] === undefined);
    const advice = missing.map((each) => `${each} takes an id: say in isolation/table.ts whose that is.`);
    expect(advice).toEqual([]);
  });

  test('has no row for anything else', () => {
    const gone = Object.keys(table).filter((coordinate) => !coordinates.includes(coordinate));
    expect(gone.map((each) => `${each} takes no id: take it out of isolation/table.ts.`)).toEqual([]);
  });
});

describe("over every transport, another's id is answered like one that is nobody's,", () => {
  test('by queries and subscriptions', async () => {
    expect(await Array.fromAsync(walkReads())).toEqual([]);
  }, 60_000);

  test('by mutations, which do nothing', async () => {
    expect(await Array.fromAsync(findFaultsOfWrites())).toEqual([]);
  }, 60_000);
});

test('over every transport, a stream tells nothing of what happens to the orders of others', async () => {
  expect(await Array.fromAsync(walkStreams())).toEqual([]);
});

describe('whatever leads on from what is their own', () => {
  test('leads callers to nobody else, and every field that leads to somebody is followed', async () => {
    await using lab = await startWorld();
    const circles = circlesOf(lab, await meetPairs(lab));
    const seen = new Set<string>();
    const strangers = circles.map((circle) =>
      Array.fromAsync(findStrangers(lab, circle, (coordinate) => void seen.add(coordinate))),
    );
    expect((await Promise.all(strangers)).flat()).toEqual([]);
    const leads = circles.flatMap(({ self }) => leadsFor(self).map(({ coordinate }) => coordinate));
    expect([...seen].toSorted()).toEqual([...new Set(leads)].toSorted());
  });

  test('leads callers to nobody else where the service mixes up whose orders are whose', async () => {
    expect(await Array.fromAsync(walkMixedUp())).toEqual([]);
  });
});

const service = 'gateway/upstream/service.ts';
const updates = 'gateway/domain/order/updates.ts';
const withoutOwners = { file: service, from: '    return rights.owns(subject);', to: '    return true;' };
const mutants: readonly (Mutant & { readonly walk: (make: Make) => AsyncGenerator<string> })[] = [
  { name: 'compares no answer with who asks', changes: [withoutOwners], walk: walkReads },
  { name: 'believes the service whose an order is', changes: [withoutOwners], walk: walkMixedUp },
  {
    name: 'writes without asking whose it is',
    changes: [
      withoutOwners,
      {
        file: service,
        from: 'return call.about === undefined || rights.owns(call.about);',
        to: 'return true;',
      },
    ],
    walk: findFaultsOfWrites,
  },
  {
    name: 'takes a token for one order as one for all of them',
    changes: [
      {
        file: 'gateway/caller/access.ts',
        from: '(orderIds === null || !subject.orderId || orderIds.includes(subject.orderId.toLowerCase())),',
        to: '(orderIds === null || subject !== null),',
      },
    ],
    walk: walkReads,
  },
  {
    name: 'streams without asking whose an event is',
    changes: [
      {
        file: updates,
        from: ': { userId: followed.userId, changesOnly: true };',
        to: ': { changesOnly: true };',
      },
      { file: updates, from: "if (standing !== 'own') return null;", to: '' },
    ],
    walk: walkStreams,
  },
];

/** Ends the walk, and closes its world, with the first thing it finds. */
async function firstOf(found: AsyncGenerator<string>): Promise<string> {
  for await (const fault of found) return fault;
  return 'nothing';
}

test.each(mutants)(
  'a gateway that $name is found out',
  async ({ walk, ...mutant }) => {
    using planted = plantMutant(mutant);
    const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
    expect(await firstOf(walk(createGateway))).toMatch(/another's|somebody else/);
  },
  60_000,
);
