import { expect, test } from 'vitest';
import { type AccessKind, type Owner, Rights } from '../../gateway/auth/rights.ts';
import type { GatewayFactories } from '../../gateway/gateway.ts';
import { bindService } from '../../gateway/service/service.ts';
import { ofEverybody } from '../chaos/faults.ts';
import { type Fault, makeWith, withMembers } from '../support/replaced-parts.ts';
import { walkMixedUp, walkReads, walkStreams } from './isolation/walks.ts';
import { findFaultsOfWrites, type Make } from './isolation/writes.ts';

type BindService = GatewayFactories['bindService'];

/** No answer is compared with who asks. */
const bindWithoutOwners: BindService = (upstream, options) =>
  withMembers(bindService(upstream, options), (service) => ({
    readOne: (read) => service.readOne({ ...read, owner: 'anyone' }),
    readPage: (read) => service.readPage({ ...read, owner: 'anyone' }),
    write: (write) => service.write({ ...write, owner: 'anyone' }),
  }));

/** Nor is anything that is asked or written: all of it passes for the caller's own. */
const bindWithoutSubjects: BindService = (upstream, options) =>
  withMembers(bindWithoutOwners(upstream, options), (service) => {
    const { userId } = options.rights;
    const own = userId === null ? {} : { about: { userId } };
    return {
      readOne: (read) => service.readOne({ ...read, ...own }),
      readPage: (read) => service.readPage({ ...read, ...own }),
      readFile: (read) => service.readFile({ ...read, ...own }),
      write: (write) => service.write({ ...write, ...own }),
    };
  });

/** Streams, unlike reads, ask the rights that the service shows. */
const bindWithoutStreamChecks: BindService = (upstream, options) =>
  withMembers(bindService(upstream, options), ({ rights }) => ({
    rights: new RightsWithoutOwners(rights.caller, rights.onAccess),
  }));

class RightsWithoutOwners extends Rights {
  override owns(): boolean {
    return true;
  }
}

class RightsForAllOrders extends Rights {
  override owns(owner: Owner, kind?: AccessKind): boolean {
    const { caller, onAccess } = this;
    const whole = caller.kind === 'TEAM' ? caller : { ...caller, orderIds: null };
    return new Rights(whole, onAccess).owns(owner, kind);
  }
}

const faults: readonly (Fault & { readonly walk: (make: Make) => AsyncGenerator<string> })[] = [
  {
    name: 'compares no answer with who asks',
    factories: { bindService: bindWithoutOwners },
    walk: walkReads,
  },
  {
    name: 'believes the service whose an order is',
    factories: { bindService: bindWithoutOwners },
    walk: walkMixedUp,
  },
  {
    name: 'writes without asking whose it is',
    factories: { bindService: bindWithoutSubjects },
    walk: findFaultsOfWrites,
  },
  {
    name: 'takes a token for one order as one for all of them',
    factories: {
      createRights: (caller, onAccess) => new RightsForAllOrders(caller, onAccess),
    },
    walk: walkReads,
  },
  {
    name: 'streams without asking whose an event is',
    factories: { bindService: bindWithoutStreamChecks },
    log: ofEverybody,
    walk: walkStreams,
  },
];

/** Ends the walk, and closes its world, with the first thing it finds. */
async function firstOf(found: AsyncGenerator<string>): Promise<string> {
  for await (const fault of found) return fault;
  return 'nothing';
}

test.each(faults)(
  'a gateway that $name is found out',
  async ({ walk, ...fault }) => {
    expect(await firstOf(walk(makeWith(fault)))).toMatch(/another's|somebody else/);
  },
  60_000,
);

test('a gateway whose replaced parts do the same is not', async () => {
  const make = makeWith({
    name: 'none',
    factories: {
      bindService: (upstream, options) => withMembers(bindService(upstream, options), () => ({})),
    },
    log: (log) => ({ read: log.read.bind(log), wake: log.wake.bind(log) }),
  });
  for (const walk of [walkReads, walkMixedUp, walkStreams])
    expect(await Array.fromAsync(walk(make))).toEqual([]);
});
