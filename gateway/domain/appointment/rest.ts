import type { Write } from '../../service/calls.ts';
import type { Service } from '../../service/service.ts';
import { readAddress } from '../address/rest.ts';
import { writeUnderKey } from '../order/place/rest-idempotency.ts';
import type { CurrentOrder } from '../order/read/rest-order.ts';
import {
  flag,
  id,
  integer,
  list,
  number,
  optional,
  record,
  required,
  requiredList,
  text,
  timestamp,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';
import type { NewHomeAddress } from '../user/rest-demographics.ts';

export type Appointment = ReturnType<typeof parseAppointment>;
export type AppointmentEvent = Appointment['events'][number];
export type CancellationReason = ReturnType<typeof readReason>;
export type Coordinates = NonNullable<ReturnType<typeof readCoordinates>>;

/** The two kinds of appointment, each with its own paths. */
export type AppointmentKind = 'phlebotomy' | 'patient_service_center';

const paths: Readonly<Record<AppointmentKind, string>> = {
  phlebotomy: 'phlebotomy',
  patient_service_center: 'psc',
};

const kindOfMethod: ReadonlyMap<string | null, AppointmentKind | null> = new Map([
  ['at_home_phlebotomy', 'phlebotomy'],
  ['walk_in_test', 'patient_service_center'],
  ['testkit', null],
  ['on_site_collection', null],
]);

/** Which kind of appointment orders of this method have; null for kits, on-site collection and new methods. */
export function appointmentKindOf(method: string | null): AppointmentKind | null {
  return kindOfMethod.get(method) ?? null;
}

/** Whether orders of this method are known to have no appointment of this kind; false for new methods. */
export function hasNoAppointment(method: string | null, kind: AppointmentKind): boolean {
  return kindOfMethod.has(method) && appointmentKindOf(method) !== kind;
}

/** The path of an order's appointment, or of an action on it. */
function appointmentPath(kind: AppointmentKind, orderId: string, action = ''): string {
  return `/v3/order/${encodeURIComponent(orderId)}/${paths[kind]}/appointment${action}`;
}

export const readCoordinates = optional(
  record((raw) => ({ longitude: required(raw, 'lng', number), latitude: required(raw, 'lat', number) })),
);

/** The distance in miles; samples of the public service send the number as text. */
export function readDistance(json: unknown): number | null {
  return typeof json === 'string' && /^\d{1,9}$/.test(json) ? Number(json) : integer(json);
}

const readEvents = list(
  record((raw) => ({
    createdAt: timestamp(raw.created_at),
    status: required(raw, 'status', text),
    details: raw.data ?? null,
  })),
);

/** Reads an appointment as the service sends it. @throws Unreadable when it is none */
const parseAppointment = record((raw) => {
  const address = readAddress(raw.address);
  return {
    id: required(raw, 'id', id),
    userId: id(raw.user_id),
    orderId: id(raw.order_id),
    transactionId: id(raw.order_transaction_id),
    address,
    location: readCoordinates(raw.location),
    startAt: timestamp(raw.start_at),
    endAt: timestamp(raw.end_at),
    timeZone: text(raw.iana_timezone),
    type: text(raw.type),
    provider: text(raw.provider),
    status: text(raw.status),
    providerId: text(raw.provider_id),
    externalId: text(raw.external_id),
    canReschedule: flag(raw.can_reschedule),
    // The specification returns both notes "in the appointment response"; the public service puts these into the address.
    accessNotes: text(raw.access_notes) ?? address?.accessNotes ?? null,
    appointmentNotes: text(raw.appointment_notes),
    eventStatus: text(raw.event_status),
    eventData: raw.event_data ?? null,
    events: readEvents(raw.events),
  };
});

/** The appointment in a webhook's payload, or null when it cannot be read as one. */
export const readAppointment = optional(parseAppointment);

/** Whether there is an appointment that is neither cancelled nor over. */
export function isActive(appointment: Appointment | null): boolean {
  return appointment !== null && !['cancelled', 'completed'].includes(appointment.status ?? '');
}

/**
 * The appointment of an order, or null (`GET /v3/order/{order_id}/phlebotomy/appointment`, `.../psc/...`).
 * An answer that names no owner belongs to the owner of the order.
 */
export function getAppointment(
  service: Service,
  order: CurrentOrder,
  kind: AppointmentKind,
): Promise<Appointment | null> {
  return service.readOne({
    operation: 'appointment.get',
    method: 'GET',
    path: appointmentPath(kind, order.id),
    reader: parseAppointment,
    scope: 'read:orders',
    owner: (appointment) => ({
      userId: appointment.userId ?? order.userId,
      orderId: appointment.orderId ?? order.id,
    }),
    about: { userId: order.userId, orderId: order.id },
  });
}

const readReason = record((raw) => {
  const name = text(raw.name);
  return {
    id: required(raw, 'id', id),
    name,
    isRefundable: flag(raw.is_refundable),
    // Observed: the service refuses this reason without notes.
    needsNotes: name?.trim().toLowerCase() === 'other',
  };
});

const readReasons = requiredList(readReason);

/** Why appointments of a kind are cancelled (`GET /v3/order/phlebotomy/appointment/cancellation-reasons`). */
export async function listCancellationReasons(
  service: Service,
  kind: AppointmentKind,
): Promise<readonly CancellationReason[]> {
  const reasons = await service.readOne({
    operation: 'appointment.cancellation-reasons',
    method: 'GET',
    path: `/v3/order/${paths[kind]}/appointment/cancellation-reasons`,
    reader: readReasons,
    scope: 'read:orders',
    owner: 'anyone',
  });
  return reasons ?? [];
}

/** An address in the United States, where at-home appointments take place. */
export type VisitAddress = Omit<NewHomeAddress, 'country'>;

/** A slot, by its single-use key, and notes for the visitor. */
export interface Booking {
  readonly bookingKey: string;
  readonly appointmentNotes: string | null;
}

/** Options of bookings at service centers; each is an opt-in of the service. */
interface CenterBooking extends Booking {
  /** The lab may confirm later: the appointment stays pending meanwhile. */
  readonly asyncConfirmation: boolean | null;
  /** Names the attempt: the service answers a repeated one with its first answer for 14 days. */
  readonly reference: string | null;
}

export interface AppointmentRequest {
  readonly address: VisitAddress;
  readonly provider: string;
  readonly appointmentNotes: string | null;
}

export interface Cancellation {
  readonly cancellationReasonId: string;
  readonly notes: string | null;
}

/** Whose appointment is changed. */
export interface Visit {
  readonly kind: AppointmentKind;
  readonly order: CurrentOrder;
}

/** The address in the service's spelling. */
export function toServiceAddress({ zip, ...address }: VisitAddress) {
  return toRequestBody({ ...address, zipCode: zip });
}

interface Change {
  readonly name: string;
  readonly method: 'POST' | 'PATCH';
  readonly body: unknown;
  /** The service's idempotency key, where it takes one. */
  readonly key?: string | null;
}

/** Sent once; null when the service knows no such order or appointment (or, when booking, no such slot). */
function change(service: Service, { kind, order }: Visit, { name, method, body, key = null }: Change) {
  const write: Write<Appointment> = {
    operation: `appointment.${name}`,
    method,
    path: appointmentPath(kind, order.id, `/${name}`),
    body,
    reader: parseAppointment,
    owner: ({ userId, orderId }) => ({ userId: userId ?? order.userId, orderId: orderId ?? order.id }),
    scope: 'write:appointments',
    about: { userId: order.userId, orderId: order.id },
  };
  return key === null ? service.write(write) : writeUnderKey(service, key, write);
}

/** Books a slot for a visit at home (`POST /v3/order/{order_id}/phlebotomy/appointment/book`). */
export function bookAppointment(service: Service, visit: Visit, booking: Booking) {
  return change(service, visit, { name: 'book', method: 'POST', body: toRequestBody(booking) });
}

/**
 * Books a slot at a service center (`POST /v3/order/{order_id}/psc/appointment/book`).
 * @throws GatewayError IDEMPOTENCY_UNSETTLED while the service still works on the same reference
 */
export function bookCenterAppointment(service: Service, visit: Visit, booking: CenterBooking) {
  const { reference, ...body } = booking;
  return change(service, visit, { name: 'book', method: 'POST', body: toRequestBody(body), key: reference });
}

/** Asks a provider that names the time itself (`POST .../phlebotomy/appointment/request`). */
export function requestAppointment(service: Service, visit: Visit, request: AppointmentRequest) {
  const { address, provider, appointmentNotes } = request;
  const body = { address: toServiceAddress(address), ...toRequestBody({ provider, appointmentNotes }) };
  return change(service, visit, { name: 'request', method: 'POST', body });
}

/** Moves an appointment to another slot (`PATCH .../appointment/reschedule`). */
export function rescheduleAppointment(service: Service, visit: Visit, booking: Booking) {
  return change(service, visit, { name: 'reschedule', method: 'PATCH', body: toRequestBody(booking) });
}

/** Cancels an appointment (`PATCH .../appointment/cancel`); the service spells the two kinds' bodies differently. */
export function cancelAppointment(service: Service, visit: Visit, cancellation: Cancellation) {
  const { cancellationReasonId, notes } = cancellation;
  const body =
    visit.kind === 'patient_service_center'
      ? { cancellationReasonId, ...(notes === null ? {} : { note: notes }) }
      : toRequestBody({ cancellationReasonId, notes });
  return change(service, visit, { name: 'cancel', method: 'PATCH', body });
}
