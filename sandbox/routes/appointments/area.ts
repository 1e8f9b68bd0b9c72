import { Hono } from 'hono';
import { z } from 'zod';
import { canBook, centerLabs, centersNear, isServed } from '../../appointments/places.ts';
import { readQuery } from '../../http/validation.ts';
import type { SandboxEnv } from '../../service.ts';

/** Five digits (public service). */
export const zipCode = z.string().regex(/^\d{5}$/);

/** Miles, as text of a closed set (public service: AllowedRadius). */
export const radius = z.enum(['10', '20', '25', '50', '100']).default('25');

export const billTypes = ['client_bill', 'patient_bill'];

const areaQuery = z.object({ zip_code: zipCode, radius });

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

/** What is offered around a zip code (public service: area info). */
export function areaRoutes(): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

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

  return routes;
}
