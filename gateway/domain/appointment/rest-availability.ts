import type { Service } from '../../service/service.ts';
import { readAddress } from '../address/rest.ts';
import {
  day,
  flag,
  integer,
  list,
  number,
  optional,
  record,
  required,
  requiredList,
  text,
  textOrNumber,
  timestamp,
} from '../parse.ts';
import { readCoordinates, readDistance } from './rest.ts';
import { toServiceAddress, type VisitAddress } from './rest-write.ts';

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
    // A booking key works once, so no two callers can go on with the same.
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
    // A booking key works once, so no two callers can go on with the same.
    isSingleUse: true,
  });
  return days ?? [];
}
