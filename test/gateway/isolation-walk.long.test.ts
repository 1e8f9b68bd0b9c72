import { expect, test } from 'vitest';
import { type Mutant, plantMutant } from '../support/plant-mutant.ts';
import { walkMixedUp, walkReads, walkStreams } from './isolation/walks.ts';
import { findFaultsOfWrites, type Make } from './isolation/writes.ts';

const service = 'gateway/upstream/service.ts';
const updates = 'gateway/domain/order/updates.ts';
const withoutOwners = {
  file: service,
  from: 'subject === null || rights.owns(subject);',
  to: 'true || subject;',
};
const mutants: readonly (Mutant & { readonly walk: (make: Make) => AsyncGenerator<string> })[] = [
  { name: 'compares no answer with who asks', changes: [withoutOwners], walk: walkReads },
  { name: 'believes the service whose an order is', changes: [withoutOwners], walk: walkMixedUp },
  {
    name: 'writes without asking whose it is',
    changes: [
      withoutOwners,
      {
        file: service,
        from: 'if (about === undefined || rights.owns(about)) return true;',
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
      {
        file: updates,
        from: "if (!context.service.mayShow({ as: 'stream', operation: 'order.updates', about })) return null;",
        to: '',
      },
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
