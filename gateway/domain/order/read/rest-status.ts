/** The stages an order passes: the specification's top-level statuses, and UNKNOWN for any other. */
const orderStages = [
  'RECEIVED',
  'COLLECTING_SAMPLE',
  'SAMPLE_WITH_LAB',
  'COMPLETED',
  'CANCELLED',
  'FAILED',
  'UNKNOWN',
] as const;
type OrderStage = (typeof orderStages)[number];

/** Every low-level status of the public service, with the words a person reads. */
export const orderSteps = {
  ORDERED: 'Ordered',
  REQUISITION_CREATED: 'Requisition created',
  REQUISITION_BYPASSED: 'Accepted without requisition',
  TRANSIT_CUSTOMER: 'Kit on its way to you',
  OUT_FOR_DELIVERY: 'Kit out for delivery',
  WITH_CUSTOMER: 'Kit delivered',
  TRANSIT_LAB: 'Sample on its way to the lab',
  DELIVERED_TO_LAB: 'Sample at the lab',
  COMPLETED: 'Results ready',
  FAILURE_TO_DELIVER_TO_LAB: 'Sample could not be delivered to the lab',
  FAILURE_TO_DELIVER_TO_CUSTOMER: 'Kit could not be delivered',
  PROBLEM_IN_TRANSIT_LAB: 'Problem on the way to the lab',
  PROBLEM_IN_TRANSIT_CUSTOMER: 'Problem on the way to you',
  SAMPLE_ERROR: 'Sample could not be used',
  APPOINTMENT_SCHEDULED: 'Appointment scheduled',
  APPOINTMENT_CANCELLED: 'Appointment cancelled',
  APPOINTMENT_PENDING: 'Appointment pending',
  DRAW_COMPLETED: 'Sample taken',
  CANCELLED: 'Cancelled',
  LOST: 'Sample lost',
  DO_NOT_PROCESS: 'Not to be processed',
  PARTIAL_RESULTS: 'Some results ready',
  AWAITING_REGISTRATION: 'Kit waiting to be registered',
  REGISTERED: 'Kit registered',
  REDRAW_AVAILABLE: 'New sample needed',
  CORRECTED: 'Results corrected',
  LAB_PROCESSING_BLOCKED: 'Lab needs more information',
} as const;
export type OrderStep = keyof typeof orderSteps;

const terminalSteps: ReadonlySet<string> = new Set([
  'COMPLETED',
  'CORRECTED',
  'CANCELLED',
  'DO_NOT_PROCESS',
  'SAMPLE_ERROR',
  'LOST',
  'FAILURE_TO_DELIVER_TO_CUSTOMER',
  'FAILURE_TO_DELIVER_TO_LAB',
  'REDRAW_AVAILABLE',
]);
const terminalStages: ReadonlySet<string> = new Set(['COMPLETED', 'CANCELLED', 'FAILED']);

const attentionSteps: ReadonlySet<string> = new Set([
  'PROBLEM_IN_TRANSIT_LAB',
  'PROBLEM_IN_TRANSIT_CUSTOMER',
  'FAILURE_TO_DELIVER_TO_LAB',
  'FAILURE_TO_DELIVER_TO_CUSTOMER',
  'SAMPLE_ERROR',
  'LOST',
  'DO_NOT_PROCESS',
  'REDRAW_AVAILABLE',
  'LAB_PROCESSING_BLOCKED',
  'APPOINTMENT_CANCELLED',
]);

/**
 * Status names that two pages of the public service's documents use for the ones its interface declares
 * (docs/service.md).
 */
const stepAliases: ReadonlyMap<string, OrderStep> = new Map([['TESTKIT_REGISTERED', 'REGISTERED']]);

/** One status as the service sent it, and as people and code can use it. */
export interface OrderStatus {
  readonly raw: string;
  readonly stage: OrderStage;
  /** The part that names the collection method, in upper case; unknown methods stay text. */
  readonly method: string | null;
  readonly step: OrderStep | null;
  readonly label: string;
  readonly isTerminal: boolean;
  readonly needsAttention: boolean;
}

/**
 * Takes apart `<stage>.<method>.<step>`, or a bare `<stage>`. Any other text is data too: UNKNOWN with the
 * cleaned text as label, never an error.
 */
export function readOrderStatus(raw: string): OrderStatus {
  const [stagePart = '', methodPart, stepPart] = raw.split('.').map((part) => part.trim().toUpperCase());
  const stage = orderStages.find((known) => known === stagePart) ?? 'UNKNOWN';
  const step = findStep(stepPart);
  return {
    raw,
    stage,
    method: methodPart || null,
    step,
    label: step === null ? labelOf(stepPart || stagePart) : orderSteps[step],
    isTerminal:
      step === null ? terminalStages.has(stage) : terminalSteps.has(step) || terminalStages.has(stage),
    needsAttention: stage === 'FAILED' || isAttentionStep(stepPart ?? ''),
  };
}

function isAttentionStep(step: string): boolean {
  return attentionSteps.has(step) || step.startsWith('PROBLEM_') || step.startsWith('FAILURE_');
}

/** The known step that a text in upper case names, or null. */
export function findStep(text: string | undefined): OrderStep | null {
  if (text === undefined) return null;
  const alias = stepAliases.get(text);
  if (alias !== undefined) return alias;
  return isOrderStep(text) ? text : null;
}

function isOrderStep(text: string): text is OrderStep {
  return Object.hasOwn(orderSteps, text);
}

/** A label for an unknown status: `held_at_customs` -> `Held at customs`. */
function labelOf(text: string): string {
  const words = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim();
  return words === '' ? 'Status unknown' : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
