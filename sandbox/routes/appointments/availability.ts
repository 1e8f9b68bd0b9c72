import { Hono } from 'hono';
import { z } from 'zod';
import { visitAddressOf } from '../../appointments/appointment.ts';
import { reasonsOf } from '../../appointments/booking.ts';
import {
  type Center,
  canBook,
  centerLabs,
  centerOfCode,
  centersNear,
  homePlaceOf,
  isServed,
} from '../../appointments/places.ts';
import { presentDays } from '../../appointments/slots.ts';
import { refuse } from '../../http/refusal.ts';
import { requireOrder } from '../../http/require.ts';
import { readBody, readQuery, readUuid, repeated } from '../../http/validation.ts';
import type { SandboxEnv, Service } from '../../service.ts';
import { labTestOf } from '../../world/world.ts';
import { visitAddress } from './appointments.ts';

/** Five digits (public service). */
const zipCode = z.string().regex(/^\d{5}$/);

/** Miles, as text of a closed set (public service: AllowedRadius). */
const radius = z.enum(['10', '20', '25', '50', '100']).default('25');

const billTypes = ['client_bill', 'patient_bill'];

/** A day from which slots are shown. */
const startDate = z.iso.date().optional();

/** Accepted and ignored: every account finds the same places here. */
const lab_account_id = z.guid().optional();

const areaQuery = z.object({ zip_code: zipCode, radius, lab_account_id });

const capability = z.enum(['stat', 'appointment_scheduling_via_junction', 'appointment_scheduling_with_lab']);

const searchQuery = z.object({
  zip_code: zipCode,
  lab_id: z.coerce.number().int(),
  radius,
  capabilities: repeated(capability),
  lab_account_id,
});

const availabilityQuery = z.object({
  lab: z.enum(['quest', 'sonora_quest']),
  start_date: startDate,
  site_codes: repeated(z.string()),
  zip_code: zipCode.optional(),
  radius,
  // Accepted and ignored: nothing is stale here.
  allow_stale: z.enum(['true', 'false']).optional(),
});

/** The first day to show: today unless the query names one. @throws Refusal 422 for a day that is over */
function firstDayOf(asked: string | undefined, now: number): string {
  const today = new Date(now).toISOString().slice(0, 10);
  if (asked !== undefined && asked < today) throw refuse(422, 'start_date is in the past');
  return asked ?? today;
}

function presentLabArea(lab: (typeof centerLabs)[number], query: z.output<typeof areaQuery>) {
  const centers = centersNear(lab.id, query.zip_code, Number(query.radius));
  return {
    patient_service_centers: {
      appointment_with_vital: centers.some(canBook),
      within_radius: centers.length,
      radius: query.radius,
      capabilities: [...new Set(centers.flatMap(({ capabilities }) => capabilities))],
    },
    supported_bill_types: billTypes,
    lab_id: lab.id,
  };
}

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

function presentCenterSlots({ world, clock }: Service, query: z.output<typeof availabilityQuery>) {
  const now = clock.now();
  const from = firstDayOf(query.start_date, now);
  return bookableCenters(query).flatMap((center) =>
    presentDays(world, center, { from, now }).map((day) => ({ ...day, location: presentLocation(center) })),
  );
}

/** Areas, service centers, free slots and reasons for cancelling (public service). */
export function availabilityRoutes(service: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  addHomeRoutes(routes, service);
  addCenterRoutes(routes, service);
  return routes;
}

function addHomeRoutes(routes: Hono<SandboxEnv>, { world, clock }: Service): void {
  routes.get('/v3/order/area/info', (c) => {
    const query = readQuery(c, areaQuery);
    const served = isServed(query.zip_code);
    const providers = [
      { name: 'getlabs', service_types: ['appointment-ready'] },
      { name: 'phlebfinders', service_types: ['appointment-request'] },
    ];
    return c.json({
      zip_code: query.zip_code,
      phlebotomy: { is_served: served, providers: served ? providers : [] },
      central_labs: Object.fromEntries(centerLabs.map((lab) => [lab.slug, presentLabArea(lab, query)])),
    });
  });

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

function addCenterRoutes(routes: Hono<SandboxEnv>, service: Service): void {
  const { world } = service;

  routes.get('/v3/order/psc/info', (c) => c.json(search(readQuery(c, searchQuery))));

  routes.get('/v3/order/:order_id/psc/info', (c) => {
    const order = requireOrder(world, readUuid(c, 'order_id'));
    const query = readQuery(c, searchQuery.pick({ radius: true, capabilities: true }));
    if (order.method !== 'walk_in_test') throw refuse(404, 'No patient service centers for this order');
    const zip_code = visitAddressOf(order).zip_code;
    return c.json(search({ ...query, zip_code, lab_id: labTestOf(world, order)?.labId ?? 0 }));
  });

  routes.post('/v3/order/psc/appointment/availability', (c) => {
    const slots = presentCenterSlots(service, readQuery(c, availabilityQuery));
    if (slots.length === 0) throw refuse(404, 'No slots found. Not all PSCs support scheduling appointments');
    return c.json({ slots, timezone: null });
  });

  routes.get('/v3/order/psc/appointment/cancellation-reasons', (c) =>
    c.json(reasonsOf(world.state.seed, 'patient_service_center')),
  );
}
