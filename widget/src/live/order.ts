import { readFields, readText } from '../gateway/fields.ts';

/** The stage of an order; a value that this widget does not know is UNKNOWN. */
export type OrderStage =
  | 'RECEIVED'
  | 'COLLECTING_SAMPLE'
  | 'SAMPLE_WITH_LAB'
  | 'COMPLETED'
  | 'CANCELLED'
  | 'FAILED'
  | 'UNKNOWN';

/** How the sample is taken. */
export type CollectionMethod = 'TESTKIT' | 'WALK_IN_TEST' | 'AT_HOME_PHLEBOTOMY' | 'ON_SITE_COLLECTION';

/** The way of an order that ends well, in its order. */
export const WAY: readonly OrderStage[] = ['RECEIVED', 'COLLECTING_SAMPLE', 'SAMPLE_WITH_LAB', 'COMPLETED'];

const STAGES: readonly OrderStage[] = [...WAY, 'CANCELLED', 'FAILED'];

const METHODS: readonly CollectionMethod[] = [
  'TESTKIT',
  'WALK_IN_TEST',
  'AT_HOME_PHLEBOTOMY',
  'ON_SITE_COLLECTION',
];

/** One status of an order. `raw` is the service's own text, `step` its low-level part or null when unknown. */
export interface PortalOrderStatus {
  readonly raw: string;
  readonly stage: OrderStage;
  readonly step: string | null;
  readonly label: string;
  readonly isTerminal: boolean;
  readonly needsAttention: boolean;
}

/** One event of an order; `createdAt` is an ISO 8601 time. */
export interface PortalOrderEvent {
  readonly id: string;
  readonly createdAt: string | null;
  readonly stage: OrderStage;
}

/** An order as the widget shows it to hosts. `testName` is null unless privacy is `full`. */
export interface PortalOrder {
  readonly id: string;
  readonly status: PortalOrderStatus;
  readonly method: CollectionMethod | null;
  readonly events: readonly PortalOrderEvent[];
  readonly testName: string | null;
}

/**
 * An order out of untrusted JSON, frozen; null where it is none. Unknown fields and enum values never hurt.
 * @param full whether the name of the test may be known; without, it is dropped even where it came
 */
export function readOrder(value: unknown, full = false): PortalOrder | null {
  const fields = readFields(value);
  const id = readText(fields.id);
  const status = readStatus(fields.status);
  if (!id || !status) return null;
  const events = Array.isArray(fields.events) ? fields.events.flatMap(readEvent) : [];
  return Object.freeze({
    id,
    status,
    method: readKnown(METHODS, fields.method),
    events: Object.freeze(events),
    testName: full ? readText(readFields(fields.labTest).name) : null,
  });
}

function readStatus(value: unknown): PortalOrderStatus | null {
  const fields = readFields(value);
  const raw = readText(fields.raw) ?? '';
  const label = readText(fields.label) ?? raw;
  if (!label) return null;
  return Object.freeze({
    raw,
    label,
    stage: readStage(fields.stage),
    step: readText(fields.step),
    isTerminal: fields.isTerminal === true,
    needsAttention: fields.needsAttention === true,
  });
}

function readEvent(value: unknown): PortalOrderEvent | readonly [] {
  const fields = readFields(value);
  const id = readText(fields.id);
  if (!id) return [];
  const stage = readStage(readFields(fields.status).stage);
  return Object.freeze({ id, createdAt: readText(fields.createdAt), stage });
}

function readStage(value: unknown): OrderStage {
  return readKnown(STAGES, value) ?? 'UNKNOWN';
}

function readKnown<Value>(known: readonly Value[], value: unknown): Value | null {
  return known.find((each) => each === value) ?? null;
}
