import { expect, test } from 'vitest';
import { plantMutant } from '../support/plant-mutant.ts';
import { type ChaosPlan, type ChaosReport, faultKeys, runChaos } from './chaos.ts';
import { mutants } from './mutants.ts';

const root = new URL('../..', import.meta.url).pathname;
const short: Omit<ChaosPlan, 'store' | 'sharesPort'> = {
  messages: 600,
  kills: 3,
  users: 4,
  ordersPerUser: 5,
  source: root,
  stopEarly: false,
  patienceMs: 5000,
};
const noFaults = Object.fromEntries(faultKeys.map((key) => [key, 0]));

function faultsOf(report: ChaosReport): readonly string[] {
  return faultKeys.filter((key) => report[key] > 0);
}

test.each([
  { over: 'sqlite', store: 'sqlite', sharesPort: false },
  { over: 'redis', store: 'redis', sharesPort: false },
  { over: 'redis on one port', store: 'redis', sharesPort: true },
] as const)(
  'over $over nothing acknowledged is lost, repeated, out of order or told to the wrong user, whatever is killed',
  async ({ store, sharesPort }) => {
    const report = await runChaos({ ...short, store, sharesPort });
    expect(report).toMatchObject({ ...noFaults, kills: short.kills, acknowledged: report.sent });
    expect(report.sent).toBeGreaterThan(short.messages);
    expect(report.resumed).toBeGreaterThan(report.subscribers);
  },
  120_000,
);

test.each(mutants)(
  'a gateway that $name is found out',
  async (mutant) => {
    using planted = plantMutant(mutant);
    const plan: ChaosPlan = {
      ...short,
      store: 'sqlite',
      sharesPort: false,
      source: planted.source,
      stopEarly: true,
      patienceMs: 2500,
    };
    expect(faultsOf(await runChaos(plan))).not.toEqual([]);
  },
  120_000,
);
