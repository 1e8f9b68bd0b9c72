import { type Fault, faults } from '../load/misbehave.ts';

/** How long it is, and how much happens. */
export interface Plan {
  readonly periods: number;
  readonly periodSeconds: number;
  /** Before the first period that counts. */
  readonly warmUpSeconds: number;
  readonly visitsPerSecond: number;
  readonly webhooksPerSecond: number;
  readonly passers: number;
  readonly users: number;
  readonly ordersPerUser: number;
}

const usualPeriods = 30;
const leastPeriodSeconds = 1;
/** After this time every cache has reached its TTL or its bound. */
const warmUpSeconds = 180;

/** A period is a minute of 30, and shorter with fewer: each has all the faults, so that periods can be compared. */
export function makePlan(minutes: number): Plan {
  const seconds = minutes * 60;
  const periodSeconds = Math.max(leastPeriodSeconds, seconds / usualPeriods);
  return {
    periods: Math.max(1, Math.round(seconds / periodSeconds)),
    periodSeconds,
    warmUpSeconds: Math.min(warmUpSeconds, seconds),
    visitsPerSecond: 60,
    webhooksPerSecond: 50,
    passers: 40,
    users: 200,
    ordersPerUser: 5,
  };
}

/** A way in which the service fails: faulty answers, a closed port, a stopped process. */
export type Harm = Fault | 'closed' | 'stopped';
const harms: readonly Harm[] = [...faults, 'closed', 'stopped'];

/** A stretch of a period, in milliseconds from its begin. */
export interface Window {
  readonly harm: Harm;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Two seconds of a minute for each. */
const harmShare = 1 / 30;

export function planHarm({ periodSeconds }: Plan): readonly Window[] {
  const periodMs = periodSeconds * 1000;
  return harms.map((harm, index) => {
    const fromMs = ((index + 0.5) / harms.length) * periodMs;
    return { harm, fromMs, toMs: fromMs + harmShare * periodMs };
  });
}

/** The time in which delayed requests are finished, as a multiple of the failure's duration. */
const recovery = 2;

/** Whether the service did not fail in this time, nor just before. */
export function isQuiet(
  windows: readonly Window[],
  { fromMs, toMs }: Pick<Window, 'fromMs' | 'toMs'>,
): boolean {
  return !windows.some((window) => {
    const lengthMs = window.toMs - window.fromMs;
    return fromMs < window.toMs + recovery * lengthMs && toMs > window.fromMs;
  });
}
