import { expect, test } from 'vitest';
import { plantMutant } from '../support/plant-mutant.ts';
import { viewers } from './scopes/askers.ts';
import { findAllFaults } from './scopes/faults.ts';
import { startWorld } from './scopes/world.ts';

test.each([
  {
    name: 'forgets the scopes that fields declare',
    changes: [{ file: 'gateway/graph/needs-scope.ts', from: 'context.service.require(scope);', to: '{}' }],
  },
  {
    name: 'takes a token for some orders as one for its user',
    changes: [
      {
        file: 'gateway/caller/access.ts',
        from: '&& (orderIds === null || !scopesOfUser.includes(scope)),',
        to: '&& scopesOfUser.length > 0,',
      },
    ],
  },
])(
  'a gateway that $name is found out',
  async (mutant) => {
    using planted = plantMutant(mutant);
    const { createGateway } = await import(`${planted.source}/gateway/gateway.ts`);
    await using mutated = await startWorld({ make: createGateway });
    const asker = viewers.find(({ title }) => title === 'a token for some orders with all scopes');
    expect(await findAllFaults(mutated, asker ? [asker] : [])).toContain(
      'Order.patient is shown, not FORBIDDEN, to a token for some orders with all scopes',
    );
  },
  60_000,
);
