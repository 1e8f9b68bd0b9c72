import { builder } from '../../graph/builder.ts';
import { addMutation, doneType } from '../../graph/mutation-field.ts';
import { openEnum, openEnumFields, openEnumListFields } from '../../graph/open-enum.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { inPlace, placeIn, requireBoth } from './actions.ts';
import { environmentArgs, mutationRoot, placeFields } from './graph.ts';
import { teamRef } from './graph-teams.ts';
import {
  deleteEventPipeline,
  type EventPipeline,
  listEventPipelines,
  setEventPipeline,
} from './rest-delivery.ts';

type Rabbit = NonNullable<EventPipeline['rabbitmq']>;
type PubSub = NonNullable<EventPipeline['cloudPubsub']>;
type EventHubs = NonNullable<EventPipeline['azureAmqp']>;

const destination = openEnum('EventDestination', 'Where events are sent.', {
  CLOUD_PUBSUB: 'A topic of Google Pub/Sub.',
  RABBITMQ: 'An exchange of RabbitMQ.',
  SVIX: 'Webhooks.',
  AZURE_AMQP: 'Azure Event Hubs.',
});

const compression = openEnum('EventCompression', 'When events are compressed.', {
  ALWAYS: 'Always.',
  AUTO: 'Above one kilobyte.',
});

const pubSubRef = builder.objectRef<PubSub>('PubSubDestination').implement({
  description: 'A topic of Google Pub/Sub.',
  fields: (t) => ({
    project: t.exposeString('project', { description: 'The project of the topic.' }),
    topic: t.exposeString('topic', { description: 'The topic.' }),
    messageOrdering: t.exposeBoolean('messageOrdering', {
      description: 'Whether the events of a user stay in order.',
    }),
  }),
});

const rabbitRef = builder.objectRef<Rabbit>('RabbitDestination').implement({
  description: 'An exchange of RabbitMQ. Its address is never shown, because it contains a password.',
  fields: (t) => ({ exchange: t.exposeString('exchange', { description: 'The exchange.' }) }),
});

const matcherRef = builder.objectRef<EventHubs['matchers'][number]>('EventHubMatcher').implement({
  description: 'Events that go to a hub of their own.',
  fields: (t) => ({
    eventTypePrefix: t.exposeString('eventTypePrefix', { description: 'How the type of the events begins.' }),
    eventTypeRegex: t.exposeString('eventTypeRegex', { description: 'A pattern (RE2) of their type.' }),
    eventHub: t.exposeString('eventHub', { description: 'The hub.' }),
    hasBlobStorage: t.exposeBoolean('hasBlobStorage', {
      nullable: false,
      description: 'Whether they go to a blob storage.',
    }),
  }),
});

const eventHubsRef = builder.objectRef<EventHubs>('EventHubsDestination').implement({
  description: 'Azure Event Hubs. Connection strings are never shown.',
  fields: (t) => ({
    defaultEventHub: t.exposeString('defaultEventHub', { description: 'The hub of all other events.' }),
    ...openEnumFields(t, compression, {
      name: 'compression',
      description: 'When events are compressed; null when it is not one of these.',
      raw: 'The same as the service sent it.',
    }),
    matchers: t.expose('matchers', {
      type: [matcherRef],
      nullable: false,
      description: 'Which events go elsewhere.',
    }),
  }),
});

const pipelineRef = builder.objectRef<EventPipeline>('EventPipeline');
pipelineRef.implement({
  description: "How a team's events reach it: webhooks, or a broker (ETL pipeline).",
  fields: (t) => ({
    ...openEnumFields(t, destination, {
      name: 'preferred',
      description: 'Where events are sent; null when it is not one of these.',
      raw: 'The destination as the service sent it.',
      read: ({ preferences }) => preferences.preferred,
    }),
    ...openEnumListFields(t, destination, {
      name: 'enabled',
      description: 'All destinations that are in use, as during a migration.',
      raw: 'The same as the service sent them.',
      read: ({ preferences }) => preferences.enabled,
    }),
    pushHistoricalData: t.exposeBoolean('pushHistoricalData', {
      description: 'Whether historical data is sent as daily events.',
    }),
    providerRawData: t.exposeBoolean('providerRawData', {
      description: 'Whether the data of providers is sent as it came.',
    }),
    eventTypePrefixes: t.exposeStringList('eventTypePrefixes', {
      description: 'Only events whose type begins like one of these are sent; null or an empty list = all.',
    }),
    cloudPubsub: t.expose('cloudPubsub', { type: pubSubRef, description: 'Its topic of Pub/Sub.' }),
    rabbitmq: t.expose('rabbitmq', { type: rabbitRef, description: 'Its exchange of RabbitMQ.' }),
    azureAmqp: t.expose('azureAmqp', { type: eventHubsRef, description: 'Its Event Hubs.' }),
  }),
});

const pipelineList = connectionField('EventPipeline', pipelineRef, 'event pipelines');

builder.objectField(teamRef, 'eventPipelines', (t) =>
  t.field({
    ...pipelineList,
    description: 'How the events of an environment reach it; none where they come as webhooks only.',
    args: { ...pipelineList.args, ...environmentArgs },
    resolve: (team, { environment, ...args }, context) => {
      const at = placeIn(team, environment);
      return cursorConnection(args, listCursors(context, ['eventPipelines', at]), (start) =>
        listEventPipelines(context.service, at, start),
      );
    },
  }),
);

const pubSubInput = builder.inputType('PubSubDestinationInput', {
  description: 'A topic of Google Pub/Sub.',
  fields: (t) => ({
    project: t.string({ required: true, description: 'The project of the topic.' }),
    topic: t.string({ required: true, description: 'The topic.' }),
    messageOrdering: t.boolean({
      required: true,
      description: 'Whether the events of a user stay in order.',
    }),
  }),
});

const rabbitInput = builder.inputType('RabbitDestinationInput', {
  description: 'An exchange of RabbitMQ.',
  fields: (t) => ({
    uri: t.string({ required: true, description: 'The address with its password. It is never shown again.' }),
    exchange: t.string({ required: true, description: 'The exchange.' }),
  }),
});

const blobStorageInput = builder.inputType('BlobStorageInput', {
  description: 'A container of Azure Blob Storage.',
  fields: (t) => ({
    connectionString: t.string({ required: true, description: 'A secret. It is never shown again.' }),
    containerName: t.string({ required: true, description: 'The container.' }),
  }),
});

const matcherInput = builder.inputType('EventHubMatcherInput', {
  description: 'Events that go to a hub or storage of their own.',
  fields: (t) => ({
    eventTypePrefix: t.string({ description: 'How the type of the events begins.' }),
    eventTypeRegex: t.string({ description: 'A pattern (RE2) of their type.' }),
    eventHub: t.string({ description: 'The hub.' }),
    blobStorage: t.field({ type: blobStorageInput, description: 'The storage.' }),
  }),
});

const eventHubsInput = builder.inputType('EventHubsDestinationInput', {
  description: 'Azure Event Hubs.',
  fields: (t) => ({
    connectionString: t.string({ required: true, description: 'A secret. It is never shown again.' }),
    defaultEventHub: t.string({ required: true, description: 'The hub of all other events.' }),
    compression: t.field({ type: compression.ref, description: 'When events are compressed; default AUTO.' }),
    eventHubMatchers: t.field({ type: [matcherInput], description: 'Which events go elsewhere.' }),
  }),
});

const pipelineInput = builder.inputType('SetEventPipelineInput', {
  description: 'How the events of a team reach it; what is left out stays as it is.',
  fields: (t) => ({
    ...placeFields(t),
    preferred: t.field({ type: destination.ref, description: 'Where events are sent; it needs `enabled`.' }),
    enabled: t.field({
      type: [destination.ref],
      description: 'All destinations in use, `preferred` among them; they replace those before.',
    }),
    pushHistoricalData: t.boolean({ description: 'Whether historical data is sent as daily events.' }),
    providerRawData: t.boolean({ description: 'Whether the data of providers is sent as it came.' }),
    eventTypePrefixes: t.stringList({
      description: 'Only events whose type begins like one of these are sent; an empty list = all.',
    }),
    cloudPubsub: t.field({ type: pubSubInput, description: 'A topic of Pub/Sub.' }),
    rabbitmq: t.field({ type: rabbitInput, description: 'An exchange of RabbitMQ.' }),
    azureAmqp: t.field({ type: eventHubsInput, description: 'Event Hubs.' }),
  }),
});

type PipelineInput = typeof pipelineInput.$inferInput;

/** The input in the service's words: enum values in lower case, and the preferences as one part. */
function toPipeline({ preferred, enabled, azureAmqp, ...rest }: PipelineInput): object {
  const { orgId: _org, teamId: _team, environment: _environment, ...parts } = rest;
  const names = (values: readonly string[]) => values.map((value) => value.toLowerCase());
  return {
    ...parts,
    ...(preferred && enabled
      ? { preferences: { preferred: preferred.toLowerCase(), enabled: names(enabled) } }
      : {}),
    ...(azureAmqp ? { azureAmqp: { ...azureAmqp, compression: azureAmqp.compression?.toLowerCase() } } : {}),
  };
}

addMutation(mutationRoot, 'setEventPipeline', {
  description: 'Sets how the events of a team reach it.',
  input: pipelineInput,
  done: doneType<{ readonly pipeline: EventPipeline | null }>(
    'EventPipelineSet',
    'The pipeline was set.',
    (t) => ({
      pipeline: t.expose('pipeline', { type: pipelineRef, description: 'The pipeline as it is now.' }),
    }),
  ),
  subject: 'team',
  run: async (context, input) => {
    requireBoth(input.preferred, input.enabled);
    return await inPlace(context, input, (at) => setEventPipeline(context.service, at, toPipeline(input)));
  },
});

addMutation(mutationRoot, 'deleteEventPipeline', {
  description: 'Deletes the pipeline of a team: its events come as webhooks again.',
  input: builder.inputType('DeleteEventPipelineInput', {
    description: 'The team and the environment.',
    fields: placeFields,
  }),
  done: doneType<{ readonly teamId: string }>('EventPipelineDeleted', 'The pipeline was deleted.', (t) => ({
    teamId: t.exposeID('teamId', { nullable: false, description: 'Id of the team.' }),
  })),
  subject: 'team',
  run: (context, input) =>
    inPlace(context, input, async (at) =>
      (await deleteEventPipeline(context.service, at)) === null ? null : { teamId: at.teamId },
    ),
});
