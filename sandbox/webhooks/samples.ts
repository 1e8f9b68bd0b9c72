import { latestAppointment, presentAppointment, sampleAppointment } from '../appointments/appointment.ts';
import { presentJob, sampleJob } from '../lab-reports/job.ts';
import type { Order } from '../orders/order.ts';
import { presentOrder } from '../orders/present.ts';
import { examplesOf } from '../wearables/examples.ts';
import type { User } from '../world/users.ts';
import type { World } from '../world/world.ts';
import { criticalResultOf } from './announcer.ts';

/** What a sample is about. */
export interface SampleSubject {
  readonly world: World;
  readonly user: User;
  /** Null where the user has none. */
  readonly order: Order | null;
  readonly now: number;
}

/** The families of event types whose data are those of an order; without an order there is no sample. */
const ofOrder: readonly (readonly [
  prefix: string,
  dataOf: (order: Order, subject: SampleSubject) => unknown,
])[] = [
  ['labtest.order.', (order, { world }) => presentOrder(world, order)],
  ['labtest.result.', (order, { world }) => criticalResultOf(world, order)],
  ['labtest.appointment.', appointmentOf],
];

/**
 * Data for an event of any type of the specification, as the service would send it about this user; an empty object for
 * other types. Null when the type needs an order.
 */
export function sampleOf(eventType: string, subject: SampleSubject): unknown {
  const { world, user, order, now } = subject;
  const [, dataOf] = ofOrder.find(([prefix]) => eventType.startsWith(prefix)) ?? [];
  if (dataOf !== undefined) return order === null ? null : dataOf(order, subject);
  if (eventType.startsWith('lab_report.parsing_job.')) return jobOf(eventType, subject);
  const examples = examplesOf(world, user, now);
  const resource = /^daily\.data\.(\w+)\./.exec(eventType)?.[1];
  const family = eventType.startsWith('historical.data.') ? 'historical.data.activity.created' : eventType;
  const same = examples.find((example) => example.eventType === family.replace(/\.updated$/, '.created'));
  if (same !== undefined) return same.data;
  // Any other resource is a batch of samples, such as calories_active.
  return resource === undefined
    ? {}
    : examples.find((example) => example.eventType === 'daily.data.steps.created')?.data;
}

function appointmentOf(order: Order, { world, now }: SampleSubject): unknown {
  return presentAppointment(world, latestAppointment(world, order) ?? sampleAppointment(world, order, now));
}

/** The job is `started` in an event of its creation, and has ended in an update. */
function jobOf(eventType: string, { world, user, now }: SampleSubject): unknown {
  const known = world.state.labReports.findLast(({ userId }) => userId === user.id);
  const job = known ?? sampleJob(world, user.id, now);
  if (eventType.endsWith('.created')) {
    return presentJob(world, { ...job, status: 'started', isReviewed: false });
  }
  return presentJob(world, { ...job, status: job.willFail === null ? 'completed' : 'failed' });
}
