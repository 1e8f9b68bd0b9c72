import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import { day, flag, integer, list, requiredList, text, timestamp } from '../reading.ts';
import { coordinatesShape, visitAddressShape } from './rest.ts';
import { toServiceAddress, type VisitAddress } from './write.ts';

export type AvailabilityDay = z.infer<typeof availabilityShape>[number];
export type AvailabilitySlot = AvailabilityDay['slots'][number];
export type AvailabilityPlace = NonNullable<AvailabilityDay['place']>;

const amount = z.number().nullable().catch(null);

const slotShape = z
  .object({
    booking_key: text,
    start: timestamp,
    end: timestamp,
    expires_at: timestamp,
    price: amount,
    is_priority: flag,
    num_appointments_available: integer,
  })
  .transform((raw) => ({
    bookingKey: raw.booking_key,
    startAt: raw.start,
    endAt: raw.end,
    expiresAt: raw.expires_at,
    price: raw.price,
    isPriority: raw.is_priority,
    availableCount: raw.num_appointments_available,
  }));

const placeShape = z
  .object({
    code: text,
    name: text,
    address: visitAddressShape,
    location: coordinatesShape,
    distance: integer,
    iana_timezone: text,
  })
  .transform((raw) => ({
    siteCode: raw.code,
    name: raw.name,
    address: raw.address,
    location: raw.location,
    distance: raw.distance,
    timeZone: raw.iana_timezone,
  }))
  .nullable()
  .catch(null);

const dayShape = z.object({ date: day, location: placeShape, slots: list(slotShape) });

const availabilityShape = z
  .object({ slots: requiredList(dayShape), timezone: text })
  .transform(({ slots, timezone }) =>
    slots.map((each) => ({
      date: each.date,
      place: each.location,
      timeZone: each.location?.timeZone ?? timezone,
      slots: each.slots,
    })),
  );

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
    reader: (json) => availabilityShape.parse(json),
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
    reader: (json) => availabilityShape.parse(json),
    scope: 'read:orders',
    owner: 'anyone',
    // A booking key works once, so no two callers can go on with the same.
    isSingleUse: true,
  });
  return days ?? [];
}
