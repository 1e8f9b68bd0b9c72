/** One order event as the gateway sends it. */
export interface WireEvent {
  readonly id: string;
  readonly createdAt: string;
  readonly status: Readonly<Record<string, unknown>>;
}

/** An order as the gateway sends it. */
export interface WireOrder {
  readonly id: string;
  readonly method: string | null;
  readonly status: Readonly<Record<string, unknown>>;
  readonly events: readonly WireEvent[];
  readonly labTest?: { readonly name: string };
}

export const ORDER_ID = '3f1c1b1e-6f0a-4f43-9c7e-5a1d2b3c4d5e';

/** `transit_customer` of COLLECTING_SAMPLE becomes what the gateway says about it. */
export function wireStatus(stage: string, step: string, more: Readonly<Record<string, unknown>> = {}) {
  const words = step.replaceAll('_', ' ');
  const label = words.charAt(0).toUpperCase() + words.slice(1);
  const isTerminal = ['COMPLETED', 'CANCELLED', 'FAILED'].includes(stage);
  return {
    raw: `${stage}.${step}`.toLowerCase(),
    stage,
    step: step.toUpperCase(),
    label,
    isTerminal,
    needsAttention: false,
    ...more,
  };
}

/** An order that went through these `[stage, step]` pairs; event ids grow from 101. */
export function wireOrder(
  way: readonly (readonly [string, string])[],
  more: Partial<WireOrder> = {},
): WireOrder {
  const statuses = way.map(([stage, step]) => wireStatus(stage, step));
  const events = statuses.map((status, index) => ({
    id: String(101 + index),
    createdAt: new Date(Date.UTC(2026, 2, 2 + index, 9, 30)).toISOString(),
    status,
  }));
  const status = statuses.at(-1) ?? wireStatus('RECEIVED', 'ordered');
  return { id: ORDER_ID, method: 'TESTKIT', status, events, ...more };
}

/** The way of a test kit that has to be registered; its stages go back once. */
export const REGISTRABLE_KIT = [
  ['RECEIVED', 'ordered'],
  ['RECEIVED', 'awaiting_registration'],
  ['COLLECTING_SAMPLE', 'transit_customer'],
  ['COLLECTING_SAMPLE', 'with_customer'],
  ['RECEIVED', 'registered'],
  ['COLLECTING_SAMPLE', 'transit_lab'],
  ['SAMPLE_WITH_LAB', 'delivered_to_lab'],
  ['COMPLETED', 'completed'],
] as const;

/** That order after its first `count` events. */
export function kitAfter(count: number): WireOrder {
  return wireOrder(REGISTRABLE_KIT.slice(0, count));
}
