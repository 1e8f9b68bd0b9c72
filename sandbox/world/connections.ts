import { formatTimestamp } from './clock.ts';
import { seededNumber } from './ids.ts';
import { presentSource, type User } from './users.ts';

/** The resources of each provider; others have activity only. */
const resources: Readonly<Record<string, readonly string[]>> = {
  oura: ['activity', 'sleep', 'heartrate', 'hrv'],
  withings: ['body', 'blood_pressure', 'sleep'],
  fitbit: ['activity', 'sleep', 'steps'],
  garmin: ['activity', 'workouts', 'stress_level'],
  dexcom_v3: ['glucose'],
};
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The one provider whose access has ended, so that there is a connection with an error. */
const brokenProvider = 'dexcom_v3';

function resourcesOf(provider: string): readonly string[] {
  return resources[provider] ?? ['activity'];
}

/** The connections of a user as the service shows them (public service: ClientFacingProviderWithStatus). */
export function presentConnections(user: User) {
  return user.sources.map((slug) => ({
    ...presentSource(slug),
    created_on: formatTimestamp(user.createdAt),
    status: slug === brokenProvider ? 'error' : 'connected',
    external_user_id: null,
    error_details: slug === brokenProvider ? describeError(user) : null,
    resource_availability: presentResources(slug),
  }));
}

/** Resources of a connection; the user denied the fourth one (public service: ResourceAvailability). */
export function presentResources(slug: string) {
  return Object.fromEntries(
    resourcesOf(slug).map((resource, index) => {
      const isGranted = index < 3;
      const [required, optional] = [[`${resource}.read`], [`${resource}.details`]];
      return [
        resource,
        {
          status: slug !== brokenProvider && isGranted ? 'available' : 'unavailable',
          scope_requirements: {
            user_granted: { required: isGranted ? required : [], optional: [] },
            user_denied: { required: isGranted ? [] : required, optional },
          },
        },
      ];
    }),
  );
}

function describeError(user: User) {
  return {
    error_type: 'token_refresh_failed',
    error_message: 'The provider no longer accepts the access that the user gave.',
    errored_at: formatTimestamp(user.createdAt + 30 * dayMs),
  };
}

const states = ['success', 'success', 'retrying', 'in_progress', 'scheduled', 'failure'] as const;
const errorsOfState: Readonly<Record<string, string>> = {
  retrying: 'provider_rate_limit_exceeded',
  failure: 'retry_quota_exhausted',
};

/** The backfill of one resource: one of the five states, always the same for one user. */
function presentPull(user: User, provider: string, resource: string) {
  const status =
    states[seededNumber(user.createdAt, `backfill/${provider}/${resource}`, 0) % states.length] ?? 'success';
  const at = (minutes: number) => formatTimestamp(user.createdAt + minutes * minuteMs);
  const isStarted = status !== 'scheduled';
  const isEnded = status === 'success' || status === 'failure';
  return {
    status,
    range_start: isStarted ? formatTimestamp(user.createdAt - 90 * dayMs) : null,
    range_end: isStarted ? at(0) : null,
    timeline: { scheduled_at: at(1), started_at: isStarted ? at(2) : null, ended_at: isEnded ? at(5) : null },
    days_with_data: status === 'success' ? 70 : 0,
    release: '0.0.0-sandbox',
    trace_id: null,
    error_details: errorsOfState[status] ?? null,
  };
}

/** The backfills of one user, by provider and resource (public service: SingleUserHistoricalPullResponse). */
export function presentHistoricalPulls(user: User, provider: string | undefined) {
  const sources = user.sources.filter((slug) => provider === undefined || slug === provider);
  const pullsOf = (slug: string) => resourcesOf(slug).slice(0, 3);
  return {
    user_id: user.id,
    provider: Object.fromEntries(
      sources.map((slug) => [
        slug,
        {
          pulled: Object.fromEntries(pullsOf(slug).map((each) => [each, presentPull(user, slug, each)])),
          not_pulled: resourcesOf(slug).slice(3),
        },
      ]),
    ),
  };
}
