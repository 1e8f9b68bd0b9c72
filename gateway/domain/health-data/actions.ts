import { GatewayError } from '../../errors.ts';
import type { FactQuery, StoredFact } from '../../events/log.ts';
import type { GraphContext } from '../../graph/context.ts';
import {
  getWorkoutStream,
  readSample,
  readSummary,
  type SampleReading,
  type SummaryReading,
  type WorkoutStream,
} from './rest.ts';
import { sampleKey, sampleKind, summaryKind, undated, workoutKind } from './rest-facts.ts';

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
/** What one answer has at most; a day of values a minute is 1,440. */
export const maxRows = 2000;

/** Which stretch of a user's health data; both ends are included. */
export interface Stretch {
  readonly userId: string;
  readonly resource: string;
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The newest version of each of a user's summaries, latest day first. @throws GatewayError FORBIDDEN, QUERY_TOO_COSTLY */
export async function listSummaries(
  context: GraphContext,
  stretch: Stretch,
): Promise<readonly HealthSummary[]> {
  const facts = await readFacts(context, stretch, { kind: summaryKind(stretch.resource), stepMs: dayMs });
  return facts.flatMap((fact) => {
    const summary = readSummary(stretch.resource, parseValue(fact));
    return summary === null ? [] : [{ ...summary, receivedAt: fact.receivedAt }];
  });
}

/** The newest value of each of a user's samples, latest first. @throws GatewayError FORBIDDEN, QUERY_TOO_COSTLY */
export async function listSamples(context: GraphContext, stretch: Stretch): Promise<readonly HealthSample[]> {
  const facts = await readFacts(context, stretch, { kind: sampleKind(stretch.resource), stepMs: 1 });
  const seen = new Set<string>();
  return facts.flatMap((fact) => {
    const sample = readSample(stretch.resource, parseValue(fact));
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
  /** How long the last unit of a stretch is: a day of days, a millisecond of instants. */
  readonly stepMs: number;
}

async function readFacts(
  { events, service }: GraphContext,
  { userId, from, to }: Stretch,
  { kind, stepMs }: Grain,
): Promise<readonly StoredFact[]> {
  service.rights.require('read:health');
  if (!service.rights.mayShow({ userId }, 'read health-data.list')) return [];
  const query: FactQuery = {
    userId: userId.toLowerCase(),
    kind,
    ...(from === null ? {} : { from }),
    ...(to === null ? {} : { from: from ?? earliest, before: new Date(to.getTime() + stepMs) }),
  };
  const facts = await events.facts(query, maxRows + 1);
  if (facts.length <= maxRows) return facts;
  const most = maxRows.toLocaleString('en');
  throw new GatewayError(
    'QUERY_TOO_COSTLY',
    `There are more than ${most} of them. Ask for a shorter stretch with from and to.`,
  );
}

/** The first instant that is a time, and not the lack of one. */
const earliest = new Date(undated.getTime() + 1);

function parseValue({ value }: StoredFact): unknown {
  return JSON.parse(value.toString('utf8'));
}

/**
 * The stream of a workout. The service does not say whose it is, so a viewer gets only what a webhook named as
 * theirs; what is not known to be theirs is not asked for.
 * @throws GatewayError FORBIDDEN, UPSTREAM_*
 */
export async function findWorkoutStream(
  { events, service }: GraphContext,
  workoutId: string,
): Promise<StreamOfWorkout | null> {
  service.rights.require('read:health');
  const { userId } = service.rights;
  if (userId !== null) {
    const own = await events.facts({ userId, kind: workoutKind, key: workoutId.toLowerCase() }, 1);
    if (own.length === 0) return null;
  }
  const stream = await getWorkoutStream(service, workoutId, { userId });
  return stream === null ? null : { ...stream, workoutId };
}
