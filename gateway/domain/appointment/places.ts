import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import type { CurrentOrder } from '../order/rest.ts';
import { entries, flag, integer, link, list, requiredList, text } from '../reading.ts';
import { coordinatesShape, visitAddressShape } from './rest.ts';

export type AreaInfo = z.infer<typeof areaShape>;
export type PhlebotomyArea = NonNullable<AreaInfo['phlebotomy']>;
export type PhlebotomyProvider = PhlebotomyArea['providers'][number];
export type AreaLab = AreaInfo['labs'][number];
export type ServiceCenter = z.infer<typeof centerShape>;

const texts = list(z.string());

const phlebotomyShape = z
  .object({
    is_served: flag,
    providers: list(
      z
        .object({ name: z.string(), service_types: texts })
        .transform((raw) => ({ provider: raw.name, serviceTypes: raw.service_types })),
    ),
  })
  .transform((raw) => ({ isServed: raw.is_served, providers: raw.providers }))
  .nullable()
  .catch(null);

const areaLabShape = z
  .object({
    lab_id: integer,
    supported_bill_types: texts,
    patient_service_centers: z
      .object({ appointment_with_vital: flag, within_radius: integer, capabilities: texts })
      .nullable()
      .catch(null),
  })
  .transform((raw) => ({
    labId: raw.lab_id,
    supportedBillTypes: raw.supported_bill_types,
    canBook: raw.patient_service_centers?.appointment_with_vital ?? null,
    centerCount: raw.patient_service_centers?.within_radius ?? null,
    capabilities: raw.patient_service_centers?.capabilities ?? [],
  }));

/** A map by lab slug, in which a slug may be absent; what cannot be read is left out. */
const labMap = entries(areaLabShape).transform((map) => map.map(([labSlug, lab]) => ({ labSlug, ...lab })));

const areaShape = z
  .object({ zip_code: text, phlebotomy: phlebotomyShape, central_labs: labMap })
  .transform((raw) => ({ zipCode: raw.zip_code, phlebotomy: raw.phlebotomy, labs: raw.central_labs }));

/** A zip code of five digits and a radius in miles: 10, 20, 25, 50 or 100. */
export interface Surroundings {
  readonly zipCode: string;
  readonly radius: number;
}

/** What is offered around a zip code (`GET /v3/order/area/info`), or null. */
export function getAreaInfo(service: Service, { zipCode, radius }: Surroundings): Promise<AreaInfo | null> {
  return service.readOne({
    operation: 'area.info',
    method: 'GET',
    path: '/v3/order/area/info',
    query: { zip_code: zipCode, radius },
    reader: (json) => areaShape.parse(json),
    scope: 'read:orders',
    owner: 'anyone',
  });
}

const hoursShape = z.record(z.string(), z.unknown()).nullable().catch(null);

const centerShape = z
  .object({
    site_code: z.string(),
    distance: integer,
    location: coordinatesShape,
    capabilities: texts,
    supported_bill_types: texts,
    metadata: z
      .object({ name: text, hours: hoursShape, website: link, fax_number: text })
      .nullable()
      .catch(null),
    address: visitAddressShape,
  })
  .transform((raw) => ({
    siteCode: raw.site_code,
    name: raw.metadata?.name ?? null,
    address: raw.address,
    location: raw.location,
    distance: raw.distance,
    capabilities: raw.capabilities,
    supportedBillTypes: raw.supported_bill_types,
    faxNumber: raw.metadata?.fax_number ?? null,
    website: raw.metadata?.website ?? null,
    hours: raw.metadata?.hours ?? null,
  }));

/** The center's address stands among its other details. */
const centerRow = z.looseObject({ metadata: z.unknown().optional() }).transform((raw) => ({
  ...raw,
  address: raw.metadata,
}));

const centerList = z
  .object({ patient_service_centers: requiredList(centerRow.pipe(centerShape)) })
  .transform((raw) => raw.patient_service_centers);

/** Which centers: a lab's, around a zip code, with all of these capabilities. */
export interface CenterFilter extends Surroundings {
  readonly labId: number;
  readonly capabilities: readonly string[];
}

/** A lab's service centers (`GET /v3/order/psc/info`), nearest first, 30 at most; none for a lab without any. */
export async function listServiceCenters(
  service: Service,
  filter: CenterFilter,
): Promise<readonly ServiceCenter[]> {
  const centers = await service.readOne({
    operation: 'service-center.list',
    method: 'GET',
    path: '/v3/order/psc/info',
    query: {
      zip_code: filter.zipCode,
      lab_id: filter.labId,
      radius: filter.radius,
      capabilities: filter.capabilities,
    },
    reader: (json) => centerList.parse(json),
    scope: 'read:orders',
    owner: 'anyone',
  });
  return centers ?? [];
}

/** The service centers that can serve an order (`GET /v3/order/{order_id}/psc/info`), or null. */
export function listCentersOfOrder(
  service: Service,
  order: CurrentOrder,
  radius: number,
): Promise<readonly ServiceCenter[] | null> {
  return service.readOne({
    operation: 'service-center.of-order',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/psc/info`,
    query: { radius },
    reader: (json) => centerList.parse(json),
    scope: 'read:orders',
    owner: () => ({ userId: order.userId, orderId: order.id }),
    about: { userId: order.userId, orderId: order.id },
  });
}
