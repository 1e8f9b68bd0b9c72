import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type ChaosPlan, type ChaosReport, faultKeys, runChaos } from './chaos.ts';
import { faults } from './faults.ts';

const short: Omit<ChaosPlan, 'store' | 'sharesPort'> = {
  messages: 600,
  kills: 3,
  users: 4,
  ordersPerUser: 5,
  stopEarly: false,
  maxQuietMs: 5000,
};
const noFaults = Object.fromEntries(faultKeys.map((key) => [key, 0]));

function faultsOf(report: ChaosReport): readonly string[] {
  return faultKeys.filter((key) => report[key] > 0);
}

test.each([
  { over: 'sqlite', store: 'sqlite', sharesPort: false },
  { over: 'redis', store: 'redis', sharesPort: false },
  { over: 'redis on one port', store: 'redis', sharesPort: true },
  { over: 'sqlite, through RabbitMQ', store: 'sqlite', sharesPort: false, broker: 'rabbitmq' },
  { over: 'sqlite, with pushes of Pub/Sub', store: 'sqlite', sharesPort: false, broker: 'pubsub' },
] as const)(
  'over $over nothing acknowledged is lost, repeated, out of order or sent to the wrong user, with any process killed',
  async ({ over: _, ...how }) => {
    const report = await runChaos({ ...short, ...how });
    expect(report).toMatchObject({ ...noFaults, kills: short.kills, acknowledged: report.sent });
    expect(report.sent).toBeGreaterThan(short.messages);
    expect(report.resumed).toBeGreaterThan(report.subscribers);
  },
  300_000,
);

test.each(Object.keys(faults))(
  'a gateway that %s is found out',
  async (fault) => {
    const main = fileURLToPath(new URL('./faulty-gateway.ts', import.meta.url));
    const over = { store: 'sqlite', sharesPort: false, main, env: { FAULT: fault } } as const;
    const report = await runChaos({ ...short, ...over, stopEarly: true, maxQuietMs: 2500 });
    // A crash would prove nothing.
    expect(report.crashes).toBe(0);
    expect(faultsOf(report)).not.toEqual([]);
  },
  120_000,
);
