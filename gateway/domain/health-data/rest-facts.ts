import { startOfDay } from '../../parse/dates.ts';
import {
  type HealthSource,
  readSampleIdentity,
  readSource,
  readSummary,
  readWorkoutEvent,
  resourceOf,
  type SampleOfBatch,
  type SummaryReading,
  splitBatch,
} from './rest.ts';

/** What an event states of its user's health data, in the form that the event log stores. */
export interface HealthFact {
  readonly kind: string;
  readonly key: string;
  readonly at: Date | null;
  readonly value: unknown;
}

export function summaryKind(resource: string): string {
  return `summary:${resource}`;
}

export function sampleKind(resource: string): string {
  return `sample:${resource}`;
}

/** The time of a summary without a day: before every day, so that it comes last and is of no stretch. */
export const undated = new Date(-8_640_000_000_000_000);

/** Which workouts of a user have a stream: how the owner of a stream is known. */
export const workoutKind = 'workout-stream';

/**
 * The specification's identity rules: a summary is its resource and id, a sample its resource, source provider,
 * source type and timestamp, and its own type (decision 0089); the latest received replaces the earlier value,
 * in the log's own order. An event of another family, or an unreadable one, has no facts. Never throws.
 */
export function healthFactsOf(eventType: string, payload: unknown): readonly HealthFact[] {
  const resource = resourceOf(eventType);
  if (resource === null) return [];
  if (resource === 'workout_stream') return workoutFacts(eventType, payload);
  const batch = splitBatch(payload);
  if (batch !== null) return sampleFacts(resource, batch);
  const summary = readSummary(resource, payload);
  if (summary === null) return [];
  return [{ kind: summaryKind(resource), key: summary.id, at: timeOf(summary), value: payload }];
}

/** The time that a summary is found by: its day, else its instant. */
function timeOf({ calendarDate, date, beganAt }: SummaryReading): Date {
  return calendarDate === null ? (date ?? beganAt ?? undated) : startOfDay(calendarDate);
}

/** A sample without a time has no identity, so it makes no fact. */
function sampleFacts(resource: string, batch: readonly SampleOfBatch[]): readonly HealthFact[] {
  // The samples of a batch share one source: read once, because a batch can have ten thousand of them.
  const source = readSource(batch[0]?.source);
  return batch.flatMap((one) => {
    const identity = readSampleIdentity(one.sample);
    if (identity === null) return [];
    const { at, type } = identity;
    return [{ kind: sampleKind(resource), key: sampleKey(source, at, type), at, value: one }];
  });
}

/** Two spellings of one instant are one time. Samples without a type have the same key as in logs of earlier versions. */
export function sampleKey(source: HealthSource | null, at: Date, type: string | null): string {
  const { provider = null, type: sourceType = null } = source ?? {};
  return JSON.stringify([provider, sourceType, at.getTime(), ...(type === null ? [] : [type])]);
}

function workoutFacts(eventType: string, payload: unknown): readonly HealthFact[] {
  const workout = readWorkoutEvent(eventType, payload);
  if (workout === null) return [];
  return [{ kind: workoutKind, key: workout.workoutId.toLowerCase(), at: null, value: {} }];
}
