import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { activeAppointment, latestAppointment, presentAppointment } from '../../appointments/appointment.ts';
import { book, cancel, request, reschedule, type Visit } from '../../appointments/life.ts';
import { homePlaceOf, isServed } from '../../appointments/places.ts';
import { reasonsOf } from '../../appointments/reasons.ts';
import { presentDays } from '../../appointments/slots.ts';
import { refuse } from '../../http/refusal.ts';
import { readBody, readQuery, readUuid, textUpTo } from '../../http/validation.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { requireOrder } from '../orders/orders.ts';

const notes = textUpTo(1000).nullish();

/** An address in the United States (public service: USAddress). */
const visitAddress = z.object({
  first_line: z.string().min(1),
  second_line: z.string().nullish(),
  city: z.string().min(1),
  state: z.string().regex(/^[A-Za-z]{2}$/),
  zip_code: z.string().regex(/^\d{5}(-\d{4})?$/),
  access_notes: notes,
});

/** Booking and rescheduling take the same body, whatever the kind of appointment. */
export const bookingBody = z.object({ booking_key: z.string(), appointment_notes: notes });

const requestBody = z.object({
  address: visitAddress,
  provider: z.enum(['getlabs', 'phlebfinders', 'quest', 'sonora_quest']),
  appointment_notes: notes,
});

const cancelBody = z.object({ cancellation_reason_id: z.guid(), notes: z.string().nullish() });

/** A day from which slots are shown. */
export const startDate = z.iso.date().optional();

/** The day to start with: today where none is asked for. @throws Refusal 422 for a day that is over */
export function firstDayOf(asked: string | undefined, now: number): string {
  const today = new Date(now).toISOString().slice(0, 10);
  if (asked !== undefined && asked < today) throw refuse(422, 'start_date is in the past');
  return asked ?? today;
}

/** The order's active appointment, or its last one. @throws Refusal 404 */
export function presentCurrent({ world }: Service, { order, type }: Visit) {
  const appointment = activeAppointment(world, order) ?? latestAppointment(world, order);
  if (appointment?.type !== type) throw refuse(404, 'Appointment not found');
  return presentAppointment(world, appointment);
}

/** Appointments at home (specification: appointment notes; paths: public service). */
export function phlebotomyRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  addAvailabilityRoutes(routes, service);
  addAppointmentRoutes(routes, service);
  return routes;
}

function addAvailabilityRoutes(routes: Hono<SandboxEnv>, { world, clock }: Service): void {
  routes.post('/v3/order/phlebotomy/appointment/availability', async (c) => {
    const query = readQuery(c, z.object({ start_date: startDate }));
    const address = await readBody(c, visitAddress);
    if (!/\d/.test(address.first_line)) throw refuse(400, 'The address needs a street number');
    const place = homePlaceOf(address.zip_code);
    const now = clock.now();
    const from = firstDayOf(query.start_date, now);
    const slots = isServed(address.zip_code) ? presentDays(world, place, { from, now }) : [];
    return c.json({ slots, timezone: place.timeZone });
  });

  routes.get('/v3/order/phlebotomy/appointment/cancellation-reasons', (c) =>
    c.json(reasonsOf(world.state.seed, 'phlebotomy')),
  );
}

function addAppointmentRoutes(routes: Hono<SandboxEnv>, service: Service): void {
  const { world, save } = service;
  const base = '/v3/order/:order_id/phlebotomy/appointment';
  const visitOf = (c: Context): Visit => ({
    order: requireOrder(world, readUuid(c, 'order_id')),
    type: 'phlebotomy',
  });

  routes.get(base, (c) => c.json(presentCurrent(service, visitOf(c))));

  routes.post(`${base}/book`, async (c) => {
    const visit = visitOf(c);
    const { booking_key, appointment_notes } = await readBody(c, bookingBody);
    const booked = book(service, visit, { bookingKey: booking_key, notes: appointment_notes ?? null });
    await save();
    return c.json(presentAppointment(world, booked));
  });

  routes.post(`${base}/request`, async (c) => {
    const visit = visitOf(c);
    const { appointment_notes, ...asked } = await readBody(c, requestBody);
    const requested = request(service, visit, { ...asked, notes: appointment_notes ?? null });
    await save();
    return c.json(presentAppointment(world, requested));
  });

  routes.patch(`${base}/reschedule`, async (c) => {
    const visit = visitOf(c);
    const { booking_key, appointment_notes } = await readBody(c, bookingBody);
    const moved = reschedule(service, visit, { bookingKey: booking_key, notes: appointment_notes ?? null });
    await save();
    return c.json(presentAppointment(world, moved));
  });

  routes.patch(`${base}/cancel`, async (c) => {
    const visit = visitOf(c);
    const body = await readBody(c, cancelBody);
    const cancelled = cancel(service, visit, {
      reasonId: body.cancellation_reason_id,
      notes: body.notes ?? null,
    });
    await save();
    return c.json(presentAppointment(world, cancelled));
  });
}
