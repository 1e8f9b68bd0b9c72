import { expect, test } from 'vitest';
import { type Permission, Rights } from '../../gateway/auth/rights.ts';
import { bindService } from '../../gateway/service/service.ts';
import { type Fault, makeWith, withMembers } from '../support/replaced-parts.ts';
import { viewers } from './scopes/askers.ts';
import { findAllFaults } from './scopes/faults.ts';
import { startWorld } from './scopes/world.ts';

class RightsWithoutPermissions extends Rights {
  override require(): void {}
}

class RightsForAllOrders extends Rights {
  override require(permission: Permission): void {
    const { caller, onAccess } = this;
    new Rights(caller.kind === 'USER' ? { ...caller, orderIds: null } : caller, onAccess).require(permission);
  }
}

const faults: readonly Fault[] = [
  {
    name: 'forgets the scopes that fields declare',
    factories: {
      // Reads check their scopes inside of the service, and still do.
      bindService: (upstream, options) =>
        withMembers(bindService(upstream, options), () => ({
          rights: new RightsWithoutPermissions(options.rights.caller),
        })),
    },
  },
  {
    name: 'takes a token for some orders as one for its user',
    factories: {
      createRights: (caller, onAccess) => new RightsForAllOrders(caller, onAccess),
    },
  },
];

test.each(faults)(
  'a gateway that $name is found out',
  async (fault) => {
    await using world = await startWorld({ make: makeWith(fault) });
    const asker = viewers.find(({ title }) => title === 'a token for some orders with all scopes');
    expect(await findAllFaults(world, asker ? [asker] : [])).toContain(
      'Order.patient is shown, not FORBIDDEN, to a token for some orders with all scopes',
    );
  },
  60_000,
);
