import type { WorldSize } from './world.ts';

/** How much is measured. */
export interface Plan {
  readonly world: WorldSize;
  /** How many users ask for themselves. */
  readonly viewers: number;
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
  viewers: 60_000,
  rounds: 5,
  seconds: 2,
  warmUpSeconds: 3,
  webhooksPerSecond: 50,
  withPeers: true,
};

/** Whether the command works, not how fast anything is. */
const short: Plan = {
  ...full,
  world: { users: 100, ordersPerUser: 5 },
  viewers: 1000,
  rounds: 1,
  seconds: 0.1,
  warmUpSeconds: 0.02,
  withPeers: false,
};

export interface PlanOptions {
  readonly isShort: boolean;
  /** One round of a second with everything: whether every server gets its figures. */
  readonly isSmoke: boolean;
}

export function makePlan({ isShort, isSmoke }: PlanOptions): Plan {
  if (isShort) return short;
  return isSmoke ? { ...full, rounds: 1, seconds: 1, warmUpSeconds: 1 } : full;
}
