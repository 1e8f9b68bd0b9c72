import { createHash } from 'node:crypto';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { formatTimestamp } from '../world/clock.ts';
import { seededNumber } from '../world/ids.ts';
import type { World } from '../world/world.ts';
import { type Place, placeOfCode } from './places.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Availability always spans this many days (specification: Limits). */
const availableDays = 14;
const firstHour = 8;
const lastHour = 15;

/** A time at a place that can be booked. */
export interface Slot {
  readonly place: Place;
  readonly startAt: number;
}

/** The number of appointments that fit into a slot; 0 outside working hours. */
function capacityOf(world: World, { place, startAt }: Slot): number {
  const chance = seededNumber(world.state.seed, `slot/${place.code}`, startAt / hourMs);
  return chance % 5 === 0 ? 0 : 1 + (chance % 2);
}

/** The number of appointments that still fit into the slot. */
function freePlacesIn(world: World, slot: Slot): number {
  const taken = world.state.appointments.filter(
    ({ placeCode, startAt, events }) =>
      placeCode === slot.place.code && startAt === slot.startAt && events.at(-1)?.status !== 'cancelled',
  );
  return capacityOf(world, slot) - taken.length;
}

/** The single-use key of a slot: each answer has a new one, and older ones stay valid (public service, observed). */
function mintKey(world: World, { place, startAt }: Slot): string {
  const { bookingKeys, seed } = world.state;
  bookingKeys.minted += 1;
  const content = Buffer.from(JSON.stringify([place.code, startAt, bookingKeys.minted])).toString(
    'base64url',
  );
  return `${content}.${signatureOf(seed, content)}`;
}

function signatureOf(seed: number, content: string): string {
  return createHash('sha256').update(`${seed}/booking/${content}`).digest('hex').slice(0, 16);
}

const keyContent = z.tuple([z.string(), z.number(), z.number()]);

/**
 * Spends a booking key.
 * @throws Refusal 400 for a key that is unknown, used or expired, or whose slot is gone (public service: 400
 *   in its sandbox)
 */
export function spendKey(world: World, key: string, now: number): Slot {
  const [content = '', signature] = key.split('.');
  if (signature !== signatureOf(world.state.seed, content)) throw refuse(400, 'Booking key is invalid');
  const [code, startAt] = keyContent.parse(JSON.parse(Buffer.from(content, 'base64url').toString()));
  const place = placeOfCode(code);
  if (!place || world.state.bookingKeys.used.includes(key)) throw refuse(400, 'Booking key was used');
  if (expiryOf(startAt) <= now) throw refuse(400, 'Booking key has expired');
  if (freePlacesIn(world, { place, startAt }) <= 0) throw refuse(400, 'The slot is no longer available');
  world.state.bookingKeys.used.push(key);
  return { place, startAt };
}

/** Observed: keys end one hour before the appointment begins. */
function expiryOf(startAt: number): number {
  return startAt - hourMs;
}

export function endOf({ startAt }: Slot): number {
  return startAt + hourMs;
}

function presentSlot(world: World, slot: Slot) {
  return {
    booking_key: mintKey(world, slot),
    start: formatTimestamp(slot.startAt),
    end: formatTimestamp(endOf(slot)),
    expires_at: formatTimestamp(expiryOf(slot.startAt)),
    price: 3500,
    is_priority: false,
    num_appointments_available: freePlacesIn(world, slot),
  };
}

/** The free slots of fourteen days at a place, from a day on; days without any are included. */
export function presentDays(world: World, place: Place, { from, now }: { from: string; now: number }) {
  const firstDay = Date.parse(`${from}T00:00:00Z`);
  return Array.from({ length: availableDays }, (_, index) => {
    const day = firstDay + index * dayMs;
    const slots = Array.from({ length: lastHour - firstHour + 1 }, (_, step): Slot => {
      return { place, startAt: day + (firstHour + step + place.hoursBehindUtc) * hourMs };
    }).filter((slot) => expiryOf(slot.startAt) > now && freePlacesIn(world, slot) > 0);
    return {
      location: null,
      date: new Date(day).toISOString().slice(0, 10),
      slots: slots.map((slot) => presentSlot(world, slot)),
    };
  });
}
