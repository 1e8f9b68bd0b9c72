import type { Service } from '../../service/service.ts';
import { entries, list, number, record, required, text, texts } from '../parse.ts';
import { change, type Place, readNothing, readThing, type TeamPlace, teamPath } from './rest.ts';

export type MetricSeries = ReturnType<typeof readSeries>;

/** A sample of Prometheus: `[seconds since 1970, "value as text"]`. */
function readPoint(json: unknown): { readonly time: Date; readonly value: number } | null {
  if (!Array.isArray(json)) return null;
  const [seconds, value] = [number(json[0]), Number(text(json[1]) ?? Number.NaN)];
  const time = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(time.getTime()) || !Number.isFinite(value) ? null : { time, value };
}

const readSeries = record((raw) => ({
  labels: entries(text)(raw.metric).map(([name, value]) => ({ name, value })),
  points: list(readPoint)(raw.values),
}));

const readResult = record((raw) => list(readSeries)(raw.result));
const readMetrics = record((raw) => required(raw, 'data', readResult));

/** How many events were delivered over time, as Prometheus gives them. */
export async function listDeliveryMetrics(service: Service, at: Place, interval: string) {
  const call = {
    operation: 'delivery-metrics.list',
    path: `${teamPath(at)}/${at.environment}/event_delivery_metric`,
    query: { interval },
  };
  return (await readThing(service, call, readMetrics)) ?? [];
}

export type ScopeRequirements = ReturnType<typeof readRequirements>;

const readRequirements = record((raw) => ({
  provider: required(raw, 'provider', text),
  userMustGrant: texts(raw.user_must_grant),
  userMayGrant: texts(raw.user_may_grant),
}));
const readAllRequirements = record((raw) => list(readRequirements)(raw.requirements));

export async function listScopeRequirements(service: Service, at: TeamPlace, provider: string | null) {
  const call = {
    operation: 'scope-requirements.list',
    path: `${teamPath(at)}/scope_requirements`,
    query: { provider },
  };
  return (await readThing(service, call, readAllRequirements)) ?? [];
}

export function setScopeRequirements(
  service: Service,
  at: TeamPlace,
  { provider, userMustGrant, userMayGrant }: ScopeRequirements,
) {
  return change(service, {
    operation: 'scope-requirements.set',
    method: 'POST',
    path: `${teamPath(at)}/scope_requirements`,
    body: { [provider]: { user_must_grant: userMustGrant, user_may_grant: userMayGrant } },
    reader: readNothing,
  });
}
