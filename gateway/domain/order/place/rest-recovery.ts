import type { Service } from '../../../service/service.ts';
import { walkSentOrders } from '../read/rest.ts';
import type { Order } from '../read/rest-order.ts';
import type { NewOrder, NewTestkitOrder, PatientPart } from './rest.ts';

/** How far the service's clock may be behind ours. */
const clockSkewMs = 120_000;

/** An attempt whose answer was lost. */
interface LostAttempt {
  readonly userId: string;
  readonly reference: string;
  /** Whether an order without a reference may be the one of this attempt. */
  readonly isAlike: (order: Order) => boolean;
}

/** An answer that the service may have given to a lost attempt. */
export interface OrderAnswerFound {
  readonly orderId: string;
  readonly answer: unknown;
}

/**
 * The answers that the service may have given to a lost attempt, from five pages of the user's newest orders: the one with the
 * attempt's reference alone, or all that are alike where the service does not echo references (the specification does not
 * promise it).
 */
export async function findOrderAnswers(
  service: Service,
  { userId, reference, isAlike }: LostAttempt,
): Promise<readonly OrderAnswerFound[]> {
  const alike = new Map<string, OrderAnswerFound>();
  for await (const { rows } of walkSentOrders(service, { userId }, 5)) {
    for (const row of rows) {
      if (row === null) continue;
      const { order, json } = row;
      const orderId = order.id.toLowerCase();
      const found = { orderId, answer: { order: json, status: null, message: null } };
      if (order.reference === reference) return [found];
      if (order.reference === null && isAlike(order)) alike.set(orderId, found);
    }
  }
  return [...alike.values()];
}

/** Whether the order was placed then or later. */
export function isPlacedSince(order: Order, since: Date): boolean {
  const placedAt = order.createdAt ?? order.events[0]?.createdAt ?? null;
  return placedAt !== null && placedAt.getTime() >= since.getTime() - clockSkewMs;
}

/** Whether the order was placed then or later with the same lab test and address. */
export function isLikeTestkit(testkit: NewTestkitOrder, since: Date, order: Order): boolean {
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
export function isLikeOrder(placed: NewOrder, since: Date, order: Order): boolean {
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
