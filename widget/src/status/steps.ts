import { type OrderStage, type PortalOrder, WAY } from '../live/order.ts';

/** `reached`: begun at some time, but the order is not there now, or ended there. Never shown as done. */
type StepState = 'done' | 'current' | 'reached' | 'ahead';

/** One stage of an order's way. At most one step of a list is `current`. */
export interface Step {
  readonly stage: OrderStage;
  readonly state: StepState;
}

/**
 * The steps a patient sees. Stages are not monotonic: the current step is where the order is, and a later stage that the
 * order has seen has its own mark instead of a tick. One way back is none for the patient: a test kit that is registered
 * after its delivery goes back to RECEIVED, and the patient still has the kit.
 */
export function readSteps(order: PortalOrder): readonly Step[] {
  const seen = [...order.events.map((event) => event.stage), order.status.stage];
  // An on-site collection has no collecting stage unless the service reports one.
  const way = WAY.filter(
    (stage) => stage !== 'COLLECTING_SAMPLE' || order.method !== 'ON_SITE_COLLECTION' || seen.includes(stage),
  );
  const furthest = Math.max(0, ...seen.map((stage) => way.indexOf(stage)));
  const { stage } = order.status;
  if (stage === 'CANCELLED' || stage === 'FAILED') return endedSteps(way.slice(0, furthest + 1), stage);

  const known = seen.findLast((candidate) => way.includes(candidate));
  const hasKit = known === 'RECEIVED' && seen.includes('COLLECTING_SAMPLE');
  const current = hasKit ? way.indexOf('COLLECTING_SAMPLE') : way.indexOf(known ?? 'UNKNOWN');
  return way.map((step, index) => ({ stage: step, state: readState(index, current, furthest) }));
}

/** The reached stages, then the end. The stage in which an order ended was begun and not done; placing it was done. */
function endedSteps(reached: readonly OrderStage[], end: OrderStage): readonly Step[] {
  const steps = reached.map((stage, index): Step => {
    const isDone = index === 0 || index < reached.length - 1;
    return { stage, state: isDone ? 'done' : 'reached' };
  });
  return [...steps, { stage: end, state: 'current' }];
}

function readState(index: number, current: number, furthest: number): StepState {
  if (index === current) return 'current';
  if (index < current) return 'done';
  if (index > furthest) return 'ahead';
  return current < 0 ? 'done' : 'reached';
}
