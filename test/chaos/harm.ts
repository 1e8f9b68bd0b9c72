import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { limitFileSize } from '../support/full-disk.ts';
import type { GatewayVictim, Victim } from '../support/processes.ts';

/** Counts of the harm done so far. */
export interface Harm {
  kills: number;
  stops: number;
  diskFull: number;
  redisKills: number;
  brokerKills: number;
  gracefulEnds: number;
}

interface Harming {
  readonly gateways: readonly GatewayVictim[];
  readonly redis: Victim | null;
  readonly broker: Victim | null;
  readonly harm: Harm;
  readonly isHarming: () => boolean;
  /** Whether enough messages came since the last kill for the next one. */
  readonly isDue: () => boolean;
  readonly onHarm: () => void;
}

/** One after the other, until enough was killed: spread over the messages, so that a slow machine does not only restart. */
export async function doHarm(harming: Harming): Promise<void> {
  const { gateways, redis, broker, harm, isHarming, isDue, onHarm } = harming;
  if (broker !== null) await killBroker(broker, harm);
  for (let turn = 0; isHarming(); turn += 1) {
    const victim = gateways[turn % gateways.length];
    if (victim === undefined) return;
    await wait(between(100, 500));
    while (isHarming() && !isDue()) await wait(20);
    // Seldom, because it takes 5 s to start.
    if (broker !== null && turn % 20 === 19) await killBroker(broker, harm);
    // Each kind of harm comes once; then as it falls.
    await harmOne({ victim, redis, harm, dice: turn < 4 ? (turn + 0.5) / 10 : Math.random() });
    onHarm();
  }
}

async function killBroker(broker: Victim, harm: Harm): Promise<void> {
  harm.brokerKills += 1;
  await broker.end('SIGKILL');
  await broker.start();
}

interface HarmingOne {
  readonly victim: GatewayVictim;
  readonly redis: Victim | null;
  readonly harm: Harm;
  /** From 0 to 1: what happens. */
  readonly dice: number;
}

async function harmOne({ victim, redis, harm, dice }: HarmingOne): Promise<void> {
  const pid = victim.pid() ?? 0;
  if (dice < 0.1) {
    harm.stops += 1;
    await freeze(pid, between(100, 1000));
  } else if (dice < 0.2 && redis === null) {
    harm.diskFull += 1;
    await fillDisk(pid, between(200, 600));
  } else if (dice < 0.2 && redis !== null) {
    harm.redisKills += 1;
    await redis.end('SIGKILL');
    await wait(between(0, 500));
    await redis.start();
  } else if (dice < 0.3) {
    harm.gracefulEnds += 1;
    await victim.end('SIGTERM');
    await victim.start();
  } else {
    harm.kills += 1;
    await victim.end('SIGKILL');
    await victim.start();
  }
}

function between(lowMs: number, highMs: number): number {
  return lowMs + Math.random() * (highMs - lowMs);
}

/** Pauses a process for a while, as a machine that swaps or sleeps does. */
async function freeze(pid: number, forMs: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await wait(forMs);
  process.kill(pid, 'SIGCONT');
}

/** For a while no file that the process writes can grow, as on a full disk. */
async function fillDisk(pid: number, forMs: number): Promise<void> {
  limitFileSize(pid, '0');
  await wait(forMs);
  limitFileSize(pid, 'unlimited');
}
