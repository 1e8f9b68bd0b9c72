import { renamedTo } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { openEnumFields } from '../../graph/open-enum.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { serviceEventType } from '../service-event/graph.ts';
import { connectionErrorType, resourceAvailabilityRef } from '../user/graph-connections.ts';
import { findWorkoutStream, type HealthSample, type HealthSummary } from './actions.ts';
import { healthSampleRef, healthSourceRef, healthSummaryRef, workoutStreamRef } from './graph.ts';
import {
  isUpdate,
  pulledResourceOf,
  readConnectionEvent,
  readPullEvent,
  readSample,
  readSummary,
  readWorkoutEvent,
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

const workoutOf = ({ type, payload }: ServiceEvent) => readWorkoutEvent(type, payload);
const connectionOf = ({ type, payload }: ServiceEvent) => readConnectionEvent(type, payload);
const pullOf = ({ type, payload }: ServiceEvent) => readPullEvent(type, payload);

serviceEventType('HealthSummaryReceived', {
  description: 'A summary of health data was made or changed.',
  read: summaryOf,
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

serviceEventType('HealthSamplesReceived', {
  description: 'Values were measured, or measured values were replaced.',
  read: batchOf,
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

serviceEventType('WorkoutStreamReady', {
  description: 'The stream of a workout can be read.',
  read: workoutOf,
  fields: (t) => ({
    workoutId: t.id({
      description: 'Id of the workout (uuid).',
      resolve: (event) => workoutOf(event)?.workoutId,
    }),
    message: t.string({
      description: "The service's own sentence about it.",
      resolve: (event) => workoutOf(event)?.message,
    }),
    providerId: t.string({
      description: "The provider's own id of the workout.",
      resolve: (event) => workoutOf(event)?.providerId,
    }),
    sport: t.field({
      type: sportRef,
      description: 'What was done.',
      resolve: (event) => workoutOf(event)?.sport ?? null,
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'Where it comes from.',
      resolve: (event) => workoutOf(event)?.source ?? null,
    }),
    stream: t.field({
      type: workoutStreamRef,
      description: 'The stream itself.',
      resolve: (event, _args, context) => {
        const workout = workoutOf(event);
        return workout === null ? null : findWorkoutStream(context, workout.workoutId);
      },
    }),
  }),
});

serviceEventType('ConnectionChanged', {
  description: "A user's connection to a provider was made, or has an error.",
  read: connectionOf,
  fields: (t) => ({
    isConnected: t.boolean({
      nullable: false,
      description: 'True when it was made, false when it has an error.',
      resolve: ({ type }) => type === 'provider.connection.created',
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'The provider.',
      resolve: (event) => connectionOf(event)?.source ?? null,
    }),
    externalUserId: t.string({
      description: "The provider's own id of the user.",
      resolve: (event) => connectionOf(event)?.externalUserId,
    }),
    ...openEnumFields(t, connectionErrorType, {
      name: 'errorType',
      description: 'What is wrong; null when nothing is, or it is not one of these.',
      raw: 'What is wrong, as the service sent it, such as token_refresh_failed.',
      read: (event) => connectionOf(event)?.errorType ?? null,
    }),
    errorMessage: t.string({
      description: "The service's own sentence about what is wrong.",
      resolve: (event) => connectionOf(event)?.errorMessage,
    }),
    errorDetails: t.string({
      description: 'Details of the error, as the service or the provider wrote them.',
      resolve: (event) => connectionOf(event)?.errorDetails,
    }),
    resources: t.field({
      type: [resourceAvailabilityRef],
      nullable: false,
      description: 'The resources of a new connection, each with its availability.',
      resolve: (event) => connectionOf(event)?.resources ?? [],
    }),
  }),
});

serviceEventType('HistoricalPullCompleted', {
  description: 'The earlier data of one resource of a new connection was read.',
  read: pullOf,
  fields: (t) => ({
    resource: t.string({
      description: 'Which data, such as activity.',
      resolve: ({ type }) => pulledResourceOf(type),
    }),
    rangeStart: t.field({
      type: 'DateTime',
      description: 'Where the range that was read begins.',
      resolve: (event) => pullOf(event)?.startDate,
    }),
    rangeEnd: t.field({
      type: 'DateTime',
      description: 'Where the range that was read ends.',
      resolve: (event) => pullOf(event)?.endDate,
    }),
    startDate: t.field({
      type: 'DateTime',
      deprecationReason: renamedTo('rangeStart'),
      description: 'Where the range that was read begins.',
      resolve: (event) => pullOf(event)?.startDate,
    }),
    endDate: t.field({
      type: 'DateTime',
      deprecationReason: renamedTo('rangeEnd'),
      description: 'Where the range that was read ends.',
      resolve: (event) => pullOf(event)?.endDate,
    }),
    source: t.field({
      type: healthSourceRef,
      description: 'The provider it was read from.',
      resolve: (event) => pullOf(event)?.source ?? null,
    }),
    isFinal: t.boolean({
      description: 'Whether no more of it comes.',
      resolve: (event) => pullOf(event)?.isFinal,
    }),
  }),
});
