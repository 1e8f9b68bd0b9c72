import type { Service } from '../../service/service.ts';
import { readAddress } from '../address/rest.ts';
import type { CurrentOrder } from '../order/read/rest-order.ts';
import {
  day,
  entries,
  flag,
  integer,
  link,
  list,
  number,
  optional,
  record,
  required,
  requiredList,
  text,
  textOrNumber,
  texts,
  timestamp,
} from '../parse.ts';
import { readCoordinates, readDistance, toServiceAddress, type VisitAddress } from './rest.ts';

export type AreaInfo = ReturnType<typeof readArea>;
export type PhlebotomyArea = NonNullable<AreaInfo['phlebotomy']>;
export type PhlebotomyProvider = PhlebotomyArea['providers'][number];
export type AreaLab = AreaInfo['labs'][number];
export type ServiceCenter = ReturnType<typeof readCenter>;

/** Samples of the public service name the field `tier`, and send a single type as text. */
function readServiceTypes(json: unknown): readonly string[] {
  const only = text(json);
  return only === null ? texts(json) : [only];
}

const readProviders = list(
  record((raw) => ({
    provider: required(raw, 'name', text),
    serviceTypes: readServiceTypes(raw.service_types ?? raw.tier),
  })),
);

const readPhlebotomy = optional(
  record((raw) => ({ isServed: flag(raw.is_served), providers: readProviders(raw.providers) })),
);

const readLabCenters = optional(
  record((raw) => ({
    canBook: flag(raw.appointment_with_vital),
    centerCount: integer(raw.within_radius),
    capabilities: texts(raw.capabilities),
  })),
);

const noCenters = { canBook: null, centerCount: null, capabilities: [] } as const;

/** A map by lab slug, in which a slug may be absent; what cannot be read is left out. */
const readLabs = entries(
  record((raw) => ({
    labId: integer(raw.lab_id),
    supportedBillTypes: texts(raw.supported_bill_types),
    ...(readLabCenters(raw.patient_service_centers) ?? noCenters),
  })),
);

const readArea = record((raw) => ({
  zipCode: text(raw.zip_code),
  phlebotomy: readPhlebotomy(raw.phlebotomy),
  labs: readLabs(raw.central_labs).map(([labSlug, lab]) => ({ labSlug, ...lab })),
}));

/** A zip code of five digits and a radius in miles: 10, 20, 25, 50 or 100. */
export interface Surroundings {
  readonly zipCode: string;
  readonly radius: number;
  /** What is offered on this lab account; on any when left out. */
  readonly labAccountId?: string | null;
}

/** What is offered around a zip code (`GET /v3/order/area/info`), or null. */
export function getAreaInfo(
  service: Service,
  { zipCode, radius, labAccountId }: Surroundings,
): Promise<AreaInfo | null> {
  return service.readOne({
    operation: 'area.info',
    method: 'GET',
    path: '/v3/order/area/info',
    query: { zip_code: zipCode, radius, lab_account_id: labAccountId },
    reader: readArea,
    scope: 'read:orders',
    owner: 'anyone',
  });
}

const readHours = optional(record((raw) => raw));

const readDetails = optional(
  record((raw) => ({
    name: text(raw.name),
    hours: readHours(raw.hours),
    website: link(raw.website),
    faxNumber: text(raw.fax_number),
  })),
);

const noDetails = { name: null, hours: null, website: null, faxNumber: null } as const;

const readCenter = record((raw) => ({
  siteCode: required(raw, 'site_code', text),
  ...(readDetails(raw.metadata) ?? noDetails),
  // The center's address is among its other details.
  address: readAddress(raw.metadata),
  location: readCoordinates(raw.location),
  distance: readDistance(raw.distance),
  distanceRaw: textOrNumber(raw.distance),
  capabilities: texts(raw.capabilities),
  supportedBillTypes: texts(raw.supported_bill_types),
}));

const readCenterList = requiredList(readCenter);
/** Nearest first: the service promises no order. */
const readCenters = record((raw) =>
  required(raw, 'patient_service_centers', readCenterList).toSorted((a, b) => milesTo(a) - milesTo(b)),
);

/** A center whose distance is not known comes last. */
function milesTo({ distanceRaw }: ReturnType<typeof readCenter>): number {
  const miles = Number.parseFloat(distanceRaw ?? '');
  return Number.isNaN(miles) ? Number.MAX_VALUE : miles;
}

/** Which centers: within a radius in miles, with all of these capabilities. */
interface CentersWanted extends Pick<Surroundings, 'radius'> {
  readonly capabilities: readonly string[];
}

/** The same of one lab, around a zip code. */
interface CenterFilter extends CentersWanted, Surroundings {
  readonly labId: number;
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
      lab_account_id: filter.labAccountId,
    },
    reader: readCenters,
    scope: 'read:orders',
    owner: 'anyone',
  });
  return centers ?? [];
}

/** The service centers that can serve an order (`GET /v3/order/{order_id}/psc/info`), or null. */
export function listCentersOfOrder(
  service: Service,
  order: CurrentOrder,
  { radius, capabilities }: CentersWanted,
): Promise<readonly ServiceCenter[] | null> {
  return service.readOne({
    operation: 'service-center.of-order',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/psc/info`,
    query: { radius, capabilities },
    reader: readCenters,
    scope: 'read:orders',
    owner: () => ({ userId: order.userId, orderId: order.id }),
    about: { userId: order.userId, orderId: order.id },
  });
}

export type AvailabilityDay = ReturnType<typeof readAvailability>[number];
export type AvailabilitySlot = AvailabilityDay['slots'][number];
export type AvailabilityPlace = NonNullable<AvailabilityDay['place']>;

const readSlots = list(
  record((raw) => ({
    bookingKey: text(raw.booking_key),
    startAt: timestamp(raw.start),
    endAt: timestamp(raw.end),
    expiresAt: timestamp(raw.expires_at),
    price: number(raw.price),
    isPriority: flag(raw.is_priority),
    availableCount: integer(raw.num_appointments_available),
  })),
);

const readPlace = optional(
  record((raw) => ({
    siteCode: text(raw.code),
    name: text(raw.name),
    address: readAddress(raw.address),
    location: readCoordinates(raw.location),
    distance: readDistance(raw.distance),
    distanceRaw: textOrNumber(raw.distance),
    timeZone: text(raw.iana_timezone),
  })),
);

const readDays = requiredList(
  record((raw) => ({
    date: day(raw.date),
    place: readPlace(raw.location),
    slots: readSlots(raw.slots),
  })),
);

const readAvailability = record((raw) => {
  const timeZone = text(raw.timezone);
  const days = required(raw, 'slots', readDays);
  return days.map((each) => ({ ...each, timeZone: each.place?.timeZone ?? timeZone }));
});

/**
 * Fourteen days of slots at an address (`POST /v3/order/phlebotomy/appointment/availability`: a POST that only
 * reads).
 * @param startDate `YYYY-MM-DD`; null = the service's first day
 */
export async function listPhlebotomyAvailability(
  service: Service,
  address: VisitAddress,
  startDate: string | null,
): Promise<readonly AvailabilityDay[]> {
  const days = await service.readOne({
    operation: 'appointment.availability',
    method: 'POST',
    path: '/v3/order/phlebotomy/appointment/availability',
    query: { start_date: startDate },
    body: toServiceAddress(address),
    reader: readAvailability,
    scope: 'read:orders',
    owner: 'anyone',
    // A booking key works once, so callers must not share an answer.
    isSingleUse: true,
  });
  return days ?? [];
}

/** Where to look for slots: at centers by code (three at most), or around a zip code. */
export interface CenterSearch {
  readonly lab: string;
  readonly siteCodes: readonly string[] | null;
  readonly zipCode: string | null;
  readonly radius: number;
  readonly startDate: string | null;
  /** The service may answer from a cache; an opt-in of the service. */
  readonly allowStale: boolean | null;
}

/**
 * Slots at service centers (`POST /v3/order/psc/appointment/availability`: all inputs in the query). The
 * service answers 404 where there are none.
 */
export async function listCenterAvailability(
  service: Service,
  search: CenterSearch,
): Promise<readonly AvailabilityDay[]> {
  const days = await service.readOne({
    operation: 'appointment.center-availability',
    method: 'POST',
    path: '/v3/order/psc/appointment/availability',
    query: {
      lab: search.lab,
      start_date: search.startDate,
      site_codes: search.siteCodes,
      zip_code: search.zipCode,
      radius: search.zipCode === null ? null : search.radius,
      allow_stale: search.allowStale,
    },
    reader: readAvailability,
    scope: 'read:orders',
    owner: 'anyone',
    // A booking key works once, so callers must not share an answer.
    isSingleUse: true,
  });
  return days ?? [];
}
