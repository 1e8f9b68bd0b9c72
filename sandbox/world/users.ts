import { formatTimestamp } from './clock.ts';
import { seededUuid } from './ids.ts';
import { type Demographics, demographicsOf, people } from './people.ts';

/** One person's account (specification: user). */
export interface User {
  readonly id: string;
  clientUserId: string;
  /** The team's own name for the person, which the service never sees. Left out for users that a request made. */
  readonly name?: string;
  readonly createdAt: number;
  sources: readonly string[];
  timeZone: string | null;
  birthDate: string | null;
  demographics: Demographics | null;
  /** The days whose data is taken in; no bound where left out. */
  ingestionStart?: string | null;
  ingestionEnd?: string | null;
  /** Epoch milliseconds; the account is hidden from then on. */
  deletedAt?: number | null;
}

/** How long a deletion can be undone (specification, Limits). */
const gracePeriodMs = 7 * 24 * 60 * 60 * 1000;
const weekMs = 7 * 24 * 60 * 60 * 1000;

/** The seeded accounts, oldest first, one a week from `firstMs` on. */
export function createUsers(seed: number, firstMs: number): User[] {
  return people.map((person, index) => ({
    id: seededUuid(seed, 'user', index),
    clientUserId: `member-${String(index + 1).padStart(4, '0')}`,
    name: person.name,
    createdAt: firstMs + index * weekMs,
    sources: person.sources,
    timeZone: person.timeZone ?? null,
    birthDate: person.birthDate ?? null,
    demographics: demographicsOf(index),
  }));
}

/** How a person is called: by the demographics, else by the team. */
export function nameOf({ demographics, name, clientUserId }: User): string {
  return demographics ? `${demographics.first_name} ${demographics.last_name}` : (name ?? clientUserId);
}

/** Whether the account is there for everybody. */
export function isLiving(user: User): boolean {
  return (user.deletedAt ?? null) === null;
}

/** Whether the account is deleted, and its deletion can still be undone. */
export function isInGrace(user: User, nowMs: number): boolean {
  const deletedAt = user.deletedAt ?? null;
  return deletedAt !== null && nowMs < deletedAt + gracePeriodMs;
}

const sourceNames: Readonly<Record<string, string>> = {
  oura: 'Oura',
  withings: 'Withings',
  fitbit: 'Fitbit',
  garmin: 'Garmin',
  dexcom_v3: 'Dexcom (G6 and older)',
};

/** The provider as the service shows it (specification: source). */
export function presentSource(slug: string) {
  return { name: sourceNames[slug] ?? slug, slug, logo: `https://logos.example.com/${slug}.png` };
}

/**
 * The account as the service shows it. `source` is the specification's name of a connected source, `provider`
 * the same thing in the newer public service.
 */
export function presentUser(user: User, teamId: string) {
  const created = formatTimestamp(user.createdAt);
  return {
    user_id: user.id,
    team_id: teamId,
    client_user_id: user.clientUserId,
    created_on: created,
    connected_sources: user.sources.map((slug) => ({
      created_on: created,
      source: presentSource(slug),
      provider: presentSource(slug),
    })),
    fallback_time_zone: user.timeZone && { id: user.timeZone, source_slug: 'manual', updated_at: created },
    fallback_birth_date: user.birthDate && {
      value: user.birthDate,
      source_slug: 'manual',
      updated_at: created,
    },
    ingestion_start: user.ingestionStart ?? null,
    ingestion_end: user.ingestionEnd ?? null,
  };
}
