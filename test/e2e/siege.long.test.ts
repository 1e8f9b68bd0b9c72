import { expect, test } from 'vitest';
import { attacks } from '../siege/attacks.ts';
import { findBrokenAnywhere } from '../siege/bounds.ts';
import { runRound } from '../siege/round.ts';

test.each(Object.keys(attacks))(
  'under %s memory is bounded, everybody else is answered, and SIGTERM ends the gateway',
  async (name) => {
    const report = await runRound({ name, quietMs: 500, attackMs: 3000 });
    expect({ report, broken: findBrokenAnywhere(report) }).toMatchObject({ broken: [] });
    // An attack that does nothing proves nothing.
    expect(Object.values(report.attack).some((count) => count > 0)).toBe(true);
  },
);
