import { GatewayError } from '../../errors.ts';
import type { FactQuery, StoredFact } from '../../events/log.ts';
import type { GraphContext } from '../../graph/context.ts';
import { startOfDay } from '../../parse/dates.ts';
import {
  getWorkoutStream,
  type HealthSource,
  readSample,
  readSampleIdentity,
  readSource,
  readSummary,
  readWorkoutEvent,
  resourceOf,
  type SampleOfBatch,
  type SampleReading,
  type SummaryReading,
  splitBatch,
  type WorkoutStream,
} from './rest.ts';

export interface HealthSummary extends SummaryReading {
  readonly receivedAt: Date;
}

export interface HealthSample extends SampleReading {
  readonly receivedAt: Date;
}

export interface StreamOfWorkout extends WorkoutStream {
  readonly workoutId: string;
}

const dayMs = 86_400_000;
/** The most rows of one answer; a day with a value each minute has 1,440. */
export const maxRows = 2000;
/** For sentences. A formatter of the runtime would cost each start 35 ms. */
export const maxRowsText = String(maxRows).replace(/(?=\d{3}$)/, ',');

/** Health data of one resource of a user; both ends of the range are included. */
export interface HealthQuery {
  readonly userId: string;
  readonly resource: string;
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The newest version of each of a user's summaries, latest day first. @throws GatewayError FORBIDDEN, QUERY_TOO_COSTLY */
export async function listSummaries(
  context: GraphContext,
  query: HealthQuery,
): Promise<readonly HealthSummary[]> {
  const facts = await readFacts(context, query, { kind: summaryKind(query.resource), stepMs: dayMs });
  return facts.flatMap((fact) => {
    const summary = readSummary(query.resource, parseValue(fact));
    return summary === null ? [] : [{ ...summary, receivedAt: fact.receivedAt }];
  });
}

/** The newest value of each of a user's samples, latest first. @throws GatewayError FORBIDDEN, QUERY_TOO_COSTLY */
export async function listSamples(
  context: GraphContext,
  query: HealthQuery,
): Promise<readonly HealthSample[]> {
  const facts = await readFacts(context, query, { kind: sampleKind(query.resource), stepMs: 1 });
  const seen = new Set<string>();
  return facts.flatMap((fact) => {
    const sample = readSample(query.resource, parseValue(fact));
    if (sample === null) return [];
    // A sample may be in the log twice: earlier versions had no type in its key. The newest row comes first.
    const key = sampleKey(sample.source, fact.at, sample.type);
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ ...sample, receivedAt: fact.receivedAt }];
  });
}

interface Grain {
  readonly kind: string;
  /** How long the last unit of a range is: a day for days, a millisecond for instants. */
  readonly stepMs: number;
}

async function readFacts(
  { events, service }: GraphContext,
  { userId, from, to }: HealthQuery,
  { kind, stepMs }: Grain,
): Promise<readonly StoredFact[]> {
  if (!service.rights.mayShow({ userId }, 'read health-data.list')) return [];
  const factQuery: FactQuery = {
    userId: userId.toLowerCase(),
    kind,
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { from: from ?? earliest, before: new Date(to.getTime() + stepMs) }),
  };
  const facts = await events.facts(factQuery, maxRows + 1);
  if (facts.length <= maxRows) return facts;
  throw new GatewayError(
    'QUERY_TOO_COSTLY',
    `There are more than ${maxRowsText} of them. Ask for a shorter time with from and to.`,
  );
}

/** The time of a summary without a day: before every day, so that it comes last and is in no range. */
const undated = new Date(-8_640_000_000_000_000);

/** The first instant that is a time, and not the lack of one. */
const earliest = new Date(undated.getTime() + 1);

function parseValue({ value }: StoredFact): unknown {
  return JSON.parse(value.toString('utf8'));
}

/**
 * The stream of a workout. The service does not name its owner, so a viewer gets only workouts that a webhook
 * named as theirs; others are not requested.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function findWorkoutStream(
  { events, service }: GraphContext,
  workoutId: string,
): Promise<StreamOfWorkout | null> {
  const { userId } = service.rights;
  if (userId !== null) {
    const own = await events.facts({ userId, kind: workoutKind, key: workoutId.toLowerCase() }, 1);
    if (own.length === 0) return null;
  }
  const stream = await getWorkoutStream(service, workoutId, { userId });
  return stream === null ? null : { ...stream, workoutId };
}

/** A statement of an event about its user's health data, as the event log stores it. */
export interface HealthFact {
  readonly kind: string;
  readonly key: string;
  readonly at: Date | null;
  readonly value: unknown;
}

function summaryKind(resource: string): string {
  return `summary:${resource}`;
}

function sampleKind(resource: string): string {
  return `sample:${resource}`;
}

/** Which workouts of a user have a stream: how the owner of a stream is known. */
const workoutKind = 'workout-stream';

/**
 * The specification's identity rules: a summary is its resource and id, a sample its resource, source provider,
 * source type and timestamp, and its own type (decision 0089); the latest received replaces the earlier value,
 * in the log's own order. An event of another family, or an unreadable one, has no facts. Never throws.
 */
export function healthFactsOf(eventType: string, payload: unknown): Iterable<HealthFact> {
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
function* sampleFacts(resource: string, batch: readonly SampleOfBatch[]): Generator<HealthFact> {
  // The samples of a batch share one source: read once, because a batch can have ten thousand of them.
  const source = readSource(batch[0]?.source);
  for (const one of batch) {
    const identity = readSampleIdentity(one.sample);
    if (identity === null) continue;
    const { at, type } = identity;
    yield { kind: sampleKind(resource), key: sampleKey(source, at, type), at, value: one };
  }
}

/** Two spellings of one instant are one time. Samples without a type have the same key as in logs of earlier versions. */
function sampleKey(source: HealthSource | null, at: Date, type: string | null): string {
  const { provider = null, type: sourceType = null } = source ?? {};
  return JSON.stringify([provider, sourceType, at.getTime(), ...(type === null ? [] : [type])]);
}

function workoutFacts(eventType: string, payload: unknown): readonly HealthFact[] {
  const workout = readWorkoutEvent(eventType, payload);
  if (workout === null) return [];
  return [{ kind: workoutKind, key: workout.workoutId.toLowerCase(), at: null, value: {} }];
}
