/** How a sample is taken (public service: LabTestCollectionMethod). */
export type CollectionMethod = 'testkit' | 'walk_in_test' | 'at_home_phlebotomy' | 'on_site_collection';

/** The lifecycle of an order. Its texts are `stage.step`; {@link statusOf} makes statuses of them. */
interface Lifecycle {
  readonly statuses: readonly string[];
  /** The statuses of an order without problems, first to last. */
  readonly successPath: readonly string[];
  /** The next status on the success path after a status that is not on it. */
  readonly returns: ReadonlyMap<string, string>;
  readonly cancellable: ReadonlySet<string>;
  /** For each status off the success path, the statuses that may precede it; failures and cancellations have their own rule. */
  readonly besides: Readonly<Record<string, readonly string[]>>;
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

const testkit: Lifecycle = {
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
  besides: {
    'collecting_sample.problem_in_transit_customer': kitShipping,
    'collecting_sample.problem_in_transit_lab': ['collecting_sample.transit_lab'],
    'sample_with_lab.lab_processing_blocked': ['sample_with_lab.delivered_to_lab'],
    'completed.corrected': ['completed.completed'],
  },
};

/** An unregistered kit is sent out first and registered by the patient: its stage goes back to `received`. */
const registrableTestkit: Lifecycle = {
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

/**
 * The lifecycle of a method that draws blood.
 * @param draw its statuses before the lab; the order can be cancelled in them
 * @param path those of its success path between the requisition and completion
 * @param more further statuses
 */
function drawnBy(
  draw: readonly string[],
  path: readonly [string, ...string[]],
  more: readonly string[] = [],
): Lifecycle {
  return {
    statuses: [
      ...everywhere.received,
      ...draw,
      ...more,
      'sample_with_lab.partial_results',
      ...everywhere.completed,
      'failed.sample_error',
      'cancelled.cancelled',
    ],
    successPath: ['received.ordered', 'received.requisition_created', ...path, 'completed.completed'],
    returns: new Map([
      ['received.requisition_bypassed', path[0]],
      ['collecting_sample.appointment_cancelled', 'collecting_sample.appointment_pending'],
      ['sample_with_lab.partial_results', 'completed.completed'],
    ]),
    cancellable: new Set([...everywhere.received, ...draw]),
    besides: {
      'collecting_sample.appointment_cancelled': [pending, scheduled],
      'collecting_sample.redraw_available': [...everywhere.appointments, 'sample_with_lab.partial_results'],
      'sample_with_lab.partial_results': [
        'sample_with_lab.draw_completed',
        'collecting_sample.draw_completed',
      ],
      'completed.corrected': ['completed.completed'],
    },
  };
}

const [pending, scheduled] = everywhere.appointments;

const lifecycles: Readonly<Record<CollectionMethod, Lifecycle>> = {
  testkit,
  walk_in_test: drawnBy(
    everywhere.appointments,
    [pending, scheduled, 'sample_with_lab.partial_results'],
    ['collecting_sample.redraw_available'],
  ),
  at_home_phlebotomy: drawnBy(
    [...everywhere.appointments, 'collecting_sample.draw_completed'],
    [pending, scheduled, 'collecting_sample.draw_completed'],
  ),
  on_site_collection: drawnBy(['sample_with_lab.draw_completed'], ['sample_with_lab.draw_completed']),
};

/** The two facts that select the lifecycle of an order. */
interface OrderKind {
  readonly method: CollectionMethod;
  readonly registrable: boolean;
}

function lifecycleOf(kind: OrderKind): Lifecycle {
  return kind.method === 'testkit' && kind.registrable ? registrableTestkit : lifecycles[kind.method];
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
export const allStatuses: readonly string[] = Object.entries(lifecycles).flatMap(([method, { statuses }]) =>
  statuses.map((status) => statusOf(method as CollectionMethod, status)),
);

/** Whether an order of this method can ever have this status. */
export function isStatusOfMethod(method: CollectionMethod, status: string): boolean {
  return lifecycles[method].statuses.some((each) => statusOf(method, each) === status);
}

/** The success path of an order, first status first. */
export function successPathOf(kind: OrderKind): readonly string[] {
  return lifecycleOf(kind).successPath.map((each) => statusOf(kind.method, each));
}

/** The rest of the success path after `status`; empty at its end and after a failure. */
export function remainingPath(kind: OrderKind, status: string): readonly string[] {
  const path = successPathOf(kind);
  const position = path.indexOf(status);
  if (position >= 0) return path.slice(position + 1);
  const next = lifecycleOf(kind).returns.get(stageAndStepOf(status));
  return next === undefined ? [] : path.slice(path.indexOf(statusOf(kind.method, next)));
}

/**
 * Whether an order may leave its success path for this status, or be corrected after its end
 * (public service: the diagrams of the lifecycles; failures at any time: observed).
 */
export function canLeavePath(kind: OrderKind, from: string, to: string): boolean {
  const [before, after] = [stageAndStepOf(from), stageAndStepOf(to)];
  if (after === 'cancelled.cancelled') return isCancellable(kind, from);
  const { besides } = lifecycleOf(kind);
  const isEnd = /^(failed|cancelled)\./.test(after);
  return isEnd ? remainingPath(kind, from).length > 0 : (besides[after]?.includes(before) ?? false);
}

/** Whether an order at this status may still be cancelled (public service: the cancel guide). */
export function isCancellable(kind: OrderKind, status: string): boolean {
  return lifecycleOf(kind).cancellable.has(stageAndStepOf(status));
}
