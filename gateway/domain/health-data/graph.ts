import { readUuid, renamedTo } from '../../graph/arguments.ts';
import { builder, type Fields } from '../../graph/builder.ts';
import { needs, needsUnless } from '../../graph/permissions.ts';
import { userRef } from '../user/graph.ts';
import {
  findWorkoutStream,
  type HealthSample,
  type HealthSummary,
  listSamples,
  listSummaries,
  maxRows,
  maxRowsText,
  type StreamOfWorkout,
} from './actions.ts';
import type { ActivityReading, HealthSource } from './rest.ts';

export const healthSourceRef = builder.objectRef<HealthSource>('HealthSource').implement({
  description: 'Where health data comes from.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name for people.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    logo: t.expose('logo', { type: 'URL', description: 'Address of its icon.' }),
    provider: t.exposeString('provider', { description: 'The provider, such as oura.' }),
    type: t.exposeString('type', { description: 'The kind of device or app, such as watch.' }),
    appId: t.exposeString('appId', { description: 'Identifier of the app that measured.' }),
    deviceId: t.exposeString('deviceId', { description: 'Identifier of the device that measured.' }),
    sport: t.exposeString('sport', {
      description:
        'The sport of the workout that samples belong to, such as running; wheelchair_pushing for distances of a wheelchair user.',
    }),
    workoutId: t.exposeID('workoutId', {
      description: 'Id of the workout (uuid) that samples belong to.',
    }),
  }),
});

const activityRef = builder.objectRef<ActivityReading>('ActivitySummary').implement({
  description: 'What a user did in a day.',
  fields: (t) => ({
    caloriesActive: t.exposeFloat('caloriesActive', { description: 'Energy burned by moving, in kcal.' }),
    caloriesTotal: t.exposeFloat('caloriesTotal', { description: 'All energy burned, in kcal.' }),
    dailyMovement: t.exposeFloat('dailyMovement', {
      description: 'The distance that the movement equals, in metres.',
    }),
    distance: t.exposeFloat('distance', { description: 'Distance covered, in metres.' }),
    floorsClimbed: t.exposeFloat('floorsClimbed', { description: 'How many floors were climbed.' }),
    steps: t.exposeFloat('steps', { description: 'How many steps were made.' }),
    high: t.exposeFloat('high', { description: 'Minutes of high activity.' }),
    medium: t.exposeFloat('medium', { description: 'Minutes of medium activity.' }),
    low: t.exposeFloat('low', { description: 'Minutes of low activity.' }),
  }),
});

/** The offset of the place where it was measured, with its older name. */
function timeZoneOffset<Parent extends { readonly timezoneOffset: number | null }>(t: Fields<Parent>) {
  const description = 'Offset of the time zone from UTC, in seconds.';
  const resolve = ({ timezoneOffset: offset }: Parent) => offset;
  return {
    timeZoneOffset: t.int({ description, resolve }),
    timezoneOffset: t.int({ deprecationReason: renamedTo('timeZoneOffset'), description, resolve }),
  };
}

/** The payload of a profile has the birth date (decision 0086). */
const isNoProfile = ({ resource }: HealthSummary) => resource.toLowerCase() !== 'profile';

export const healthSummaryRef = builder.objectRef<HealthSummary>('HealthSummary').implement({
  description: 'A summary of health data, such as a day of activity or a night of sleep.',
  fields: (t) => ({
    id: t.exposeID('id', {
      nullable: false,
      description:
        "The service's id of the summary. A later version has the same id and replaces the earlier one.",
    }),
    resource: t.exposeString('resource', {
      nullable: false,
      description: 'What is summed up, such as activity.',
    }),
    calendarDate: t.expose('calendarDate', {
      type: 'Date',
      description:
        "The day in the user's time zone; if the service sent none, the local day on which the summary starts, when known.",
    }),
    date: t.expose('date', { type: 'DateTime', description: 'The day as an instant.' }),
    ...timeZoneOffset(t),
    source: t.expose('source', { type: healthSourceRef, description: 'Where it comes from.' }),
    activity: t.expose('activity', {
      type: activityRef,
      description: 'The figures of an activity summary; null for other resources.',
    }),
    payload: t.expose('payload', {
      type: 'JSON',
      extensions: needsUnless('read:profile', 'the resource is not profile', isNoProfile),
      description: 'All of it as the service sent it, for resources without fields of their own.',
    }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway received this version.',
    }),
  }),
});

export const healthSampleRef = builder.objectRef<HealthSample>('HealthSample').implement({
  description: 'One measured value.',
  fields: (t) => ({
    resource: t.exposeString('resource', {
      nullable: false,
      description: 'What was measured, such as glucose.',
    }),
    timestamp: t.expose('timestamp', {
      type: 'DateTime',
      description:
        'When it was measured; null when the service sent only an interval. Of samples that are equal in resource, provider, source type, `type` and timestamp (`startAt` where there is none), only the last received is shown.',
    }),
    startAt: t.expose('start', { type: 'DateTime', description: 'When the interval that it covers begins.' }),
    endAt: t.expose('end', { type: 'DateTime', description: 'When the interval that it covers ends.' }),
    start: t.expose('start', {
      type: 'DateTime',
      deprecationReason: renamedTo('startAt'),
      description: 'When the interval that it covers begins.',
    }),
    end: t.expose('end', {
      type: 'DateTime',
      deprecationReason: renamedTo('endAt'),
      description: 'When the interval that it covers ends.',
    }),
    ...timeZoneOffset(t),
    type: t.exposeString('type', { description: 'A finer kind of measurement, such as fingerprick.' }),
    unit: t.exposeString('unit', { description: 'Unit of the value, such as mmol/L.' }),
    value: t.exposeFloat('value', {
      description: 'The value; null when it is no single number: then `payload` has it.',
    }),
    payload: t.expose('payload', {
      type: 'JSON',
      description: 'All of it as the service sent it, such as the two values of a blood pressure.',
    }),
    source: t.expose('source', { type: healthSourceRef, description: 'Where it comes from.' }),
    sourceId: t.exposeID('sourceId', { description: "The service's number of the source." }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      nullable: false,
      description: 'When the gateway received this value.',
    }),
  }),
});

/** The columns of a stream, with their descriptions. */
const columns = {
  altitude: 'Altitude at each point, in metres.',
  cadence: 'Turns a minute when cycling, steps a minute when running.',
  distance: 'Distance covered up to each point, in metres.',
  heartRate: 'Heart rate at each point, in beats a minute.',
  latitude: 'Degrees north at each point.',
  longitude: 'Degrees east at each point.',
  power: 'Power at each point, in watts.',
  resistance: 'Resistance of the bike at each point.',
  temperature: 'Temperature at each point, in degrees Celsius.',
  velocity: 'Speed at each point, in metres a second.',
} as const;

export const workoutStreamRef = builder.objectRef<StreamOfWorkout>('WorkoutStream');
workoutStreamRef.implement({
  description:
    'What was measured during a workout, as columns: values with the same index belong to one point in time.',
  fields: (t) => {
    const column = (name: keyof typeof columns) =>
      t.floatList({
        nullable: { list: false, items: true },
        description: `${columns[name].slice(0, -1)}; empty when it was not measured.`,
        resolve: (stream) => stream[name],
      });
    return {
      workoutId: t.exposeID('workoutId', { nullable: false, description: 'Id of the workout (uuid).' }),
      time: t.field({
        type: ['DateTime'],
        nullable: { list: false, items: true },
        description: 'When each point was measured.',
        resolve: (stream) => stream.time,
      }),
      altitude: column('altitude'),
      cadence: column('cadence'),
      distance: column('distance'),
      heartRate: column('heartRate'),
      latitude: column('latitude'),
      longitude: column('longitude'),
      power: column('power'),
      resistance: column('resistance'),
      temperature: column('temperature'),
      velocity: column('velocity'),
    };
  },
});

/** The number of rows is known only after the read. */
const cost = { field: 1, multiplier: maxRows };
/** Facts are deleted with their messages (decision 0020). */
const stored = 'in the last days that the gateway stores (EVENT_RETENTION_DAYS, 7 by default)';
const bound = `a range with more than ${maxRowsText} is refused.`;

builder.objectFields(userRef, (t) => ({
  healthSummaries: t.field({
    type: [healthSummaryRef],
    complexity: cost,
    extensions: needs('read:health'),
    description: `Summaries received by webhook ${stored}, the latest version of each, newest day first and those without a date last; ${bound}`,
    args: {
      resource: t.arg.string({ required: true, description: 'What is summed up, such as activity.' }),
      from: t.arg({ type: 'Date', description: 'The first day.' }),
      to: t.arg({ type: 'Date', description: 'The last day.' }),
    },
    resolve: (user, { resource, from = null, to = null }, context) =>
      listSummaries(context, { userId: user.id, resource, from, to }),
  }),
  healthSamples: t.field({
    type: [healthSampleRef],
    complexity: cost,
    extensions: needs('read:health'),
    description: `Samples received by webhook ${stored}, the latest value of each, newest first, with intervals sorted by their start; ${bound}`,
    args: {
      resource: t.arg.string({ required: true, description: 'What was measured, such as glucose.' }),
      from: t.arg({ type: 'DateTime', description: 'Not before this instant.' }),
      to: t.arg({ type: 'DateTime', description: 'Not after this instant.' }),
    },
    resolve: (user, { resource, from = null, to = null }, context) =>
      listSamples(context, { userId: user.id, resource, from, to }),
  }),
}));

builder.queryField('workoutStream', (t) =>
  t.field({
    type: workoutStreamRef,
    extensions: needs('read:health'),
    description: `The stream of a workout; null when there is none, and for viewer tokens unless a webhook has named it as theirs ${stored}.`,
    args: { workoutId: t.arg.id({ required: true, description: 'Id of the workout (uuid).' }) },
    resolve: (_root, args, context) => findWorkoutStream(context, readUuid('workoutId', args.workoutId)),
  }),
);
