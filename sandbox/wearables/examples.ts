import { formatTimestamp } from '../world/clock.ts';
import { presentResources } from '../world/connections.ts';
import { seededNumber, seededUuid } from '../world/ids.ts';
import { presentSource, type User } from '../world/users.ts';
import type { World } from '../world/world.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** An event of the wearable family, ready to be sent. */
export interface WearableEvent {
  readonly eventType: string;
  readonly data: unknown;
}

/** The workout of a user whose stream can be read: one a user, always the same. */
export function workoutIdOf(world: World, user: User): string {
  return seededUuid(world.state.seed, 'workout', world.state.users.indexOf(user));
}

/** In both spellings: name, slug, logo (specification) and provider, type (public service). */
function sourceOf(user: User) {
  const slug = user.sources[0] ?? 'oura';
  return { ...presentSource(slug), provider: slug, type: 'watch', app_id: null, device_id: null };
}

/** Public service: ProviderConnectionCreated. */
function connectionOf(user: User) {
  const source = sourceOf(user);
  const resource_availability = presentResources(source.slug);
  return { user_id: user.id, source, provider: source, external_user_id: null, resource_availability };
}

function activityOf(world: World, user: User, dayAt: number) {
  const ordinal = world.state.users.indexOf(user);
  const steps = 3000 + (seededNumber(world.state.seed, `steps/${dayAt}`, ordinal) % 9000);
  return {
    id: seededUuid(world.state.seed, `activity/${dayAt}`, ordinal),
    user_id: user.id,
    source: sourceOf(user),
    calendar_date: new Date(dayAt).toISOString().slice(0, 10),
    date: formatTimestamp(dayAt),
    timezone_offset: -25_200,
    calories_active: Math.round(steps / 20),
    calories_total: 1500 + Math.round(steps / 20),
    daily_movement: Math.round(steps * 0.8),
    distance: Math.round(steps * 0.7),
    floors_climbed: steps % 12,
    steps,
    high: null,
    medium: 40,
    low: 180,
    created_at: formatTimestamp(dayAt + dayMs),
    updated_at: formatTimestamp(dayAt + dayMs),
  };
}

function samplesOf(user: User, unit: string, samples: readonly (readonly [at: number, value: number])[]) {
  return {
    user_id: user.id,
    source_id: 16,
    source: sourceOf(user),
    data: samples.map(([at, value]) => ({
      timestamp: formatTimestamp(at),
      start: formatTimestamp(at - hourMs),
      end: formatTimestamp(at),
      timezone_offset: -25_200,
      type: null,
      unit,
      value,
    })),
  };
}

/** The events of a new wearable: a connection, its history, two days of activity, samples, a workout. */
export function examplesOf(world: World, user: User, now: number): readonly WearableEvent[] {
  const today = Math.floor(now / dayMs) * dayMs;
  const source = sourceOf(user);
  const hours = [8, 9, 10].map((hour) => today - dayMs + hour * hourMs);
  const steps = hours.map((at, index) => [at, 400 + index * 130] as const);
  return [
    { eventType: 'provider.connection.created', data: connectionOf(user) },
    {
      eventType: 'historical.data.activity.created',
      data: {
        user_id: user.id,
        start_date: formatTimestamp(today - 90 * dayMs),
        end_date: formatTimestamp(today),
        provider: source.slug,
        is_final: true,
      },
    },
    { eventType: 'daily.data.activity.created', data: activityOf(world, user, today - 2 * dayMs) },
    { eventType: 'daily.data.activity.created', data: activityOf(world, user, today - dayMs) },
    { eventType: 'daily.data.steps.created', data: samplesOf(user, 'count', steps) },
    {
      eventType: 'daily.data.glucose.created',
      data: samplesOf(
        user,
        'mmol/L',
        hours.map((at, index) => [at, 5.1 + index * 0.4]),
      ),
    },
    {
      eventType: 'daily.data.workout_stream.created',
      data: {
        message: 'The stream of this workout can be read.',
        provider_id: `run-${world.state.users.indexOf(user) + 1}`,
        sport: { id: 1, name: 'Running', slug: 'running' },
        workout_id: workoutIdOf(world, user),
        user_id: user.id,
        source,
      },
    },
  ];
}

/** A run of ten minutes, a point every five seconds. */
export function streamOf(world: World, user: User) {
  const start = Math.floor(user.createdAt / 1000) + 8 * 3600;
  const points = Array.from({ length: 120 }, (_, index) => index);
  const wave = (index: number) => Math.sin(index / 10 + seededNumber(world.state.seed, 'wave', 0));
  return {
    time: points.map((index) => start + index * 5),
    altitude: points.map((index) => Math.round(330 + 5 * wave(index))),
    cadence: points.map((index) => Math.round(162 + 4 * wave(index))),
    distance: points.map((index) => index * 14),
    // The sensor was not yet found at the first two points.
    heartrate: points.map((index) => (index < 2 ? null : Math.round(140 + 12 * wave(index)))),
    lat: points.map((index) => 33.45 + index / 10_000),
    lng: points.map((index) => -112.07 - index / 10_000),
    power: [],
    resistance: [],
    temperature: [],
    velocity_smooth: points.map((index) => 2.8 + wave(index) / 10),
  };
}
