import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { limitFileSize } from '../support/full-disk.ts';
import type { GatewayVictim, Victim } from '../support/processes.ts';
import { childrenOf } from '../support/worker-processes.ts';

/** What was done so far. */
export interface Harm {
  kills: number;
  stops: number;
  diskFull: number;
  redisKills: number;
  gracefulEnds: number;
}

interface Harming {
  readonly gateways: readonly GatewayVictim[];
  /** Processes of each. */
  readonly workers: number;
  readonly redis: Victim | null;
  readonly harm: Harm;
  readonly isHarming: () => boolean;
}

/** One after the other, until enough was killed. */
export async function doHarm({ gateways, workers, redis, harm, isHarming }: Harming): Promise<void> {
  for (let turn = 0; isHarming(); turn += 1) {
    const victim = gateways[turn % gateways.length];
    if (victim === undefined) return;
    await wait(between(100, 500));
    // Each kind of harm comes once; then as it falls.
    await harmOne({ victim, workers, redis, harm, dice: turn < 4 ? (turn + 0.5) / 10 : Math.random() });
  }
}

/** Of several workers one is killed, and this often all at once. */
const wholeEvery = 3;

interface HarmingOne {
  readonly victim: GatewayVictim;
  readonly workers: number;
  readonly redis: Victim | null;
  readonly harm: Harm;
  /** From 0 to 1: what happens. */
  readonly dice: number;
}

/** A worker where there are several: whoever ends the primary ends all. */
function pickProcess(victim: GatewayVictim, workers: number): number {
  const primary = victim.pid() ?? 0;
  if (workers === 1) return primary;
  const processes = childrenOf(primary);
  return processes[Math.floor(Math.random() * processes.length)] ?? primary;
}

interface Killing {
  readonly pid: number;
  /** Whether the gateway is killed with all its processes. */
  readonly isWhole: boolean;
}

async function kill(victim: GatewayVictim, { pid, isWhole }: Killing): Promise<void> {
  if (!isWhole) {
    process.kill(pid, 'SIGKILL');
    return;
  }
  await victim.end('SIGKILL');
  await victim.start();
}

async function harmOne({ victim, workers, redis, harm, dice }: HarmingOne): Promise<void> {
  const pid = pickProcess(victim, workers);
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
    await kill(victim, { pid, isWhole: workers === 1 || harm.kills % wholeEvery === 0 });
  }
}

function between(lowMs: number, highMs: number): number {
  return lowMs + Math.random() * (highMs - lowMs);
}

/** Stops a process where it stands for a while, as a machine that swaps or sleeps does. */
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
