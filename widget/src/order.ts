/** Where an order stands; a value this widget does not know is UNKNOWN. */
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

const STAGES: readonly string[] = [
  'RECEIVED',
  'COLLECTING_SAMPLE',
  'SAMPLE_WITH_LAB',
  'COMPLETED',
  'CANCELLED',
  'FAILED',
] satisfies OrderStage[];

const METHODS: readonly string[] = [
  'TESTKIT',
  'WALK_IN_TEST',
  'AT_HOME_PHLEBOTOMY',
  'ON_SITE_COLLECTION',
] satisfies CollectionMethod[];

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

/** What the widget knows of an order and shows to hosts. `testName` is null unless privacy is `full`. */
export interface PortalOrder {
  readonly id: string;
  readonly status: PortalOrderStatus;
  readonly method: CollectionMethod | null;
  readonly events: readonly PortalOrderEvent[];
  readonly testName: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** Narrows to an object whose fields can be read. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that is not empty, else null. */
export function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An order out of untrusted JSON, frozen; null where it is none. Unknown fields and enum values never hurt. */
export function readOrder(value: unknown): PortalOrder | null {
  if (!isFields(value)) return null;
  const id = readText(value.id);
  const status = readStatus(value.status);
  if (!id || !status) return null;
  const events = Array.isArray(value.events)
    ? value.events.map(readEvent).filter((event) => event !== null)
    : [];
  const method = readMethod(value.method);
  const testName = isFields(value.labTest) ? readText(value.labTest.name) : null;
  return Object.freeze({ id, status, method, events: Object.freeze(events), testName });
}

function readStatus(value: unknown): PortalOrderStatus | null {
  if (!isFields(value)) return null;
  const raw = readText(value.raw) ?? '';
  const label = readText(value.label) ?? raw;
  if (!label) return null;
  return Object.freeze({
    raw,
    label,
    stage: readStage(value.stage),
    step: readText(value.step),
    isTerminal: value.isTerminal === true,
    needsAttention: value.needsAttention === true,
  });
}

function readEvent(value: unknown): PortalOrderEvent | null {
  if (!isFields(value)) return null;
  const id = readText(value.id);
  if (!id) return null;
  const stage = isFields(value.status) ? readStage(value.status.stage) : 'UNKNOWN';
  return Object.freeze({ id, createdAt: readText(value.createdAt), stage });
}

function readStage(value: unknown): OrderStage {
  return typeof value === 'string' && STAGES.includes(value) ? (value as OrderStage) : 'UNKNOWN';
}

function readMethod(value: unknown): CollectionMethod | null {
  return typeof value === 'string' && METHODS.includes(value) ? (value as CollectionMethod) : null;
}
