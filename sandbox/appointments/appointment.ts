import { isUnderWay, type Order } from '../orders/order.ts';
import type { CollectionMethod } from '../orders/states.ts';
import { formatTimestamp } from '../world/clock.ts';
import { seededUuid } from '../world/ids.ts';
import type { Appointment, AppointmentStatus, AppointmentType, VisitAddress } from '../world/state.ts';
import type { World } from '../world/world.ts';
import { homePlaceOf, type Place, placeOfCode } from './places.ts';

const types: Partial<Readonly<Record<CollectionMethod, AppointmentType>>> = {
  at_home_phlebotomy: 'phlebotomy',
  walk_in_test: 'patient_service_center',
};

/** The kind of appointment that orders of this method have; undefined for kits and on-site collection. */
export function appointmentTypeOf(method: CollectionMethod): AppointmentType | undefined {
  return types[method];
}

function isActive({ events }: Appointment): boolean {
  const status = events.at(-1)?.status;
  return status !== 'cancelled' && status !== 'completed';
}

/** The order's newest appointment, whatever its state. */
export function latestAppointment({ state }: World, order: Order): Appointment | undefined {
  return state.appointments.findLast(({ orderId }) => orderId === order.id);
}

export function activeAppointment(world: World, order: Order): Appointment | undefined {
  const latest = latestAppointment(world, order);
  return latest && isActive(latest) ? latest : undefined;
}

/** The fields of a new appointment. */
interface NewAppointment {
  readonly type: AppointmentType;
  readonly provider: string;
  readonly place: Place;
  readonly address: VisitAddress;
  readonly notes: string | null;
}

/** An appointment without time and events. */
function createAppointment(id: string, order: Order, from: NewAppointment): Appointment {
  return {
    id,
    orderId: order.id,
    userId: order.userId,
    type: from.type,
    provider: from.provider,
    address: from.address,
    placeCode: from.place.code,
    startAt: null,
    endAt: null,
    notes: from.notes,
    events: [],
  };
}

/** An appointment without time and events, put into the world. */
export function addAppointment({ state }: World, order: Order, from: NewAppointment): Appointment {
  const { appointments, seed } = state;
  const id = seededUuid(seed, 'appointment', appointments.length);
  const appointment = createAppointment(id, order, from);
  appointments.push(appointment);
  return appointment;
}

/** The patient's address in the spelling of appointments, access notes included. */
export function visitAddressOf(order: Order): VisitAddress {
  const address = order.patientAddress;
  return {
    first_line: address?.first_line ?? '100 Example Street',
    second_line: address?.second_line ?? null,
    city: address?.city ?? 'Phoenix',
    state: address?.state ?? 'AZ',
    zip_code: address?.zip ?? '85004',
    access_notes: address?.access_notes ?? null,
  };
}

const statuses: Readonly<Record<AppointmentStatus, string>> = {
  pending: 'pending',
  scheduled: 'confirmed',
  completed: 'completed',
  cancelled: 'cancelled',
};

/** The appointment as the service shows it (public service: ClientFacingAppointment). */
export function presentAppointment(world: World, appointment: Appointment) {
  const last = appointment.events.at(-1);
  const place = placeOfCode(appointment.placeCode) ?? homePlaceOf(appointment.address.zip_code);
  const order = world.state.orders.find(({ id }) => id === appointment.orderId);
  return {
    id: appointment.id,
    user_id: appointment.userId,
    order_id: appointment.orderId,
    order_transaction_id: order?.transactionId ?? null,
    address: appointment.address,
    location: place.location,
    start_at: formatTime(appointment.startAt),
    end_at: formatTime(appointment.endAt),
    iana_timezone: place.timeZone,
    type: appointment.type,
    provider: appointment.provider,
    status: statuses[last?.status ?? 'pending'],
    provider_id: `EX-${appointment.id.slice(0, 8)}`,
    external_id: null,
    can_reschedule:
      isActive(appointment) && appointment.startAt !== null && order !== undefined && isUnderWay(order),
    appointment_notes: appointment.notes,
    event_status: last?.status ?? 'pending',
    event_data: last?.data ?? null,
    events: appointment.events.map(({ createdAt, status, data }) => ({
      created_at: formatTimestamp(createdAt),
      status,
      data,
    })),
  };
}

function formatTime(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTimestamp(timeMs);
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The fields of an appointment that was not booked. */
function unbooked(order: Order, type: AppointmentType): NewAppointment {
  const address = visitAddressOf(order);
  const provider = type === 'phlebotomy' ? 'getlabs' : 'quest';
  return { type, provider, place: homePlaceOf(address.zip_code), address, notes: null };
}

/** A plausible appointment of the order, for a sample; it is not stored. */
export function sampleAppointment({ state }: World, order: Order, at: number): Appointment {
  const id = seededUuid(state.seed, 'sample-appointment', order.ordinal);
  const type = appointmentTypeOf(order.method) ?? 'phlebotomy';
  const appointment = createAppointment(id, order, unbooked(order, type));
  schedule(appointment, at);
  return appointment;
}

/** The active appointment of an order, created where a simulation or the seed skipped its booking. */
function ensureAppointment(world: World, order: Order): Appointment | undefined {
  const type = appointmentTypeOf(order.method);
  if (type === undefined) return undefined;
  return activeAppointment(world, order) ?? addAppointment(world, order, unbooked(order, type));
}

function schedule(appointment: Appointment, at: number): void {
  if (appointment.startAt !== null) return;
  appointment.startAt = Math.floor(at / dayMs) * dayMs + 2 * dayMs + 16 * hourMs;
  appointment.endAt = appointment.startAt + hourMs;
  appointment.events.push({ createdAt: at, status: 'scheduled', data: { origin: 'provider' } });
}

/** The step that an order took. */
interface Step {
  readonly stage: string;
  readonly step: string;
  readonly at: number;
}

/** Updates the appointment of an order that moved without a booking; does nothing after a booking. */
export function followOrder(world: World, order: Order, { stage, step, at }: Step): void {
  if (step === 'appointment_scheduled') {
    const appointment = ensureAppointment(world, order);
    if (appointment) schedule(appointment, at);
    return;
  }
  const active = activeAppointment(world, order);
  // An appointment at a service center outlives its order (public service: cancel order).
  const endsVisit = (stage === 'cancelled' || stage === 'failed') && active?.type === 'phlebotomy';
  if (step === 'appointment_cancelled' || endsVisit)
    active?.events.push({ createdAt: at, status: 'cancelled', data: null });
  if (step === 'draw_completed' || step === 'partial_results' || step === 'completed') {
    active?.events.push({ createdAt: at, status: 'completed', data: null });
  }
}
