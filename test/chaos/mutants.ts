import type { Mutant } from '../support/plant-mutant.ts';

/** A fault in what a stream does by itself, for which no part can be replaced. */
export const mutants: readonly Mutant[] = [
  {
    name: 'tells again what came while its snapshot was read',
    changes: [
      {
        file: 'gateway/domain/order/stream/actions.ts',
        from: ' || latest.position > position;',
        to: ';',
      },
    ],
  },
];
