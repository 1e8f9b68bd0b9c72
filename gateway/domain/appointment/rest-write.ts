import type { Service } from '../../service/service.ts';
import type { CurrentOrder } from '../order/read/rest.ts';
import { toRequestBody } from '../request-body.ts';
import { type Appointment, type AppointmentKind, appointmentPath, parseAppointment } from './rest.ts';

/** An address in the United States, where at-home appointments take place. */
export interface VisitAddress {
  readonly firstLine: string;
  readonly secondLine: string | null;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly accessNotes: string | null;
}

/** A slot, by its single-use key, and what the visitor is to know. */
export interface Booking {
  readonly bookingKey: string;
  readonly appointmentNotes: string | null;
}

/** What only bookings at service centers take; each is an opt-in of the service. */
export interface CenterBooking extends Booking {
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
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sent once; null when the service knows no such order or appointment (or, when booking, no such slot). */
function change(service: Service, { kind, order }: Visit, { name, method, body, headers }: Change) {
  return service.write<Appointment>({
    operation: `appointment.${name}`,
    method,
    path: appointmentPath(kind, order.id, `/${name}`),
    body,
    ...(headers === undefined ? {} : { headers }),
    reader: parseAppointment,
    owner: ({ userId, orderId }) => ({ userId: userId ?? order.userId, orderId: orderId ?? order.id }),
    scope: 'write:appointments',
    about: { userId: order.userId, orderId: order.id },
  });
}

/** Books a slot for a visit at home (`POST /v3/order/{order_id}/phlebotomy/appointment/book`). */
export function bookAppointment(service: Service, visit: Visit, booking: Booking) {
  return change(service, visit, { name: 'book', method: 'POST', body: toRequestBody(booking) });
}

/** Books a slot at a service center (`POST /v3/order/{order_id}/psc/appointment/book`). */
export function bookCenterAppointment(service: Service, visit: Visit, booking: CenterBooking) {
  const { reference, ...body } = booking;
  // Only successes are stored: a stored refusal would be given back for days.
  const headers = { 'x-idempotency-key': reference ?? '', 'x-idempotency-error': 'no-cache' };
  return change(service, visit, {
    name: 'book',
    method: 'POST',
    body: toRequestBody(body),
    ...(reference === null ? {} : { headers }),
  });
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
