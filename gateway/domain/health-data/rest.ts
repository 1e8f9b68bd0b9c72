import type { Owner } from '../../auth/rights.ts';
import type { Service } from '../../service/service.ts';
import {
  day,
  flag,
  id,
  integer,
  link,
  number,
  optional,
  type Raw,
  record,
  required,
  text,
  timestamp,
  writtenDate,
} from '../parse.ts';
import { readResources } from '../user/rest-connections.ts';

export type HealthSource = NonNullable<ReturnType<typeof readSource>>;
export type SummaryReading = NonNullable<ReturnType<typeof readSummary>>;
export type ActivityReading = ReturnType<typeof readActivity>;
export type SampleReading = NonNullable<ReturnType<typeof readSample>>;
export type WorkoutEvent = NonNullable<ReturnType<typeof readWorkout>>;
export type Sport = NonNullable<WorkoutEvent['sport']>;
export type ConnectionEvent = NonNullable<ReturnType<typeof readConnection>>;
export type PullEvent = NonNullable<ReturnType<typeof readPull>>;
export type WorkoutStream = ReturnType<typeof readStream>;

/**
 * The specification names a source by name, slug and logo; the public service by provider and type, with empty texts for
 * the others.
 */
export const readSource = optional(
  record((raw) => ({
    name: text(raw.name) || null,
    slug: text(raw.slug) || null,
    logo: link(raw.logo),
    provider: text(raw.provider) || text(raw.slug) || null,
    type: text(raw.type),
    appId: text(raw.app_id),
    deviceId: text(raw.device_id),
    sport: text(raw.sport),
    workoutId: id(raw.workout_id),
  })),
);

/** The fields of a source that `readSource` reads. */
const sourceFields = [
  'name',
  'slug',
  'logo',
  'provider',
  'type',
  'app_id',
  'device_id',
  'sport',
  'workout_id',
];
/** A source is stored with each sample of its batch, of which there may be ten thousand. */
const maxSourceCharacters = 1000;

/** A source as it is stored: only what is read of it, and no text longer than 1,000 characters. */
const shortenSource = optional(
  record((raw) =>
    Object.fromEntries(
      sourceFields.flatMap((field) => {
        const value = shortText(raw[field]);
        return value === null ? [] : [[field, value]];
      }),
    ),
  ),
);

function shortText(json: unknown): string | null {
  const value = text(json);
  return value === null || value.length > maxSourceCharacters ? null : value;
}

/** The resource of `daily.data.<resource>.<created|updated>`; null for every other event type. */
export function resourceOf(eventType: string): string | null {
  return /^daily\.data\.([^.]+)\.(?:created|updated)$/.exec(eventType)?.[1] ?? null;
}

/** Whether a daily event brings a new version of something that was there. */
export function isUpdate(eventType: string): boolean {
  return eventType.endsWith('.updated');
}

const readActivity = record((raw) => ({
  caloriesActive: number(raw.calories_active),
  caloriesTotal: number(raw.calories_total),
  dailyMovement: number(raw.daily_movement),
  distance: number(raw.distance),
  floorsClimbed: number(raw.floors_climbed),
  steps: number(raw.steps),
  high: number(raw.high),
  medium: number(raw.medium),
  low: number(raw.low),
}));

const readSummaryParts = optional(
  record((raw) => ({
    id: required(raw, 'id', id),
    calendarDate: day(raw.calendar_date) ?? dayAlone(raw.date) ?? dayOfBegin(raw),
    date: timestamp(raw.date),
    beganAt: timestamp(beginOf(raw)),
    timezoneOffset: integer(raw.timezone_offset),
    source: readSource(raw.source),
  })),
);

/** The day of a date without a time. The day of an instant may differ in the user's time zone. */
function dayAlone(json: unknown): string | null {
  return timestamp(json) === null ? day(json) : null;
}

/** Summaries without a day have a start (public service): of a recording, a night of sleep, a cycle. */
function beginOf(raw: Raw): unknown {
  return raw.session_start ?? raw.period_start;
}

/** The local day of the start, if the start is a day or has the local offset. */
function dayOfBegin(raw: Raw): string | null {
  const timezone_offset = integer(raw.timezone_offset);
  if (timezone_offset === null) return dayAlone(beginOf(raw));
  return writtenDate({ timestamp: beginOf(raw), timezone_offset }).on;
}

/**
 * A summary: its fields are directly in the payload, with an id (specification, Summary events). Null for
 * a payload without an id, and for a batch of samples.
 */
export function readSummary(resource: string, payload: unknown) {
  const parts = readSummaryParts(payload);
  if (parts === null || splitBatch(payload) !== null) return null;
  return { ...parts, resource, activity: resource === 'activity' ? readActivity(payload) : null, payload };
}

const readMeasurement = optional(
  record((raw) => ({
    timestamp: timestamp(raw.timestamp),
    start: timestamp(raw.start),
    end: timestamp(raw.end),
    timezoneOffset: integer(raw.timezone_offset),
    type: text(raw.type),
    unit: text(raw.unit),
    value: number(raw.value),
  })),
);

const readBatch = optional(
  record((raw) => ({
    id: id(raw.id),
    samples: required(raw, 'data', everything),
    source: shortenSource(raw.source),
    source_id: shortText(id(raw.source_id)),
  })),
);

function everything(json: unknown): readonly unknown[] | null {
  return Array.isArray(json) ? json : null;
}

/** One sample of a batch as it is stored: as it was sent, with the source that all of them share. */
export interface SampleOfBatch {
  readonly source: unknown;
  readonly source_id: string | null;
  readonly sample: unknown;
}

/**
 * The samples of a batch (specification, Timeseries events); null when it is none. A list in a
 * payload with an id of its own is a part of a summary, unless it has values that were measured at a time.
 */
export function splitBatch(payload: unknown): readonly SampleOfBatch[] | null {
  const batch = readBatch(payload);
  if (batch === null) return null;
  const { source, source_id, samples } = batch;
  if (batch.id !== null && !samples.some((sample) => readSampleIdentity(sample) !== null)) return null;
  return samples.map((sample) => ({ source, source_id, sample }));
}

/**
 * The part of a sample's key that its source does not give: its time and its type. The timestamp is deprecated (public
 * service), so an interval may have only a start. Null when the sample has no time.
 */
export const readSampleIdentity = optional(
  record((raw) => {
    const at = timestamp(raw.timestamp) ?? timestamp(raw.start);
    return at === null ? null : { at, type: text(raw.type) };
  }),
);

const readStoredSample = optional(
  record((raw) => ({ source: readSource(raw.source), sourceId: id(raw.source_id), payload: raw.sample })),
);

/** A sample, with all that was sent of it; null when it is none. */
export function readSample(resource: string, one: unknown) {
  const stored = readStoredSample(one);
  const measurement = readMeasurement(stored?.payload);
  return stored === null || measurement === null ? null : { resource, ...stored, ...measurement };
}

const readSport = optional(record((raw) => ({ id: id(raw.id), name: text(raw.name), slug: text(raw.slug) })));

const readWorkout = optional(
  record((raw) => ({
    workoutId: required(raw, 'workout_id', id),
    message: text(raw.message),
    providerId: text(raw.provider_id),
    sport: readSport(raw.sport),
    source: readSource(raw.source),
  })),
);

/** The announcement that a workout's stream can be read; null for every other event. */
export function readWorkoutEvent(eventType: string, payload: unknown): WorkoutEvent | null {
  if (resourceOf(eventType) !== 'workout_stream') return null;
  return readWorkout(payload);
}

/** A provider is an object in some events and a slug in others. */
function readProvider(json: unknown): HealthSource | null {
  return readSource(typeof json === 'string' ? { slug: json } : json);
}

const readConnection = optional(
  record((raw) => ({
    source: readSource(raw.source) ?? readProvider(raw.provider),
    externalUserId: text(raw.external_user_id),
    errorType: text(raw.error_type),
    errorMessage: text(raw.message),
    errorDetails: text(raw.error_details),
    resources: readResources(raw.resource_availability),
  })),
);

/** A connection that was made or has an error; null for every other event, also for new kinds of `provider.connection`. */
export function readConnectionEvent(eventType: string, payload: unknown): ConnectionEvent | null {
  if (!/^provider\.connection\.(?:created|error)$/.test(eventType)) return null;
  return readConnection(payload);
}

const readPull = optional(
  record((raw) => ({
    startDate: timestamp(raw.start_date),
    endDate: timestamp(raw.end_date),
    source: readSource(raw.source) ?? readProvider(raw.provider),
    isFinal: flag(raw.is_final),
  })),
);

/** The resource of `historical.data.<resource>.created`; null for every other event type. */
export function pulledResourceOf(eventType: string): string | null {
  return /^historical\.data\.([^.]+)\.created$/.exec(eventType)?.[1] ?? null;
}

/** The end of a historical pull; null for every other event. */
export function readPullEvent(eventType: string, payload: unknown): PullEvent | null {
  return pulledResourceOf(eventType) === null ? null : readPull(payload);
}

/** A column of a stream: a value that cannot be read becomes null in its place. */
function column(json: unknown): readonly (number | null)[] {
  return Array.isArray(json) ? json.map(number) : [];
}

const readStream = record((raw) => ({
  time: column(raw.time).map((seconds) => (seconds === null ? null : toDate(seconds))),
  altitude: column(raw.altitude),
  cadence: column(raw.cadence),
  distance: column(raw.distance),
  heartRate: column(raw.heartrate),
  latitude: column(raw.lat),
  longitude: column(raw.lng),
  power: column(raw.power),
  resistance: column(raw.resistance),
  temperature: column(raw.temperature),
  velocity: column(raw.velocity_smooth),
}));

function toDate(seconds: number): Date | null {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? null : date;
}

/**
 * The stream of a workout, or null (`GET /v2/timeseries/workouts/{workout_id}/stream`).
 * @param owner as the webhook named it: the answer does not
 */
export function getWorkoutStream(
  service: Service,
  workoutId: string,
  owner: Owner,
): Promise<WorkoutStream | null> {
  return service.readOne({
    operation: 'workout.stream',
    method: 'GET',
    path: `/v2/timeseries/workouts/${encodeURIComponent(workoutId)}/stream`,
    reader: readStream,
    scope: 'read:health',
    owner: () => owner,
    about: owner,
  });
}
