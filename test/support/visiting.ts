import type { Lab } from './lab.ts';

/** The two kinds of appointments, as mutations, paths and orders name them. */
export const visitKinds = [
  { name: 'Phlebotomy', path: 'phlebotomy', method: 'at_home_phlebotomy', type: 'PHLEBOTOMY' },
  { name: 'ServiceCenter', path: 'psc', method: 'walk_in_test', type: 'PATIENT_SERVICE_CENTER' },
] as const;
export type VisitKind = (typeof visitKinds)[number];

interface Slot {
  readonly bookingKey: string;
  readonly startAt: string;
}

/** What can be booked. */
export async function slotsOf(lab: Lab, kind: VisitKind): Promise<readonly Slot[]> {
  const field =
    kind.name === 'Phlebotomy'
      ? 'phlebotomyAvailability(input: { address: { firstLine: "100 Example Street", city: "Phoenix", state: "AZ", zip: "85004" } })'
      : 'serviceCenterAvailability(input: { lab: QUEST, zipCode: "85004" })';
  const answer = await lab.query(`{ days: ${field} { slots { bookingKey startAt } } }`);
  return answer.data.days.flatMap((day: { slots: Slot[] }) => day.slots);
}

/** An order of the kind at its requisition, without appointment. */
export async function readyOrder(lab: Lab, kind: VisitKind) {
  const order = lab.sandbox
    .orders()
    .find(({ method, status }) => method === kind.method && status.endsWith('.ordered'));
  if (!order) throw new Error('The world has no such order.');
  await lab.query(`mutation { simulateOrder(id: "${order.orderId}") { __typename } }`);
  return order;
}

/** A reason to cancel, by whether the service wants notes with it. */
export async function reasonOf(lab: Lab, kind: VisitKind, needsNotes: boolean): Promise<string> {
  const answer = await lab.query(
    `{ reasons: appointmentCancellationReasons(type: ${kind.type}) { id name isRefundable needsNotes } }`,
  );
  return answer.data.reasons.find((reason: { needsNotes: boolean }) => reason.needsNotes === needsNotes)?.id;
}
