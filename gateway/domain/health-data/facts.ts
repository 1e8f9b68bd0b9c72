import { startOfDay } from '../../dates.ts';
import {
  readSampleTime,
  readSourceKey,
  readSummary,
  readWorkoutNews,
  resourceOf,
  type SampleOfBatch,
  splitBatch,
} from './rest.ts';

/** What an event states of its user's health data, in the form that the event log keeps. */
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
 * source type and timestamp; the latest received replaces what was there, which is the log's own order. An event
 * of another family, or one that cannot be read, states nothing. Never throws.
 */
export function healthFactsOf(eventType: string, payload: unknown): readonly HealthFact[] {
  const resource = resourceOf(eventType);
  if (resource === null) return [];
  if (resource === 'workout_stream') return workoutFacts(eventType, payload);
  const batch = splitBatch(payload);
  if (batch !== null) return sampleFacts(resource, batch);
  const summary = readSummary(resource, payload);
  if (summary === null) return [];
  const at = summary.calendarDate === null ? (summary.date ?? undated) : startOfDay(summary.calendarDate);
  return [{ kind: summaryKind(resource), key: summary.id, at, value: payload }];
}

/** Two spellings of one instant are one timestamp. Without one there is no identity, so nothing is stated. */
function sampleFacts(resource: string, batch: readonly SampleOfBatch[]): readonly HealthFact[] {
  // The samples of a batch share one source: read once, because a batch can have ten thousand of them.
  const sourceKey = readSourceKey(batch[0]?.source);
  return batch.flatMap((one) => {
    const at = readSampleTime(one.sample);
    if (at === null) return [];
    return [
      { kind: sampleKind(resource), key: JSON.stringify([...sourceKey, at.getTime()]), at, value: one },
    ];
  });
}

function workoutFacts(eventType: string, payload: unknown): readonly HealthFact[] {
  const workout = readWorkoutNews(eventType, payload);
  if (workout === null) return [];
  return [{ kind: workoutKind, key: workout.workoutId.toLowerCase(), at: null, value: {} }];
}
