import type { Service } from '../../service/service.ts';
import {
  entries,
  flag,
  id,
  list,
  number,
  optional,
  pageReader,
  record,
  required,
  requiredList,
  text,
  texts,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';
import {
  change,
  type PageStart,
  type Place,
  readNothing,
  readRows,
  readThing,
  regionalPath,
  type TeamPlace,
  teamPath,
} from './rest.ts';

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

export type EventPipeline = ReturnType<typeof readPipeline>;

/** Without addresses and connection strings: they contain passwords. */
const readMatcher = record((raw) => ({
  eventTypePrefix: text(raw.event_type_prefix),
  eventTypeRegex: text(raw.event_type_regex),
  eventHub: text(raw.event_hub),
  hasBlobStorage: raw.blob_storage !== null && raw.blob_storage !== undefined,
}));
const readPubSub = record((raw) => ({
  project: text(raw.project),
  topic: text(raw.topic),
  messageOrdering: flag(raw.message_ordering),
}));
const readRabbit = record((raw) => ({ exchange: text(raw.exchange) }));
const readEventHubs = record((raw) => ({
  defaultEventHub: text(raw.default_event_hub),
  compression: text(raw.compression),
  matchers: list(readMatcher)(raw.event_hub_matchers),
}));
const readPreferences = record((raw) => ({
  preferred: text(raw.preferred),
  enabled: texts(raw.enabled),
}));

const readPipeline = record((raw) => ({
  teamId: required(raw, 'team_id', id),
  pushHistoricalData: flag(raw.push_historical_data),
  providerRawData: flag(raw.provider_raw_data),
  preferences: required(raw, 'preferences', readPreferences),
  cloudPubsub: optional(readPubSub)(raw.cloud_pubsub),
  rabbitmq: optional(readRabbit)(raw.rabbitmq),
  azureAmqp: optional(readEventHubs)(raw.azure_amqp),
  eventTypePrefixes:
    raw.event_type_prefixes === null || raw.event_type_prefixes === undefined
      ? null
      : texts(raw.event_type_prefixes),
}));
const readPipelines = pageReader('pipelines', readPipeline);
const readSaved = requiredList(readPipeline);

const pipelineList = 'team_etl_pipelines';

export function listEventPipelines(service: Service, at: Place, { cursor }: PageStart) {
  const query = { team_id: at.teamId, next_cursor: cursor };
  const path = regionalPath(at, pipelineList);
  return readRows(service, { operation: 'event-pipeline.list', path, query }, readPipelines);
}

/** Sets the parts that are given. The pipeline is null where the answer lacks it. */
export async function setEventPipeline(service: Service, at: Place, pipeline: object) {
  const saved = await change(service, {
    operation: 'event-pipeline.set',
    method: 'POST',
    path: regionalPath(at, pipelineList),
    body: { ...toRequestBody(pipeline), team_ids: [at.teamId] },
    reader: readSaved,
  });
  if (saved === null) return null;
  return { pipeline: saved.find(({ teamId }) => teamId.toLowerCase() === at.teamId) ?? null };
}

export function deleteEventPipeline(service: Service, at: Place) {
  return change(service, {
    operation: 'event-pipeline.delete',
    method: 'DELETE',
    path: regionalPath(at, pipelineList),
    query: { team_id: [at.teamId] },
    reader: readNothing,
  });
}
