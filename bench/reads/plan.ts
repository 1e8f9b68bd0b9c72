import type { WorldSize } from './world.ts';

/** How much is measured. */
export interface Plan {
  readonly world: WorldSize;
  /** How many requests are asked at the same time. */
  readonly connections: number;
  /** Each figure is the median of so many measurements. */
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly webhooksPerSecond: number;
  /** Without them only the gateway and bare node:http are measured, and nothing is installed. */
  readonly withPeers: boolean;
}

const full: Plan = {
  world: { users: 1000, ordersPerUser: 5 },
  connections: 32,
  rounds: 3,
  seconds: 3,
  warmUpSeconds: 4,
  webhooksPerSecond: 50,
  withPeers: true,
};

/** Whether the command works, not how fast anything is. */
const short: Plan = {
  ...full,
  world: { users: 100, ordersPerUser: 5 },
  connections: 4,
  rounds: 1,
  seconds: 0.1,
  warmUpSeconds: 0.02,
  withPeers: false,
};

/** @param users how many there are, each with five orders; left out for the usual number */
export function makePlan(isShort: boolean, users?: number): Plan {
  const plan = isShort ? short : full;
  return users === undefined ? plan : { ...plan, world: { ...plan.world, users } };
}
