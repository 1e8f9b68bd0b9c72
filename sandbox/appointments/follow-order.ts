import type { Order } from '../orders/order.ts';
import type { World } from '../world/world.ts';
import { activeAppointment, addAppointment, appointmentTypeOf, visitAddressOf } from './appointment.ts';
import { homePlaceOf } from './places.ts';
import type { Appointment } from './state.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** The appointment that an order which was simulated or seeded beyond its booking must have. */
function ensureAppointment(world: World, order: Order): Appointment | undefined {
  const type = appointmentTypeOf(order.method);
  if (type === undefined) return undefined;
  const address = visitAddressOf(order);
  return (
    activeAppointment(world, order) ??
    addAppointment(world, order, {
      type,
      provider: type === 'phlebotomy' ? 'getlabs' : 'quest',
      place: homePlaceOf(address.zip_code),
      address,
      notes: null,
    })
  );
}

function schedule(appointment: Appointment, at: number): void {
  if (appointment.startAt !== null) return;
  appointment.startAt = Math.floor(at / dayMs) * dayMs + 2 * dayMs + 16 * hourMs;
  appointment.endAt = appointment.startAt + hourMs;
  appointment.events.push({ createdAt: at, status: 'scheduled', data: { origin: 'provider' } });
}

/** Updates the appointment of an order that moved without a booking; does nothing after a booking. */
export function followOrder(world: World, order: Order, { step, at }: { step: string; at: number }): void {
  if (step === 'appointment_scheduled') {
    const appointment = ensureAppointment(world, order);
    if (appointment) schedule(appointment, at);
    return;
  }
  const active = activeAppointment(world, order);
  if (step === 'appointment_cancelled')
    active?.events.push({ createdAt: at, status: 'cancelled', data: null });
  if (step === 'draw_completed' || step === 'partial_results' || step === 'completed') {
    active?.events.push({ createdAt: at, status: 'completed', data: null });
  }
}
