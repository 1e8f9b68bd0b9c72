/** How a sample is taken (public service: LabTestCollectionMethod). */
export type CollectionMethod = 'testkit' | 'walk_in_test' | 'at_home_phlebotomy' | 'on_site_collection';

/** The rules of one order's life: `stage.step` texts, to be read with {@link statusOf}. */
interface Life {
  readonly statuses: readonly string[];
  /** What happens when all goes well, first to last. */
  readonly successPath: readonly string[];
  /** Where the success path goes on after a status beside it: [status, the next status on the path]. */
  readonly returns: ReadonlyMap<string, string>;
  readonly cancellable: ReadonlySet<string>;
}

const everywhere = {
  completed: ['completed.completed', 'completed.corrected'],
  received: ['received.ordered', 'received.requisition_created', 'received.requisition_bypassed'],
  appointments: [
    'collecting_sample.appointment_pending',
    'collecting_sample.appointment_scheduled',
    'collecting_sample.appointment_cancelled',
  ],
} as const;

const kitShipping = [
  'collecting_sample.transit_customer',
  'collecting_sample.out_for_delivery',
  'collecting_sample.with_customer',
] as const;

const kitReturn = [
  'collecting_sample.transit_lab',
  'sample_with_lab.delivered_to_lab',
  'completed.completed',
] as const;

const testkit: Life = {
  statuses: [
    ...everywhere.received,
    'received.awaiting_registration',
    'received.registered',
    ...kitShipping,
    'collecting_sample.transit_lab',
    'collecting_sample.problem_in_transit_customer',
    'collecting_sample.problem_in_transit_lab',
    'sample_with_lab.delivered_to_lab',
    'sample_with_lab.lab_processing_blocked',
    ...everywhere.completed,
    'failed.failure_to_deliver_to_customer',
    'failed.failure_to_deliver_to_lab',
    'failed.sample_error',
    'failed.lost',
    'cancelled.cancelled',
    'cancelled.do_not_process',
  ],
  successPath: ['received.ordered', 'received.requisition_created', ...kitShipping, ...kitReturn],
  returns: new Map([
    ['received.requisition_bypassed', 'collecting_sample.transit_customer'],
    ['collecting_sample.problem_in_transit_customer', 'collecting_sample.out_for_delivery'],
    ['collecting_sample.problem_in_transit_lab', 'sample_with_lab.delivered_to_lab'],
    ['sample_with_lab.lab_processing_blocked', 'completed.completed'],
  ]),
  cancellable: new Set([...everywhere.received, 'received.awaiting_registration', 'received.registered']),
};

/** An unregistered kit is sent out first and registered by the patient: its stage goes back to `received`. */
const registrableTestkit: Life = {
  ...testkit,
  successPath: [
    'received.ordered',
    'received.awaiting_registration',
    ...kitShipping,
    'received.registered',
    'received.requisition_created',
    ...kitReturn,
  ],
};

const walkIn: Life = {
  statuses: [
    ...everywhere.received,
    ...everywhere.appointments,
    'collecting_sample.redraw_available',
    'sample_with_lab.partial_results',
    ...everywhere.completed,
    'failed.sample_error',
    'cancelled.cancelled',
  ],
  successPath: [
    'received.ordered',
    'received.requisition_created',
    'collecting_sample.appointment_pending',
    'collecting_sample.appointment_scheduled',
    'sample_with_lab.partial_results',
    'completed.completed',
  ],
  returns: new Map([
    ['received.requisition_bypassed', 'collecting_sample.appointment_pending'],
    ['collecting_sample.appointment_cancelled', 'collecting_sample.appointment_pending'],
  ]),
  cancellable: new Set([...everywhere.received, ...everywhere.appointments]),
};

const atHome: Life = {
  statuses: [
    ...everywhere.received,
    ...everywhere.appointments,
    'collecting_sample.draw_completed',
    'sample_with_lab.partial_results',
    ...everywhere.completed,
    'failed.sample_error',
    'cancelled.cancelled',
  ],
  successPath: [
    'received.ordered',
    'received.requisition_created',
    'collecting_sample.appointment_pending',
    'collecting_sample.appointment_scheduled',
    'collecting_sample.draw_completed',
    'completed.completed',
  ],
  returns: new Map([
    ['received.requisition_bypassed', 'collecting_sample.appointment_pending'],
    ['collecting_sample.appointment_cancelled', 'collecting_sample.appointment_pending'],
    ['sample_with_lab.partial_results', 'completed.completed'],
  ]),
  cancellable: new Set([
    ...everywhere.received,
    ...everywhere.appointments,
    'collecting_sample.draw_completed',
  ]),
};

const onSite: Life = {
  statuses: [
    ...everywhere.received,
    'sample_with_lab.draw_completed',
    'sample_with_lab.partial_results',
    ...everywhere.completed,
    'failed.sample_error',
    'cancelled.cancelled',
  ],
  successPath: [
    'received.ordered',
    'received.requisition_created',
    'sample_with_lab.draw_completed',
    'completed.completed',
  ],
  returns: new Map([
    ['received.requisition_bypassed', 'sample_with_lab.draw_completed'],
    ['sample_with_lab.partial_results', 'completed.completed'],
  ]),
  cancellable: new Set([...everywhere.received, 'sample_with_lab.draw_completed']),
};

const lives: Readonly<Record<CollectionMethod, Life>> = {
  testkit,
  walk_in_test: walkIn,
  at_home_phlebotomy: atHome,
  on_site_collection: onSite,
};

/** What decides which life an order leads. */
interface OrderKind {
  readonly method: CollectionMethod;
  readonly registrable: boolean;
}

function lifeOf(kind: OrderKind): Life {
  return kind.method === 'testkit' && kind.registrable ? registrableTestkit : lives[kind.method];
}

/** `collecting_sample.transit_lab` of a testkit is the status `collecting_sample.testkit.transit_lab`. */
export function statusOf(method: CollectionMethod, stageAndStep: string): string {
  const [stage = '', step = ''] = stageAndStep.split('.');
  return `${stage}.${method}.${step}`;
}

/** The first and the last part of a status: `collecting_sample` and `transit_lab`. */
export function partsOf(status: string): { readonly stage: string; readonly step: string } {
  const parts = status.split('.');
  return { stage: parts[0] ?? '', step: parts[2] ?? '' };
}

function stageAndStepOf(status: string): string {
  const { stage, step } = partsOf(status);
  return `${stage}.${step}`;
}

/** All 54 statuses of all methods (public service: OrderStatus). */
export const allStatuses: readonly string[] = Object.entries(lives).flatMap(([method, life]) =>
  life.statuses.map((status) => statusOf(method as CollectionMethod, status)),
);

/** Whether an order of this method can ever have this status. */
export function isStatusOfMethod(method: CollectionMethod, status: string): boolean {
  return lives[method].statuses.some((each) => statusOf(method, each) === status);
}

/** The success path of an order, first status first. */
export function successPathOf(kind: OrderKind): readonly string[] {
  return lifeOf(kind).successPath.map((each) => statusOf(kind.method, each));
}

/** What is left of the success path after `status`; empty at its end and after a failure. */
export function remainingPath(kind: OrderKind, status: string): readonly string[] {
  const path = successPathOf(kind);
  const position = path.indexOf(status);
  if (position >= 0) return path.slice(position + 1);
  const next = lifeOf(kind).returns.get(stageAndStepOf(status));
  return next === undefined ? [] : path.slice(path.indexOf(statusOf(kind.method, next)));
}

/** Whether an order at this status may still be cancelled (public service: the cancel guide). */
export function isCancellable(kind: OrderKind, status: string): boolean {
  return lifeOf(kind).cancellable.has(stageAndStepOf(status));
}
