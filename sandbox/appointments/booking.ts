import { refuse } from '../http/refusal.ts';
import { currentStatus, isUnderWay, type Order } from '../orders/order.ts';
import { advance } from '../orders/progress.ts';
import { partsOf, remainingPath, statusOf } from '../orders/states.ts';
import type { Service } from '../service.ts';
import { seededUuid } from '../world/ids.ts';
import type { Appointment, AppointmentType, VisitAddress } from '../world/state.ts';
import {
  activeAppointment,
  addAppointment,
  appointmentTypeOf,
  latestAppointment,
  presentAppointment,
  visitAddressOf,
} from './appointment.ts';
import { centerOfCode, homePlaceOf } from './places.ts';
import { endOf, type Slot, spendKey } from './slots.ts';

interface Reason {
  readonly id: string;
  readonly name: string;
  readonly is_refundable: boolean;
}

const names: Readonly<Record<AppointmentType, readonly (readonly [name: string, isRefundable: boolean])[]>> =
  {
    phlebotomy: [
      ['Time no longer suits', true],
      ['Patient is ill', true],
      ['Provider asked for it', true],
      ['Other', false],
    ],
    patient_service_center: [
      ['Time no longer suits', true],
      ['Another center suits better', true],
      ['Other', false],
    ],
  };

/** The reasons for cancelling appointments of this kind. */
export function reasonsOf(seed: number, type: AppointmentType): readonly Reason[] {
  return names[type].map(([name, isRefundable], index) => ({
    id: seededUuid(seed, `cancellation-reason/${type}`, index),
    name,
    is_refundable: isRefundable,
  }));
}

/** @throws Refusal 400 for an unknown reason, or one of the other kind */
function requireReason(seed: number, type: AppointmentType, reasonId: string): Reason {
  const reason = reasonsOf(seed, type).find(({ id }) => id === reasonId.toLowerCase());
  if (!reason) throw refuse(400, 'Cancellation reason does not exist');
  return reason;
}

/** Observed: this reason needs notes. */
function isReasonOther({ name }: Reason): boolean {
  return name === 'Other';
}

/** The order and the kind of appointment that a path names. */
export interface Visit {
  readonly order: Order;
  readonly type: AppointmentType;
}

interface Booking {
  readonly bookingKey: string;
  readonly notes: string | null;
}

function requireType({ order, type }: Visit): void {
  if (appointmentTypeOf(order.method) === type) return;
  throw refuse(400, `An order of method ${order.method} has no appointment of this kind`);
}

/** The steps to a scheduled appointment. @throws Refusal 400 where the status does not allow one */
function stepsTo(order: Order, step: string): readonly string[] {
  const remaining = remainingPath(order, currentStatus(order));
  const end = remaining.indexOf(statusOf(order.method, `collecting_sample.${step}`));
  const needsRequisition = remaining.some((status) => partsOf(status).step === 'requisition_created');
  if (end >= 0 && !needsRequisition) return remaining.slice(0, end + 1);
  throw refuse(400, `An appointment is not possible while the order is at ${currentStatus(order)}`);
}

function refuseSecond(service: Service, order: Order): void {
  if (activeAppointment(service.world, order)) throw refuse(400, 'The order has an active appointment');
}

function requireActive(service: Service, { order, type }: Visit): Appointment {
  const appointment = activeAppointment(service.world, order);
  if (appointment?.type !== type) throw refuse(404, 'No active appointment for this order');
  return appointment;
}

function takeSlot({ world, clock }: Service, { order, type }: Visit, key: string): Slot {
  const slot = spendKey(world, key, clock.now());
  const isCenter = centerOfCode(slot.place.code) !== undefined;
  if (isCenter === (type === 'patient_service_center')) return slot;
  throw refuse(400, `The booking key is not for an order of method ${order.method}`);
}

function addressOf(order: Order, { place }: Slot): VisitAddress {
  const center = centerOfCode(place.code);
  if (!center) return visitAddressOf(order);
  const { firstLine, city, state, zip } = center;
  return { first_line: firstLine, second_line: null, city, state, zip_code: zip, access_notes: null };
}

function schedule(appointment: Appointment, slot: Slot, event: { at: number; isReschedule: boolean }): void {
  appointment.placeCode = slot.place.code;
  appointment.startAt = slot.startAt;
  appointment.endAt = endOf(slot);
  const data = { origin: 'patient', is_reschedule: event.isReschedule };
  appointment.events.push({ createdAt: event.at, status: 'scheduled', data });
}

/** Moves the order and sends the webhooks of both; the order's events first, as the requisition flow does. */
function announce(
  service: Service,
  appointment: Appointment,
  moves: { order: Order; to: readonly string[] },
) {
  const { world, announcer } = service;
  const { order, to } = moves;
  for (const status of to) advance(service, order, { status });
  const eventType =
    appointment.events.length > 1 ? 'labtest.appointment.updated' : 'labtest.appointment.created';
  const subject = { userId: order.userId, orderId: order.id };
  announcer.send(eventType, presentAppointment(world, appointment), subject);
}

/** Books a slot. @throws Refusal 400 */
export function book(service: Service, visit: Visit, { bookingKey, notes }: Booking): Appointment {
  const { order, type } = visit;
  requireType(visit);
  refuseSecond(service, order);
  const to = stepsTo(order, 'appointment_scheduled');
  const slot = takeSlot(service, visit, bookingKey);
  const appointment = addAppointment(service.world, order, {
    type,
    provider: type === 'phlebotomy' ? 'getlabs' : 'quest',
    place: slot.place,
    address: addressOf(order, slot),
    notes,
  });
  schedule(appointment, slot, { at: service.clock.now(), isReschedule: false });
  announce(service, appointment, { order, to });
  return appointment;
}

/** Asks a provider that names the time itself. @throws Refusal 400 */
export function request(
  service: Service,
  visit: Visit,
  asked: { readonly address: VisitAddress; readonly provider: string; readonly notes: string | null },
): Appointment {
  const { order, type } = visit;
  requireType(visit);
  refuseSecond(service, order);
  if (asked.provider !== 'phlebfinders') throw refuse(400, 'The provider takes bookings, not requests');
  const isPending = partsOf(currentStatus(order)).step === 'appointment_pending';
  const to = isPending ? [] : stepsTo(order, 'appointment_pending');
  const place = homePlaceOf(asked.address.zip_code);
  const { address, provider, notes } = asked;
  const appointment = addAppointment(service.world, order, { type, provider, place, address, notes });
  appointment.events.push({ createdAt: service.clock.now(), status: 'pending', data: null });
  announce(service, appointment, { order, to });
  return appointment;
}

/** Moves an appointment to another slot. @throws Refusal 400, 404 */
export function reschedule(service: Service, visit: Visit, { bookingKey, notes }: Booking): Appointment {
  const { order } = visit;
  requireType(visit);
  const appointment = requireActive(service, visit);
  if (!isUnderWay(order)) throw refuse(400, `The order ended at ${currentStatus(order)}`);
  if (appointment.startAt === null) throw refuse(400, 'The appointment has no time yet');
  const slot = takeSlot(service, visit, bookingKey);
  schedule(appointment, slot, { at: service.clock.now(), isReschedule: true });
  appointment.notes = notes ?? appointment.notes;
  const to = [statusOf(order.method, 'collecting_sample.appointment_scheduled')];
  announce(service, appointment, { order, to });
  return appointment;
}

/** Cancels the active appointment; an order that has ended does not change. @throws Refusal 400, 404 */
export function cancel(
  service: Service,
  visit: Visit,
  { reasonId, notes }: { readonly reasonId: string; readonly notes: string | null },
): Appointment {
  const { order, type } = visit;
  requireType(visit);
  const appointment = requireActive(service, visit);
  const reason = requireReason(service.world.state.seed, type, reasonId);
  if (isReasonOther(reason) && !notes?.trim()) throw refuse(400, 'Notes are required for this reason');
  const data = { origin: 'patient', cancellation_reason: reason.name };
  appointment.events.push({ createdAt: service.clock.now(), status: 'cancelled', data });
  const to = isUnderWay(order) ? [statusOf(order.method, 'collecting_sample.appointment_cancelled')] : [];
  announce(service, appointment, { order, to });
  return appointment;
}

/** The order's active appointment, or its last one. @throws Refusal 404 */
export function presentCurrent({ world }: Service, { order, type }: Visit) {
  const appointment = activeAppointment(world, order) ?? latestAppointment(world, order);
  if (appointment?.type !== type) throw refuse(404, 'Appointment not found');
  return presentAppointment(world, appointment);
}
