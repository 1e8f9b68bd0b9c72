import type { Service } from '../../../service/service.ts';
import { walkSentOrders } from '../read/rest.ts';
import type { Order } from '../read/rest-order.ts';
import type { NewOrder, NewTestkitOrder, PatientPart } from './rest.ts';

/** How far the service's clock may be behind ours. */
const clockSkewMs = 120_000;

/**
 * The answer that the service would have given to a lost attempt; null when none of the user's newest 500 orders matches.
 */
export async function findOrderAnswer(
  service: Service,
  userId: string,
  matches: (order: Order) => boolean,
): Promise<unknown> {
  for await (const rows of walkSentOrders(service, { userId }, 5)) {
    const found = rows.find((row) => row !== null && matches(row.order));
    if (found) return { order: found.json, status: null, message: null };
  }
  return null;
}

/** An attempt whose answer was lost. */
interface LostAttempt {
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
  testkit: NewTestkitOrder,
  { reference, since }: LostAttempt,
  order: Order,
): boolean {
  if (order.reference !== null) return order.reference === reference;
  const address = order.shippingAddress;
  return (
    isPlacedSince(order, since) &&
    (order.labTest?.id ?? testkit.labTestId).toLowerCase() === testkit.labTestId &&
    address?.receiverName === testkit.shipping.receiverName &&
    address.firstLine === testkit.shipping.firstLine &&
    address.zip === testkit.shipping.zip
  );
}

/** The same for an order of an order set, whose lab test may be one that was made for it. */
export function isOrderOf(placed: NewOrder, { reference, since }: LostAttempt, order: Order): boolean {
  if (order.reference !== null) return order.reference === reference;
  return isPlacedSince(order, since) && isForPatient(placed, order) && isOfOrderSet(placed, order);
}

/** Whether the order shows the patient of the request, at the same address. */
export function isForPatient(request: PatientPart, { patient, patientAddress: address }: Order): boolean {
  return (
    patient?.firstName === request.patientDetails.firstName &&
    patient.lastName === request.patientDetails.lastName &&
    patient.dob === request.patientDetails.dob &&
    address?.firstLine === request.patientAddress.firstLine &&
    address.zip === request.patientAddress.zip
  );
}

function isOfOrderSet({ orderSet: { labTestIds, addOn } }: NewOrder, { labTest }: Order): boolean {
  const isOneTest = labTestIds.length === 1 && addOn === null;
  return !isOneTest || !labTest?.id || labTestIds.includes(labTest.id.toLowerCase());
}
