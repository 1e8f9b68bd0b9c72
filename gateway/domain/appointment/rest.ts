import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import type { CurrentOrder } from '../order/rest.ts';
import { flag, id, list, optionalId, requiredList, text, timestamp } from '../reading.ts';

export type Appointment = z.infer<typeof appointmentShape>;
export type AppointmentEvent = Appointment['events'][number];
export type CancellationReason = z.infer<typeof reasonShape>;
export type Coordinates = NonNullable<z.infer<typeof coordinatesShape>>;

/** The two kinds of appointment the service keeps under paths of their own. */
export type AppointmentKind = 'phlebotomy' | 'patient_service_center';

const paths: Readonly<Record<AppointmentKind, string>> = {
  phlebotomy: 'phlebotomy',
  patient_service_center: 'psc',
};

/** Which kind of appointment orders of this method have; null for kits, on-site collection and new methods. */
export function appointmentKindOf(method: string | null): AppointmentKind | null {
  if (method === 'at_home_phlebotomy') return 'phlebotomy';
  return method === 'walk_in_test' ? 'patient_service_center' : null;
}

/** The path of an order's appointment, or of an action on it. */
export function appointmentPath(kind: AppointmentKind, orderId: string, action = ''): string {
  return `/v3/order/${encodeURIComponent(orderId)}/${paths[kind]}/appointment${action}`;
}

export const coordinatesShape = z
  .object({ lng: z.number(), lat: z.number() })
  .transform((raw) => ({ longitude: raw.lng, latitude: raw.lat }))
  .nullable()
  .catch(null);

/** Appointments and places spell the postal code `zip_code` (public service: USAddress). */
export const visitAddressShape = z
  .object({
    first_line: text,
    second_line: text,
    city: text,
    state: text,
    zip_code: text,
    phone_number: text,
    access_notes: text,
  })
  .transform((raw) => ({
    receiverName: null,
    firstLine: raw.first_line,
    secondLine: raw.second_line,
    city: raw.city,
    state: raw.state,
    zip: raw.zip_code,
    country: null,
    phoneNumber: raw.phone_number,
    accessNotes: raw.access_notes,
  }))
  .nullable()
  .catch(null);

const eventShape = z
  .object({ created_at: timestamp, status: z.string(), data: z.unknown().optional() })
  .transform((raw) => ({ createdAt: raw.created_at, status: raw.status, details: raw.data ?? null }));

const appointmentShape = z
  .object({
    id,
    user_id: optionalId,
    order_id: optionalId,
    address: visitAddressShape,
    location: coordinatesShape,
    start_at: timestamp,
    end_at: timestamp,
    iana_timezone: text,
    type: text,
    provider: text,
    status: text,
    external_id: text,
    can_reschedule: flag,
    access_notes: text,
    appointment_notes: text,
    event_status: text,
    events: list(eventShape),
  })
  .transform((raw) => ({
    id: raw.id,
    userId: raw.user_id,
    orderId: raw.order_id,
    address: raw.address,
    location: raw.location,
    startAt: raw.start_at,
    endAt: raw.end_at,
    timeZone: raw.iana_timezone,
    type: raw.type,
    provider: raw.provider,
    status: raw.status,
    externalId: raw.external_id,
    canReschedule: raw.can_reschedule,
    // The specification returns both notes "in the appointment response"; the public service puts these into the address.
    accessNotes: raw.access_notes ?? raw.address?.accessNotes ?? null,
    appointmentNotes: raw.appointment_notes,
    eventStatus: raw.event_status,
    events: raw.events,
  }));

/** Reads what the service answered to a change of an appointment. @throws ZodError when it is none */
export function parseAppointment(json: unknown): Appointment {
  return appointmentShape.parse(json);
}

/** The appointment in a webhook's payload, or null when it cannot be read as one. */
export function readAppointment(payload: unknown): Appointment | null {
  return appointmentShape.safeParse(payload).data ?? null;
}

/** Whether the appointment still stands: neither cancelled nor over. */
export function isActive(appointment: Appointment): boolean {
  return appointment.status !== 'cancelled' && appointment.status !== 'completed';
}

/**
 * The appointment of an order, or null (`GET /v3/order/{order_id}/phlebotomy/appointment`, `.../psc/...`).
 * What the answer does not name an owner for belongs to the owner of the order.
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

const reasonShape = z.object({ id, name: text, is_refundable: flag }).transform((raw) => ({
  id: raw.id,
  name: raw.name,
  isRefundable: raw.is_refundable,
  // Observed: the service refuses this reason without notes.
  needsNotes: raw.name?.trim().toLowerCase() === 'other',
}));

const reasonList = requiredList(reasonShape);

/** Why appointments of a kind are cancelled (`GET /v3/order/phlebotomy/appointment/cancellation-reasons`). */
export async function listCancellationReasons(
  service: Service,
  kind: AppointmentKind,
): Promise<readonly CancellationReason[]> {
  const reasons = await service.readOne({
    operation: 'appointment.cancellation-reasons',
    method: 'GET',
    path: `/v3/order/${paths[kind]}/appointment/cancellation-reasons`,
    reader: (json) => reasonList.parse(json),
    scope: 'read:orders',
    owner: 'anyone',
  });
  return reasons ?? [];
}
