import type { PortalOrder } from '../live/order.ts';
import type { Strings } from '../words/strings.ts';

/** What comes next after the order's status, in words; undefined where the widget does not know the status. */
export function readNext({ status, method, events }: PortalOrder, { next }: Strings): string | undefined {
  let step = status.step?.replace('BYPASSED', 'CREATED') ?? '';
  // A kit that is registered after its delivery gets its requisition last: the person already has it.
  if (step === 'REQUISITION_CREATED' && method === 'TESTKIT' && events.some(isCollecting))
    step = 'REGISTERED';
  return next[`${method}.${step}`] ?? next[step];
}

function isCollecting({ stage }: PortalOrder['events'][number]): boolean {
  return stage === 'COLLECTING_SAMPLE';
}
