import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { presentAppointment } from '../../appointments/appointment.ts';
import { book, cancel, presentCurrent, request, reschedule, type Visit } from '../../appointments/booking.ts';
import { requireOrder } from '../../http/require.ts';
import { readBody, readUuid, textUpTo } from '../../http/validation.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import type { Appointment, AppointmentType } from '../../world/state.ts';

const notes = textUpTo(1000).nullish();

/** An address in the United States (public service: USAddress). */
export const visitAddress = z.object({
  first_line: z.string().min(1),
  second_line: z.string().nullish(),
  city: z.string().min(1),
  state: z.string().regex(/^[A-Za-z]{2}$/),
  zip_code: z.string().regex(/^\d{5}(-\d{4})?$/),
  access_notes: notes,
});

const bookingBody = z.object({ booking_key: z.string(), appointment_notes: notes });

// Accepted and ignored: the sandbox's lab confirms at once.
const centerBookingBody = bookingBody.extend({
  async_confirmation: z.boolean().optional(),
  sync_confirmation_timeout_millisecond: z.number().int().min(1000).max(10_000).nullish(),
  async_confirmation_timeout_millisecond: z.number().int().min(60_000).max(172_800_000).nullish(),
});

const requestBody = z.object({
  address: visitAddress,
  provider: z.enum(['getlabs', 'phlebfinders', 'quest', 'sonora_quest']),
  appointment_notes: notes,
});

const cancelBody = z
  .object({ cancellation_reason_id: z.guid(), notes: z.string().nullish() })
  .transform((body) => ({ reasonId: body.cancellation_reason_id, notes: body.notes ?? null }));

// The one body of the service in camelCase (public service: PscCancelBody).
const centerCancelBody = z
  .object({ cancellationReasonId: z.guid(), note: z.string().nullish() })
  .transform((body) => ({ reasonId: body.cancellationReasonId, notes: body.note ?? null }));

/** Appointments at home and at service centers (specification: appointment notes; paths: public service). */
export function appointmentRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  addAppointmentRoutes(routes, service, { path: 'phlebotomy', type: 'phlebotomy', bookingBody, cancelBody });
  addAppointmentRoutes(routes, service, {
    path: 'psc',
    type: 'patient_service_center',
    bookingBody: centerBookingBody,
    cancelBody: centerCancelBody,
  });
  addRequestRoute(routes, service);
  return routes;
}

interface Kind {
  readonly path: string;
  readonly type: AppointmentType;
  readonly bookingBody: typeof bookingBody;
  readonly cancelBody: typeof cancelBody | typeof centerCancelBody;
}

function visitOf(c: Context, { world }: Service, type: AppointmentType): Visit {
  return { order: requireOrder(world, readUuid(c, 'order_id')), type };
}

async function answerSaved(c: Context, { world, save }: Service, appointment: Appointment) {
  const answer = presentAppointment(world, appointment);
  await save();
  return c.json(answer);
}

function addAppointmentRoutes(routes: Hono<SandboxEnv>, service: Service, kind: Kind): void {
  const base = `/v3/order/:order_id/${kind.path}/appointment`;
  const { bookingReplies } = service.world.state;

  routes.get(base, (c) => c.json(presentCurrent(service, visitOf(c, service, kind.type))));

  routes.post(`${base}/book`, async (c) => {
    const visit = visitOf(c, service, kind.type);
    const { booking_key, appointment_notes } = await readBody(c, kind.bookingBody);
    // Only service centers have idempotency keys (public service).
    const key = kind.type === 'phlebotomy' ? undefined : c.req.header('x-idempotency-key');
    const stored = key === undefined ? undefined : bookingReplies[key];
    if (stored !== undefined) return c.json(stored);
    const booked = book(service, visit, { bookingKey: booking_key, notes: appointment_notes ?? null });
    if (key !== undefined) bookingReplies[key] = presentAppointment(service.world, booked);
    return answerSaved(c, service, booked);
  });

  routes.patch(`${base}/reschedule`, async (c) => {
    const visit = visitOf(c, service, kind.type);
    const { booking_key, appointment_notes } = await readBody(c, bookingBody);
    const moved = reschedule(service, visit, { bookingKey: booking_key, notes: appointment_notes ?? null });
    return answerSaved(c, service, moved);
  });

  routes.patch(`${base}/cancel`, async (c) => {
    const visit = visitOf(c, service, kind.type);
    return answerSaved(c, service, cancel(service, visit, await readBody(c, kind.cancelBody)));
  });
}

function addRequestRoute(routes: Hono<SandboxEnv>, service: Service): void {
  routes.post('/v3/order/:order_id/phlebotomy/appointment/request', async (c) => {
    const visit = visitOf(c, service, 'phlebotomy');
    const { appointment_notes, ...asked } = await readBody(c, requestBody);
    const requested = request(service, visit, { ...asked, notes: appointment_notes ?? null });
    return answerSaved(c, service, requested);
  });
}
