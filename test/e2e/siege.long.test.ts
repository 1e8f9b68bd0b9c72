import { expect, test } from 'vitest';
import { attacks } from '../siege/attacks.ts';
import { findBrokenAnywhere } from '../siege/bounds.ts';
import { runRound } from '../siege/round.ts';

/** That memory is bounded at all: `npm run siege` holds it to its limit, which two attacks still exceed (docs/operations.md). */
const mostMiB = 800;

test.each(Object.keys(attacks))(
  'under %s memory is bounded, everybody else is answered, and SIGTERM ends the gateway',
  async (name) => {
    const report = await runRound({ name, quietMs: 500, attackMs: 3000 });
    expect({ report, broken: findBrokenAnywhere(report, mostMiB) }).toMatchObject({ broken: [] });
    // An attack that does nothing proves nothing.
    expect(Object.values(report.attack).some((count) => count > 0)).toBe(true);
  },
);
