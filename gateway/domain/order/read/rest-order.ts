import type { Owner } from '../../../auth/rights.ts';
import { readAddress } from '../../address/rest.ts';
import { readLabTest } from '../../lab-test/rest.ts';
import {
  day,
  flag,
  id,
  link,
  list,
  optional,
  record,
  required,
  text,
  texts,
  timestamp,
} from '../../parse.ts';
import { readPerson } from '../../user/rest-demographics.ts';

export type Order = ReturnType<typeof parseOrder>;
/**
 * An order as the service shows it to this caller now: its `userId` is the present owner. Any other `Order` may come
 * from a cached answer or an old webhook, of a time when the kit belonged to another user. Results, appointments and
 * documents of an order name no owner, so they are read for a current order only.
 */
export type CurrentOrder = Order & { readonly [current]: true };
declare const current: unique symbol;

export type OrderEvent = ReturnType<typeof readOrderEvent>;
export type OrderDetails = NonNullable<Order['details']>;
export type Shipment = NonNullable<Order['shipment']>;
export type OrderTransaction = NonNullable<Order['transaction']>;

const readOrderEvent = record((raw) => ({
  id: required(raw, 'id', id),
  createdAt: timestamp(raw.created_at),
  status: required(raw, 'status', text),
  statusDetail: text(raw.status_detail),
}));

const readEvents = list(readOrderEvent);
const readLastEvent = optional(readOrderEvent);
const readOrderedTest = optional(readLabTest);

const readShipment = optional(
  record((raw) => ({
    id: id(raw.id),
    outbound: {
      courier: text(raw.outbound_courier),
      trackingNumber: text(raw.outbound_tracking_number),
      trackingUrl: link(raw.outbound_tracking_url),
    },
    inbound: {
      courier: text(raw.inbound_courier),
      trackingNumber: text(raw.inbound_tracking_number),
      trackingUrl: link(raw.inbound_tracking_url),
    },
    notes: text(raw.notes),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  })),
);

const readMethodData = optional(
  record((raw) => ({
    id: id(raw.id),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
    appointmentId: id(raw.appointment_id),
    shipment: readShipment(raw.shipment),
  })),
);

/** The details that depend on the collection method. */
const readDetails = optional(record((raw) => ({ method: text(raw.type), data: readMethodData(raw.data) })));

const readTransactionOrders = list(
  record((raw) => ({
    id: required(raw, 'id', id),
    origin: text(raw.origin),
    parentId: id(raw.parent_id),
    step: text(raw.low_level_status),
    stepAt: timestamp(raw.low_level_status_created_at),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  })),
);

const readTransaction = optional(
  record((raw) => ({
    id: required(raw, 'id', id),
    status: text(raw.status),
    orders: readTransactionOrders(raw.orders),
  })),
);

const readPatient = optional(readPerson);
const readPhysician = optional(
  record((raw) => ({ firstName: text(raw.first_name), lastName: text(raw.last_name), npi: text(raw.npi) })),
);

/** An order as the service sends it. @throws Unreadable for anything else */
export const parseOrder = record((raw) => {
  const events = sortEvents(readEvents(raw.events), readLastEvent(raw.last_event));
  const labTest = readOrderedTest(raw.lab_test);
  const details = readDetails(raw.details);
  const lastEvent = events.at(-1) ?? null;
  return {
    id: required(raw, 'id', id),
    teamId: id(raw.team_id),
    userId: required(raw, 'user_id', id),
    status: lastEvent?.status ?? text(raw.status) ?? '',
    events,
    lastEvent,
    labTest,
    method: details?.method ?? labTest?.method ?? null,
    patient: readPatient(raw.patient_details),
    patientAddress: readAddress(raw.patient_address),
    shippingAddress: readAddress(raw.shipping_details),
    details: details?.data ?? null,
    shipment: details?.data?.shipment ?? null,
    transaction: readTransaction(raw.order_transaction),
    interpretation: text(raw.interpretation),
    origin: text(raw.origin),
    sampleId: text(raw.sample_id),
    notes: text(raw.notes),
    clinicalNotes: text(raw.clinical_notes),
    activateBy: day(raw.activate_by),
    hasAbn: flag(raw.has_abn),
    // One form of the order shape misspells the name (specification, Order object).
    healthInsuranceId: id(raw.health_insurance_id) ?? id(raw.health_insurace_id),
    requisitionFormUrl: link(raw.requisition_form_url),
    ...readPassthrough(text(raw.passthrough)),
    physician: readPhysician(raw.physician),
    billingType: text(raw.billing_type),
    priority: flag(raw.priority),
    icdCodes: texts(raw.icd_codes),
    hasMissingResults: flag(raw.has_missing_results),
    expectedResultBy: day(raw.expected_result_by_date),
    worstCaseResultBy: day(raw.worst_case_result_by_date),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  };
});

/** Oldest first by id (ids grow over the whole service), with `last_event` in its place when the list lacks it. */
function sortEvents(events: readonly OrderEvent[], last: OrderEvent | null): readonly OrderEvent[] {
  // As the service sends them.
  if (isSorted(events) && (last === null || last.id === events.at(-1)?.id)) return events;
  const byId = new Map(events.map((event) => [event.id, event]));
  if (last !== null && !byId.has(last.id)) byId.set(last.id, last);
  return [...byId.values()].sort((a, b) => Number(a.id) - Number(b.id));
}

/** Oldest first by id, and each once. */
function isSorted(events: readonly OrderEvent[]): boolean {
  let before = -Infinity;
  return events.every((event) => {
    const isLater = Number(event.id) > before;
    before = Number(event.id);
    return isLater;
  });
}

/**
 * The service has no idempotency for testkit orders, but returns `passthrough` on the order. So the reference of an
 * attempt is sent before the caller's own text, as `lg1:<reference>:<text>`, and an order whose answer was lost is
 * found by listing.
 */
const referenced = /^lg1:([0-9a-f]{32}):(.*)$/s;

/** The `passthrough` to send for an attempt. */
export function writePassthrough(reference: string, text: string | null): string {
  return `lg1:${reference}:${text ?? ''}`;
}

/** The caller's own text, and the reference of the attempt that made the order. */
function readPassthrough(sent: string | null): {
  readonly passthrough: string | null;
  readonly reference: string | null;
} {
  const [, reference = null, text = ''] = referenced.exec(sent ?? '') ?? [];
  return reference === null ? { passthrough: sent, reference } : { passthrough: text || null, reference };
}

export const ownerOfOrder = (order: Order): Owner => ({
  userId: order.userId,
  orderId: order.id,
  teamId: order.teamId,
});

/** For answers to reads, and for a webhook that is newer than every read. */
const asCurrent = (order: Order) => order as CurrentOrder;

/** An order in an answer to a read. @throws Unreadable */
export const parseCurrentOrder = (json: unknown) => asCurrent(parseOrder(json));

/** The order in a webhook's payload, or null when it cannot be read as one. */
export const readOrder = optional(parseOrder);

const ordersOfEvents = new WeakMap<object, Order | null>();

/** The same for an event, whose payload many streams share: it is read once. */
export function readOrderOfEvent(payload: unknown): Order | null {
  if (typeof payload !== 'object' || payload === null) return null;
  const known = ordersOfEvents.get(payload);
  if (known !== undefined) return known;
  const order = readOrder(payload);
  ordersOfEvents.set(payload, order);
  return order;
}

/**
 * The order in the newest webhook of an order, where that is newer than any read: it names the present owner. The caller
 * of this function checks whether that owner is the viewer.
 */
export function readNewestOrder(payload: unknown): CurrentOrder | null {
  const order = readOrder(payload);
  return order === null ? null : asCurrent(order);
}

/** The version of an order: the id of its last event, which grows; null where events are not numbered. */
export function versionOf(order: Order): number | null {
  const version = Number(order.lastEvent?.id);
  return Number.isSafeInteger(version) ? version : null;
}

/** The order and version that a webhook reports; null for other webhooks and for orders without a numbered event. */
export function versionOfOrder(
  eventType: string,
  payload: unknown,
): { readonly id: string; readonly version: number; readonly userId: string } | null {
  const order = eventType.startsWith('labtest.order.') ? readOrder(payload) : null;
  const version = order === null ? null : versionOf(order);
  if (order === null || version === null) return null;
  return { id: order.id.toLowerCase(), version, userId: order.userId };
}

/** The service's answer to a write of an order. */
export interface OrderAnswer {
  readonly order: Order;
  readonly serviceStatus: string | null;
  readonly serviceMessage: string | null;
}

/** Reads the answer to a write of an order, from the service or stored. @throws Unreadable */
export const readOrderAnswer = record(
  (raw): OrderAnswer => ({
    order: required(raw, 'order', parseOrder),
    serviceStatus: text(raw.status),
    serviceMessage: text(raw.message),
  }),
);
