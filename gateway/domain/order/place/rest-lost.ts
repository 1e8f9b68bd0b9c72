import type { Order } from '../read/rest.ts';
import type { NewTestkitOrder } from './rest.ts';
import type { NewOrder, PatientPart } from './rest-request.ts';

/** How far the service's clock may be behind ours. */
const clockSkewMs = 120_000;

/** An attempt whose answer was lost. */
export interface LostAttempt {
  readonly reference: string;
  /** When it began. */
  readonly since: Date;
}

/** Whether the order was placed then or later. */
export function isPlacedSince(order: Order, since: Date): boolean {
  const placedAt = order.createdAt ?? order.events[0]?.createdAt ?? null;
  return placedAt !== null && placedAt.getTime() >= since.getTime() - clockSkewMs;
}

/**
 * Whether the attempt made this order: it carries the attempt's reference; where the service does not echo one
 * (the specification does not promise it), it was placed since then with the same lab test and address.
 */
export function isTestkitOf(
  asked: NewTestkitOrder,
  { reference, since }: LostAttempt,
  order: Order,
): boolean {
  if (order.reference !== null) return order.reference === reference;
  const address = order.shippingAddress;
  return (
    isPlacedSince(order, since) &&
    (order.labTest?.id ?? asked.labTestId).toLowerCase() === asked.labTestId &&
    address?.receiverName === asked.shipping.receiverName &&
    address.firstLine === asked.shipping.firstLine &&
    address.zip === asked.shipping.zip
  );
}

/** The same for an order of an order set, whose lab test may be one that was made for it. */
export function isOrderOf(asked: NewOrder, { reference, since }: LostAttempt, order: Order): boolean {
  if (order.reference !== null) return order.reference === reference;
  return isPlacedSince(order, since) && isForPatient(asked, order) && isOfOrderSet(asked, order);
}

/** Whether the order shows the patient who was asked for, at the same address. */
export function isForPatient(asked: PatientPart, { patient, patientAddress: address }: Order): boolean {
  return (
    patient?.firstName === asked.patientDetails.firstName &&
    patient.lastName === asked.patientDetails.lastName &&
    patient.dob === asked.patientDetails.dob &&
    address?.firstLine === asked.patientAddress.firstLine &&
    address.zip === asked.patientAddress.zip
  );
}

function isOfOrderSet({ orderSet: { labTestIds, addOn } }: NewOrder, { labTest }: Order): boolean {
  const isOneTest = labTestIds.length === 1 && addOn === null;
  return !isOneTest || !labTest?.id || labTestIds.includes(labTest.id.toLowerCase());
}
