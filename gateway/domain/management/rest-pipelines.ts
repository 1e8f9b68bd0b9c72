import type { Service } from '../../service/service.ts';
import {
  flag,
  id,
  list,
  optional,
  pageReader,
  record,
  required,
  requiredList,
  text,
  texts,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';
import { change, type PageStart, type Place, readNothing, readRows, regionalPath } from './rest.ts';

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

const listName = 'team_etl_pipelines';

export function listEventPipelines(service: Service, at: Place, { cursor }: PageStart) {
  const query = { team_id: at.teamId, next_cursor: cursor };
  const path = regionalPath(at, listName);
  return readRows(service, { operation: 'event-pipeline.list', path, query }, readPipelines);
}

/** Sets the parts that are given. The pipeline is null where the answer lacks it. */
export async function setEventPipeline(service: Service, at: Place, pipeline: object) {
  const saved = await change(service, {
    operation: 'event-pipeline.set',
    method: 'POST',
    path: regionalPath(at, listName),
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
    path: regionalPath(at, listName),
    query: { team_id: [at.teamId] },
    reader: readNothing,
  });
}
