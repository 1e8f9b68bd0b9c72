import { z } from 'zod';
import type { Service, Subject } from '../../upstream/service.ts';
import { day, flag, id, integer, link, optionalId, text, timestamp } from '../reading.ts';

export type HealthSource = NonNullable<z.infer<typeof sourceShape>>;
export type SummaryReading = NonNullable<ReturnType<typeof readSummary>>;
export type ActivityReading = z.infer<typeof activityShape>;
export type SampleReading = NonNullable<ReturnType<typeof readSample>>;
export type WorkoutNews = z.infer<typeof workoutShape>;
export type Sport = NonNullable<WorkoutNews['sport']>;
export type ConnectionNews = z.infer<typeof connectionShape>;
export type PullNews = z.infer<typeof pullShape>;
export type WorkoutStream = z.infer<typeof streamShape>;

const number = z.number().nullable().catch(null);

/** The specification names a source by name, slug and logo; the public service by provider and type. */
const sourceObject = z
  .object({ name: text, slug: text, logo: link, provider: text, type: text, app_id: text, device_id: text })
  .transform((raw) => ({
    name: raw.name,
    slug: raw.slug,
    logo: raw.logo,
    provider: raw.provider ?? raw.slug,
    type: raw.type,
    appId: raw.app_id,
    deviceId: raw.device_id,
  }));
const sourceShape = sourceObject.nullable().catch(null);

/** The resource of `daily.data.<resource>.<created|updated>`; null for every other event type. */
export function resourceOf(eventType: string): string | null {
  return /^daily\.data\.([^.]+)\.(?:created|updated)$/.exec(eventType)?.[1] ?? null;
}

/** Whether a daily event brings a new version of something that was there. */
export function isUpdate(eventType: string): boolean {
  return eventType.endsWith('.updated');
}

const activityShape = z
  .object({
    calories_active: number,
    calories_total: number,
    daily_movement: number,
    distance: number,
    floors_climbed: number,
    steps: number,
    high: number,
    medium: number,
    low: number,
  })
  .transform((raw) => ({
    caloriesActive: raw.calories_active,
    caloriesTotal: raw.calories_total,
    dailyMovement: raw.daily_movement,
    distance: raw.distance,
    floorsClimbed: raw.floors_climbed,
    steps: raw.steps,
    high: raw.high,
    medium: raw.medium,
    low: raw.low,
  }));

const summaryShape = z.looseObject({
  id,
  calendar_date: day,
  date: timestamp,
  timezone_offset: integer,
  source: sourceShape,
});

/**
 * A summary: its fields stand directly in the payload, with an id (specification, Summary events). Null for
 * what has no id, and for a batch of samples.
 */
export function readSummary(resource: string, payload: unknown) {
  const raw = summaryShape.safeParse(payload).data;
  if (raw === undefined || splitBatch(payload) !== null) return null;
  return {
    id: raw.id,
    resource,
    calendarDate: raw.calendar_date,
    date: raw.date,
    timezoneOffset: raw.timezone_offset,
    source: raw.source,
    activity: resource === 'activity' ? activityShape.parse(payload) : null,
    payload,
  };
}

const sampleShape = z
  .object({
    timestamp,
    start: timestamp,
    end: timestamp,
    timezone_offset: integer,
    type: text,
    unit: text,
    value: number,
  })
  .transform((raw) => ({
    timestamp: raw.timestamp,
    start: raw.start,
    end: raw.end,
    timezoneOffset: raw.timezone_offset,
    type: raw.type,
    unit: raw.unit,
    value: raw.value,
  }));

const batchShape = z.object({
  id: optionalId,
  data: z.array(z.unknown()),
  source: z.unknown().optional(),
  source_id: optionalId,
});

/** One sample of a batch, with what the batch says of all of them: the form in which it is kept. */
export interface SampleOfBatch {
  readonly source: unknown;
  readonly source_id: string | null;
  readonly sample: unknown;
}

/**
 * The samples of a batch as they were sent (specification, Timeseries events); null when it is none. A list in a
 * payload with an id of its own is a part of a summary, unless it holds what has been measured at a time.
 */
export function splitBatch(payload: unknown): readonly SampleOfBatch[] | null {
  const batch = batchShape.safeParse(payload).data;
  if (batch === undefined) return null;
  const { source = null, source_id } = batch;
  if (batch.id !== null && !batch.data.some((sample) => readSampleTime(sample) !== null)) return null;
  return batch.data.map((sample) => ({ source, source_id, sample }));
}

/** Who measured, as far as it is part of a sample's identity: the source's provider and type. */
export function readSourceKey(source: unknown): readonly (string | null)[] {
  const { provider = null, type = null } = sourceShape.parse(source) ?? {};
  return [provider, type];
}

const dated = z.object({ timestamp });

/** When a sample was measured; null when it does not say. */
export function readSampleTime(sample: unknown): Date | null {
  return dated.safeParse(sample).data?.timestamp ?? null;
}

const keptSample = z.object({ source: sourceShape, source_id: optionalId, sample: z.unknown() });

/** A sample, with all that was sent of it; null when it is none. */
export function readSample(resource: string, one: unknown) {
  const kept = keptSample.safeParse(one).data;
  const sample = sampleShape.safeParse(kept?.sample).data;
  if (kept === undefined || sample === undefined) return null;
  return { resource, source: kept.source, sourceId: kept.source_id, ...sample, payload: kept.sample };
}

const sportShape = z.object({ id: optionalId, name: text, slug: text }).nullable().catch(null);

const workoutShape = z
  .object({ workout_id: id, message: text, provider_id: text, sport: sportShape, source: sourceShape })
  .transform((raw) => ({
    workoutId: raw.workout_id,
    message: raw.message,
    providerId: raw.provider_id,
    sport: raw.sport,
    source: raw.source,
  }));

/** What says that a workout's stream can be read; null for every other event. */
export function readWorkoutNews(eventType: string, payload: unknown): WorkoutNews | null {
  if (resourceOf(eventType) !== 'workout_stream') return null;
  return workoutShape.safeParse(payload).data ?? null;
}

const providerName = z.union([sourceObject, z.string()]).nullable().catch(null);

const connectionShape = z
  .object({
    source: sourceShape,
    provider: providerName,
    external_user_id: text,
    error_type: text,
    message: text,
  })
  .transform((raw) => ({
    source: raw.source ?? toSource(raw.provider),
    externalUserId: raw.external_user_id,
    errorType: raw.error_type,
    errorMessage: raw.message,
  }));

/** A provider is an object in some events and a slug in others. */
function toSource(provider: HealthSource | string | null): HealthSource | null {
  if (provider === null || typeof provider !== 'string') return provider;
  const slug = provider;
  return { name: null, slug, logo: null, provider: slug, type: null, appId: null, deviceId: null };
}

/** A connection that was made or is in trouble (`provider.connection.*`); null for every other event. */
export function readConnectionNews(eventType: string, payload: unknown): ConnectionNews | null {
  if (!/^provider\.connection\.[a-z_]+$/.test(eventType)) return null;
  return connectionShape.safeParse(payload).data ?? null;
}

const pullShape = z
  .object({
    start_date: timestamp,
    end_date: timestamp,
    provider: providerName,
    source: sourceShape,
    is_final: flag,
  })
  .transform((raw) => ({
    startDate: raw.start_date,
    endDate: raw.end_date,
    source: raw.source ?? toSource(raw.provider),
    isFinal: raw.is_final,
  }));

/** The resource of `historical.data.<resource>.created`; null for every other event type. */
export function pulledResourceOf(eventType: string): string | null {
  return /^historical\.data\.([^.]+)\.created$/.exec(eventType)?.[1] ?? null;
}

/** The end of a historical pull; null for every other event. */
export function readPullNews(eventType: string, payload: unknown): PullNews | null {
  return pulledResourceOf(eventType) === null ? null : (pullShape.safeParse(payload).data ?? null);
}

/** A column of a stream: what cannot be read becomes null and keeps its place. */
const column = z.array(number).catch([]);

const streamShape = z
  .object({
    time: column,
    altitude: column,
    cadence: column,
    distance: column,
    heartrate: column,
    lat: column,
    lng: column,
    power: column,
    resistance: column,
    temperature: column,
    velocity_smooth: column,
  })
  .transform((raw) => ({
    time: raw.time.map((seconds) => (seconds === null ? null : toDate(seconds))),
    altitude: raw.altitude,
    cadence: raw.cadence,
    distance: raw.distance,
    heartRate: raw.heartrate,
    latitude: raw.lat,
    longitude: raw.lng,
    power: raw.power,
    resistance: raw.resistance,
    temperature: raw.temperature,
    velocity: raw.velocity_smooth,
  }));

function toDate(seconds: number): Date | null {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date;
}

/**
 * The stream of a workout, or null (`GET /v2/timeseries/workouts/{workout_id}/stream`).
 * @param owner whose it is: the answer does not say, the webhook did
 */
export function getWorkoutStream(
  service: Service,
  workoutId: string,
  owner: Subject,
): Promise<WorkoutStream | null> {
  return service.readOne({
    operation: 'workout.stream',
    method: 'GET',
    path: `/v2/timeseries/workouts/${encodeURIComponent(workoutId)}/stream`,
    reader: (json) => streamShape.parse(json),
    scope: 'read:health',
    owner: () => owner,
    about: owner,
  });
}
