import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { presentAppointment, visitAddressOf } from '../../appointments/appointment.ts';
import { book, cancel, reschedule, type Visit } from '../../appointments/life.ts';
import { type Center, canBook, centerLabs, centerOfCode, centersNear } from '../../appointments/places.ts';
import { reasonsOf } from '../../appointments/reasons.ts';
import { presentDays } from '../../appointments/slots.ts';
import { refuse } from '../../http/refusal.ts';
import { readBody, readQuery, readUuid, repeated } from '../../http/validation.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { requireOrder } from '../orders/orders.ts';
import { billTypes, radius, zipCode } from './area.ts';
import { bookingBody, firstDayOf, presentCurrent, startDate } from './phlebotomy.ts';

const capability = z.enum(['stat', 'appointment_scheduling_via_junction', 'appointment_scheduling_with_lab']);

const searchQuery = z.object({
  zip_code: zipCode,
  lab_id: z.coerce.number().int(),
  radius,
  capabilities: repeated(capability),
});

const availabilityQuery = z.object({
  lab: z.enum(['quest', 'sonora_quest']),
  start_date: startDate,
  site_codes: repeated(z.string()),
  zip_code: zipCode.optional(),
  radius,
  // Nothing is ever stale here.
  allow_stale: z.enum(['true', 'false']).optional(),
});

const centerBookingBody = bookingBody.extend({
  // The sandbox's lab confirms at once.
  async_confirmation: z.boolean().optional(),
  sync_confirmation_timeout_millisecond: z.number().int().min(1000).max(10_000).nullish(),
  async_confirmation_timeout_millisecond: z.number().int().min(60_000).max(172_800_000).nullish(),
});

// The one body of the service in camelCase (public service: PscCancelBody).
const cancelBody = z.object({ cancellationReasonId: z.guid(), note: z.string().nullish() });

function presentCenter(center: Center) {
  const { name, state, city, zip, firstLine, distance, code, location, capabilities } = center;
  return {
    metadata: {
      name,
      state,
      city,
      zip_code: zip,
      first_line: firstLine,
      second_line: null,
      phone_number: '+16025550100',
      fax_number: null,
      hours: { monday: '08:00-16:00', friday: '08:00-16:00' },
      website: `https://centers.example.com/${code}`,
    },
    distance,
    site_code: code,
    supported_bill_types: billTypes,
    location,
    capabilities,
  };
}

function search(query: z.output<typeof searchQuery>) {
  const lab = centerLabs.find(({ id }) => id === query.lab_id);
  if (!lab) throw refuse(404, 'No patient service centers for this lab');
  const found = centersNear(lab.id, query.zip_code, Number(query.radius)).filter((center) =>
    (query.capabilities ?? []).every((wanted) => center.capabilities.includes(wanted)),
  );
  return { lab_id: lab.id, slug: lab.slug, patient_service_centers: found.slice(0, 30).map(presentCenter) };
}

function bookableCenters(query: z.output<typeof availabilityQuery>): readonly Center[] {
  const { lab, site_codes, zip_code } = query;
  if ((site_codes ?? []).length > 3) throw refuse(422, 'At most 3 site codes');
  if (!site_codes && !zip_code) throw refuse(422, 'Either site_codes or zip_code must be set');
  const labId = lab === 'quest' ? 6 : 0;
  const named = (site_codes ?? []).flatMap((code) => centerOfCode(code) ?? []);
  const centers = site_codes ? named : centersNear(labId, zip_code ?? '', Number(query.radius));
  return centers.filter((center) => center.labId === labId && canBook(center));
}

function presentLocation({ location, distance, firstLine, city, state, zip, code, name, timeZone }: Center) {
  return {
    location,
    distance,
    address: { first_line: firstLine, second_line: null, city, state, zip_code: zip },
    code,
    name,
    iana_timezone: timeZone,
  };
}

function findSlots(world: Service['world'], query: z.infer<typeof availabilityQuery>, now: number) {
  const from = firstDayOf(query.start_date, now);
  return bookableCenters(query).flatMap((center) =>
    presentDays(world, center, { from, now }).map((day) => ({ ...day, location: presentLocation(center) })),
  );
}

/** Patient service centers: search, slots, appointments (public service). */
export function serviceCenterRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  addSearchRoutes(routes, service);
  addAppointmentRoutes(routes, service);
  return routes;
}

function addSearchRoutes(routes: Hono<SandboxEnv>, { world, clock }: Service): void {
  routes.get('/v3/order/psc/info', (c) => c.json(search(readQuery(c, searchQuery))));

  routes.get('/v3/order/:order_id/psc/info', (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    const query = readQuery(c, searchQuery.pick({ radius: true, capabilities: true }));
    if (order.method !== 'walk_in_test') throw refuse(404, 'No patient service centers for this order');
    const labTest = world.catalogue.labTests.find(({ id }) => id === order.labTestId);
    const zip_code = visitAddressOf(order).zip_code;
    return c.json(search({ ...query, zip_code, lab_id: labTest?.labId ?? 0 }));
  });

  routes.post('/v3/order/psc/appointment/availability', (c) => {
    const slots = findSlots(world, readQuery(c, availabilityQuery), clock.now());
    if (slots.length === 0) throw refuse(404, 'No slots found. Not all PSCs support scheduling appointments');
    return c.json({ slots, timezone: null });
  });

  routes.get('/v3/order/psc/appointment/cancellation-reasons', (c) =>
    c.json(reasonsOf(world.state.seed, 'patient_service_center')),
  );
}

function addAppointmentRoutes(routes: Hono<SandboxEnv>, service: Service): void {
  const { world, save } = service;
  const base = '/v3/order/:order_id/psc/appointment';
  const visitOf = (c: Context): Visit => ({
    order: requireOrder(world, readUuid(c, 'order_id')),
    type: 'patient_service_center',
  });

  routes.get(base, (c) => c.json(presentCurrent(service, visitOf(c))));

  routes.post(`${base}/book`, async (c) => {
    const visit = visitOf(c);
    const { booking_key, appointment_notes } = await readBody(c, centerBookingBody);
    const { bookingReplies } = world.state;
    const idempotencyKey = c.req.header('x-idempotency-key');
    const stored = idempotencyKey === undefined ? undefined : bookingReplies[idempotencyKey];
    if (stored !== undefined) return c.json(stored);
    const booked = book(service, visit, { bookingKey: booking_key, notes: appointment_notes ?? null });
    const answer = presentAppointment(world, booked);
    if (idempotencyKey !== undefined) bookingReplies[idempotencyKey] = answer;
    await save();
    return c.json(answer);
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
    const { cancellationReasonId, note } = await readBody(c, cancelBody);
    const cancelled = cancel(service, visit, { reasonId: cancellationReasonId, notes: note ?? null });
    await save();
    return c.json(presentAppointment(world, cancelled));
  });
}
