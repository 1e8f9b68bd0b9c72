import { builder } from '../../graph/builder.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { claimServiceEvents, serviceEventRef } from '../service-event/graph.ts';
import { connectionErrorType, resourceAvailabilityRef } from '../user/graph-connections.ts';
import { findWorkoutStream, type HealthSample, type HealthSummary } from './actions.ts';
import { healthSampleRef, healthSourceRef, healthSummaryRef, workoutStreamRef } from './graph.ts';
import {
  isUpdate,
  pulledResourceOf,
  readConnectionNews,
  readPullNews,
  readSample,
  readSummary,
  readWorkoutNews,
  resourceOf,
  type SampleOfBatch,
  type Sport,
  splitBatch,
} from './rest.ts';

function summaryOf({ type, payload, receivedAt }: ServiceEvent): HealthSummary | null {
  const resource = resourceOf(type);
  if (resource === null || resource === 'workout_stream') return null;
  const summary = readSummary(resource, payload);
  return summary && { ...summary, receivedAt };
}

function batchOf({ type, payload }: ServiceEvent): readonly SampleOfBatch[] | null {
  const resource = resourceOf(type);
  return resource === null || resource === 'workout_stream' ? null : splitBatch(payload);
}

/** Samples that cannot be read are left out. */
function samplesOf(event: ServiceEvent): readonly HealthSample[] {
  const resource = resourceOf(event.type) ?? '';
  return (batchOf(event) ?? []).flatMap((one) => {
    const sample = readSample(resource, one);
    return sample === null ? [] : [{ ...sample, receivedAt: event.receivedAt }];
  });
}

claimServiceEvents('HealthSamplesReceived', (event) => batchOf(event) !== null);
claimServiceEvents('HealthSummaryReceived', (event) => summaryOf(event) !== null);
claimServiceEvents('WorkoutStreamReady', ({ type, payload }) => readWorkoutNews(type, payload) !== null);
claimServiceEvents('ConnectionChanged', ({ type, payload }) => readConnectionNews(type, payload) !== null);
claimServiceEvents('HistoricalPullCompleted', ({ type, payload }) => readPullNews(type, payload) !== null);

builder.objectRef<ServiceEvent>('HealthSummaryReceived').implement({
  description: 'A summary of health data was made or changed.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    resource: t.string({
      description: 'What is summed up, such as activity.',
      resolve: ({ type }) => resourceOf(type),
    }),
    isUpdate: t.boolean({
      nullable: false,
      description: 'Whether it is a new version of an earlier one.',
      resolve: ({ type }) => isUpdate(type),
    }),
    summary: t.field({
      type: healthSummaryRef,
      description: 'The summary as this event brought it.',
      resolve: summaryOf,
    }),
  }),
});

builder.objectRef<ServiceEvent>('HealthSamplesReceived').implement({
  description: 'Values were measured, or measured values were replaced.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    resource: t.string({
      description: 'What was measured, such as glucose.',
      resolve: ({ type }) => resourceOf(type),
    }),
    isUpdate: t.boolean({
      nullable: false,
      description: 'Whether it replaces earlier values.',
      resolve: ({ type }) => isUpdate(type),
    }),
    samples: t.field({
      type: [healthSampleRef],
      nullable: false,
      description: 'The values as this event brought them; what cannot be read as one is only in `payload`.',
      resolve: samplesOf,
    }),
    payload: t.expose('payload', { type: 'JSON', description: 'All of it as the service sent it.' }),
  }),
});

const sportRef = builder.objectRef<Sport>('Sport').implement({
  description: 'A kind of sport.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The service's number of it." }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
  }),
});

builder.objectRef<ServiceEvent>('WorkoutStreamReady').implement({
  description: 'The stream of a workout can be read.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    workoutId: t.id({
      description: 'Id of the workout (uuid).',
      resolve: ({ type, payload }) => readWorkoutNews(type, payload)?.workoutId,
    }),
    message: t.string({
      description: "The service's own sentence about it.",
      resolve: ({ type, payload }) => readWorkoutNews(type, payload)?.message,
    }),
    providerId: t.string({
      description: "The provider's own id of the workout.",
      resolve: ({ type, payload }) => readWorkoutNews(type, payload)?.providerId,
    }),
    sport: t.field({
      type: sportRef,
      description: 'What was done.',
      resolve: ({ type, payload }) => readWorkoutNews(type, payload)?.sport ?? null,
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'Where it comes from.',
      resolve: ({ type, payload }) => readWorkoutNews(type, payload)?.source ?? null,
    }),
    stream: t.field({
      type: workoutStreamRef,
      description: 'The stream itself.',
      resolve: ({ type, payload }, _args, context) => {
        const workout = readWorkoutNews(type, payload);
        return workout === null ? null : findWorkoutStream(context, workout.workoutId);
      },
    }),
  }),
});

builder.objectRef<ServiceEvent>('ConnectionChanged').implement({
  description: "A user's connection to a provider was made, or is in trouble.",
  interfaces: [serviceEventRef],
  fields: (t) => ({
    isConnected: t.boolean({
      nullable: false,
      description: 'True when it was made, false when it is in trouble.',
      resolve: ({ type }) => type === 'provider.connection.created',
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'The provider.',
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.source ?? null,
    }),
    externalUserId: t.string({
      description: "The provider's own id of the user.",
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.externalUserId,
    }),
    errorType: t.field({
      type: connectionErrorType.ref,
      description: 'What is wrong; null when nothing is, or it is not one of these.',
      resolve: ({ type, payload }) =>
        connectionErrorType.known(readConnectionNews(type, payload)?.errorType ?? null),
    }),
    errorTypeRaw: t.string({
      description: 'What is wrong, as the service sent it, such as token_refresh_failed.',
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.errorType,
    }),
    errorMessage: t.string({
      description: "The service's own sentence about what is wrong.",
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.errorMessage,
    }),
    errorDetails: t.string({
      description: 'Details of the error, as the service or the provider wrote them.',
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.errorDetails,
    }),
    resources: t.field({
      type: [resourceAvailabilityRef],
      nullable: false,
      description: 'The resources of a new connection, each with its availability.',
      resolve: ({ type, payload }) => readConnectionNews(type, payload)?.resources ?? [],
    }),
  }),
});

builder.objectRef<ServiceEvent>('HistoricalPullCompleted').implement({
  description: 'The earlier data of a new connection has been read, for one resource.',
  interfaces: [serviceEventRef],
  fields: (t) => ({
    resource: t.string({
      description: 'Which data, such as activity.',
      resolve: ({ type }) => pulledResourceOf(type),
    }),
    startDate: t.field({
      type: 'DateTime',
      description: 'Begin of what was read.',
      resolve: ({ type, payload }) => readPullNews(type, payload)?.startDate,
    }),
    endDate: t.field({
      type: 'DateTime',
      description: 'End of what was read.',
      resolve: ({ type, payload }) => readPullNews(type, payload)?.endDate,
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'The provider it was read from.',
      resolve: ({ type, payload }) => readPullNews(type, payload)?.source ?? null,
    }),
    isFinal: t.boolean({
      description: 'Whether no more of it comes.',
      resolve: ({ type, payload }) => readPullNews(type, payload)?.isFinal,
    }),
  }),
});
