import { builder } from '../../graph/builder.ts';
import { addMutation, doneType } from '../../graph/mutation-field.ts';
import { changeScopeRequirements, placeIn } from './actions.ts';
import { environmentArgs, mutationRoot, teamFields } from './graph.ts';
import { teamRef } from './graph-teams.ts';
import {
  listDeliveryMetrics,
  listScopeRequirements,
  type MetricSeries,
  type ScopeRequirements,
} from './rest-delivery.ts';

const labelRef = builder.objectRef<MetricSeries['labels'][number]>('MetricLabel').implement({
  description: 'A label that tells one series from the others.',
  fields: (t) => ({
    name: t.exposeString('name', { nullable: false, description: 'Its name.' }),
    value: t.exposeString('value', { nullable: false, description: 'Its value.' }),
  }),
});

const pointRef = builder.objectRef<MetricSeries['points'][number]>('MetricPoint').implement({
  description: 'A value at a time.',
  fields: (t) => ({
    time: t.expose('time', { type: 'DateTime', nullable: false, description: 'The time.' }),
    value: t.exposeFloat('value', { nullable: false, description: 'The value.' }),
  }),
});

const seriesRef = builder.objectRef<MetricSeries>('MetricSeries').implement({
  description: 'Values over time, to be plotted.',
  fields: (t) => ({
    labels: t.expose('labels', { type: [labelRef], nullable: false, description: 'What it counts.' }),
    points: t.expose('points', { type: [pointRef], nullable: false, description: 'Oldest first.' }),
  }),
});

/** The texts of the service, which no enum value could spell. */
const intervals = { MINUTES_5: '5m', MINUTES_15: '15m', HOUR: '1h', DAY: '1d' } as const;

const interval = builder.enumType('MetricInterval', {
  description: 'The time between two values.',
  values: {
    MINUTES_5: { description: 'Five minutes.' },
    MINUTES_15: { description: 'A quarter of an hour.' },
    HOUR: { description: 'An hour.' },
    DAY: { description: 'One day.' },
  } as const,
});

const requirementsRef = builder.objectRef<ScopeRequirements>('TeamScopeRequirements').implement({
  description: 'What people are asked to share when they connect a provider.',
  fields: (t) => ({
    providerRaw: t.string({
      nullable: false,
      description: 'The provider as the service names it.',
      resolve: ({ provider }) => provider,
    }),
    userMustGrant: t.exposeStringList('userMustGrant', {
      nullable: false,
      description: 'Scopes of the provider without which the connection is refused.',
    }),
    userMayGrant: t.exposeStringList('userMayGrant', {
      nullable: false,
      description: 'Scopes of the provider that people may leave out.',
    }),
  }),
});

builder.objectFields(teamRef, (t) => ({
  deliveryMetrics: t.field({
    type: [seriesRef],
    description: 'How many events were delivered in an environment, over time.',
    args: {
      ...environmentArgs,
      interval: t.arg({ type: interval, defaultValue: 'HOUR', description: 'The time between two values.' }),
    },
    resolve: (team, args, context) =>
      listDeliveryMetrics(
        context.service,
        placeIn(team, args.environment),
        intervals[args.interval ?? 'HOUR'],
      ),
  }),
  scopeRequirements: t.field({
    type: [requirementsRef],
    description: 'What people are asked to share, by provider.',
    args: { provider: t.arg.string({ description: 'Only this provider, as the service names it.' }) },
    resolve: (team, { provider = null }, context) => listScopeRequirements(context.service, team, provider),
  }),
}));

addMutation(mutationRoot, 'setScopeRequirements', {
  description: 'Sets what people are asked to share when they connect a provider.',
  input: builder.inputType('SetScopeRequirementsInput', {
    description: 'What people are asked to share with a provider.',
    fields: (t) => ({
      ...teamFields(t),
      provider: t.string({ required: true, description: 'The provider as the service names it.' }),
      userMustGrant: t.stringList({
        required: true,
        description: 'Scopes of the provider without which the connection is refused.',
      }),
      userMayGrant: t.stringList({
        required: true,
        description: 'Scopes of the provider that people may leave out.',
      }),
    }),
  }),
  done: doneType<{ readonly requirements: readonly ScopeRequirements[] }>(
    'ScopeRequirementsSet',
    'The requirements were set.',
    (t) => ({
      requirements: t.expose('requirements', {
        type: [requirementsRef],
        nullable: false,
        description:
          'The requirements of this provider, read after the change; none where the service does not know the provider.',
      }),
    }),
  ),
  subject: 'team',
  run: changeScopeRequirements,
});
