import type { FakeResults } from './fake-results.ts';

/** One status of an order as the gateway sends it. */
export interface FakeStatus {
  readonly raw: string;
  readonly stage: string;
  readonly step: string;
  readonly label: string;
  readonly isTerminal: boolean;
  readonly needsAttention: boolean;
}

/** One event of an order as the gateway sends it. */
export interface FakeOrderEvent {
  readonly id: string;
  readonly createdAt: string;
  readonly status: FakeStatus;
}

/** An order as the gateway sends it. */
export interface FakeOrder {
  readonly id: string;
  readonly method: string | null;
  readonly status: FakeStatus;
  readonly events: readonly FakeOrderEvent[];
  readonly labTest?: { readonly name: string };
  /** Its results, which only `<portal-results>` reads. */
  readonly results?: FakeResults | null;
}

/** The default order. */
export const FAKE_ORDER_ID = '3f1c1b1e-6f0a-4f43-9c7e-5a1d2b3c4d5e';

/** A status as the gateway sends it: `COLLECTING_SAMPLE`, `transit_customer`. */
export function fakeStatus(stage: string, step: string, more: Partial<FakeStatus> = {}): FakeStatus {
  const words = step.replaceAll('_', ' ');
  return {
    raw: `${stage}.${step}`.toLowerCase(),
    stage,
    step: step.toUpperCase(),
    label: words.charAt(0).toUpperCase() + words.slice(1),
    isTerminal: ['COMPLETED', 'CANCELLED', 'FAILED'].includes(stage),
    needsAttention: false,
    ...more,
  };
}

/**
 * An order that went through these `[stage, step]` pairs, one a day; the numbers of its events grow from 101.
 * `more` replaces fields of the result, such as its `method` (a test kit by default).
 */
export function fakeOrder(
  way: readonly (readonly [stage: string, step: string])[],
  more: Partial<FakeOrder> = {},
): FakeOrder {
  const events = way.map(([stage, step], index) => ({
    id: String(101 + index),
    createdAt: new Date(Date.UTC(2026, 2, 2 + index, 9, 30)).toISOString(),
    status: fakeStatus(stage, step),
  }));
  const status = events.at(-1)?.status ?? fakeStatus('RECEIVED', 'ordered');
  return { id: FAKE_ORDER_ID, method: 'TESTKIT', status, events, ...more };
}
