import { builder } from '../../graph/builder.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { connectionArgs, connectionCost, connectionType } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { needs } from '../../graph/permissions.ts';
import { loadUser, sourceRef, userRef } from './graph.ts';
import {
  type ConnectionFault,
  getHistoricalPulls,
  type HistoricalPull,
  type LinkedProvider,
  listConnections,
  listHistoricalPulls,
  type ProviderHistoricalPulls,
  type ResourceAvailability,
  type ScopeGrants,
  type ScopeSet,
  type UserHistoricalPulls,
} from './rest-connections.ts';

const connectionStatus = openEnum('ConnectionStatus', 'How a connection to a provider is.', {
  CONNECTED: 'Data comes in.',
  ERROR: 'No data comes in; the user may have to connect again.',
});

/** Why a connection is in trouble; its webhooks use the same values. */
export const connectionErrorType = openEnum('ConnectionErrorType', 'Why a connection has an error.', {
  TOKEN_REFRESH_FAILED: 'The access could not be renewed.',
  WEBHOOK_REGISTRATION_FAILED: 'The provider could not be asked to send data.',
  USER_NOT_FOUND: 'The provider no longer knows the user.',
  DEREGISTERED_PER_PROVIDER: 'The provider ended the connection.',
  REQUIRED_SCOPES_NOT_GRANTED: 'The user did not allow what is needed.',
  PROVIDER_CREDENTIAL_ERROR: 'The provider refused the credentials.',
  PROVIDER_PASSWORD_EXPIRED: "The user's password at the provider has expired.",
  UNKNOWN: 'The service does not know why.',
});

const resourceStatus = openEnum('ResourceStatus', 'Whether a resource is available through a connection.', {
  AVAILABLE: 'It is available.',
  UNAVAILABLE: 'It is not available, in most cases because the user did not allow it.',
});

const historicalPullStatus = openEnum('HistoricalPullStatus', 'How far a backfill of older data is.', {
  SCHEDULED: 'It waits for its start.',
  IN_PROGRESS: 'It is under way.',
  RETRYING: 'It failed in a way that may pass, and is tried again.',
  SUCCESS: 'It is done.',
  FAILURE: 'It has failed for good.',
});

const historicalPullError = openEnum('HistoricalPullError', 'What went wrong with a backfill.', {
  PROVIDER_RATE_LIMIT_EXCEEDED: 'The provider asks to be called less often.',
  PROVIDER_UNAVAILABLE: 'The provider does not answer.',
  TRANSPORT_FAILURE: 'The network failed.',
  RESOURCE_CONTENTION: 'Another backfill held it up.',
  NON_RETRIABLE_ERROR: 'The provider refused for good.',
  UNEXPECTED_ERROR: 'The service failed.',
  RETRY_QUOTA_EXHAUSTED: 'It was tried too often.',
});

const connectionFaultRef = builder.objectRef<ConnectionFault>('ConnectionFault').implement({
  description: 'What is wrong with a connection.',
  fields: (t) => ({
    ...openEnumFields(t, connectionErrorType, { name: 'type', ...usualTexts('Why', 'reason') }),
    message: t.exposeString('message', { description: "The service's own sentence about it." }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'When it went wrong.' }),
  }),
});

const scopeSetRef = builder.objectRef<ScopeSet>('ScopeRequirements').implement({
  description: "Scopes that a user can grant at a provider, under the provider's own names.",
  fields: (t) => ({
    required: t.exposeStringList('required', {
      nullable: false,
      description: 'Scopes without which the resource is not available.',
    }),
    optional: t.exposeStringList('optional', {
      nullable: false,
      description: 'Scopes that give access to more of the resource.',
    }),
  }),
});

const scopeGrantsRef = builder.objectRef<ScopeGrants>('ScopeRequirementGrants').implement({
  description: 'The scopes of a resource that the user granted or denied at the provider.',
  fields: (t) => ({
    userGranted: t.expose('userGranted', {
      type: scopeSetRef,
      nullable: false,
      description: 'The scopes that the user granted.',
    }),
    userDenied: t.expose('userDenied', {
      type: scopeSetRef,
      nullable: false,
      description: 'The scopes that the user denied.',
    }),
  }),
});

/** Shown for connections and for events of connections. */
export const resourceAvailabilityRef = builder
  .objectRef<ResourceAvailability>('ResourceAvailability')
  .implement({
    description: 'The availability of one resource of a connection.',
    fields: (t) => ({
      resource: t.exposeString('resource', {
        nullable: false,
        description: 'Name of the resource, such as sleep.',
      }),
      ...openEnumFields(t, resourceStatus, {
        name: 'status',
        ...usualTexts('Whether the resource is available', 'status'),
      }),
      scopeRequirements: t.expose('scopeRequirements', {
        type: scopeGrantsRef,
        description:
          'The scopes that the user granted or denied at the provider; null when the service does not send them.',
      }),
    }),
  });

const linkedProviderRef = builder.objectRef<LinkedProvider>('LinkedProvider').implement({
  description: "A user's connection to a provider of data, and how it is.",
  fields: (t) => ({
    source: t.expose('source', { type: sourceRef, description: 'The provider.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was connected.' }),
    ...openEnumFields(t, connectionStatus, { name: 'status', ...usualTexts('How it is', 'status') }),
    externalUserId: t.exposeString('externalUserId', { description: "The provider's own id of the user." }),
    error: t.expose('error', {
      type: connectionFaultRef,
      description: 'What is wrong; null when nothing is.',
    }),
    resources: t.expose('resources', {
      type: [resourceAvailabilityRef],
      nullable: false,
      description: 'The resources that it gives access to.',
    }),
  }),
});

const historicalPullRef = builder.objectRef<HistoricalPull>('HistoricalPull').implement({
  description: 'The backfill of one resource: the data from before the connection.',
  fields: (t) => ({
    resource: t.exposeString('resource', {
      nullable: false,
      description: 'Name of the resource, such as sleep.',
    }),
    ...openEnumFields(t, historicalPullStatus, { name: 'status', ...usualTexts('How far it is', 'status') }),
    rangeStart: t.expose('rangeStart', {
      type: 'DateTime',
      description: 'Where the range of data that is fetched begins.',
    }),
    rangeEnd: t.expose('rangeEnd', {
      type: 'DateTime',
      description: 'Where the range of data that is fetched ends.',
    }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', description: 'When it ended.' }),
    daysWithData: t.exposeInt('daysWithData', { description: 'On how many days there was data.' }),
    ...openEnumFields(t, historicalPullError, {
      name: 'error',
      description: 'What went wrong; null when nothing did, or it is not one of these.',
      raw: 'What went wrong, as the service sent it.',
    }),
  }),
});

const providerPullsRef = builder.objectRef<ProviderHistoricalPulls>('ProviderHistoricalPulls').implement({
  description: 'The backfills from one provider.',
  fields: (t) => ({
    providerSlug: t.exposeString('providerSlug', {
      nullable: false,
      description: 'Stable identifier of the provider, as in Source.slug.',
    }),
    pulls: t.expose('pulls', {
      type: [historicalPullRef],
      nullable: false,
      description: 'Its backfills, one for each resource.',
    }),
    notPulled: t.exposeStringList('notPulled', {
      nullable: false,
      description: 'Resources of which no older data is fetched.',
    }),
  }),
});

const userPullsRef = builder.objectRef<UserHistoricalPulls>('UserHistoricalPulls');
userPullsRef.implement({
  description: 'The backfills of one user.',
  fields: (t) => ({
    userId: t.exposeID('userId', { nullable: false, description: 'Id of the user.' }),
    user: t.field({
      complexity: upstreamCallCost,
      type: userRef,
      extensions: needs('read:orders'),
      description: 'The user.',
      resolve: (row, _args, context, info) => loadUser(context, row.userId, info),
    }),
    providers: t.expose('providers', {
      type: [providerPullsRef],
      nullable: false,
      description: 'The backfills by provider.',
    }),
  }),
});

const providerArg = 'Only those from the provider with this slug.';

builder.objectFields(userRef, (t) => ({
  connections: t.field({
    complexity: upstreamCallCost,
    type: [linkedProviderRef],
    extensions: needs('read:profile'),
    description: 'How the connections to providers of data are. One call per user.',
    resolve: (user, _args, context) => listConnections(context.service.forShowing, user.id),
  }),
  historicalPulls: t.field({
    complexity: upstreamCallCost,
    type: [providerPullsRef],
    extensions: needs('read:profile'),
    description: 'The backfills of older data by provider. One call per user.',
    args: { providerSlug: t.arg.string({ description: providerArg }) },
    resolve: (user, args, context) =>
      getHistoricalPulls(context.service, { userId: user.id, providerSlug: args.providerSlug ?? null }),
  }),
}));

builder.queryField('historicalPulls', (t) =>
  t.field({
    type: connectionType('UserHistoricalPulls', userPullsRef, 'users with backfills'),
    complexity: connectionCost,
    extensions: needs('read:profile'),
    description:
      'The backfills of all users the caller may see. A page may hold fewer users than requested, or none, before the list ends: read until `hasNextPage` is false.',
    args: {
      ...connectionArgs('users'),
      providerSlug: t.arg.string({ description: providerArg }),
    },
    resolve: (_root, { providerSlug = null, ...args }, context) =>
      cursorConnection(args, listCursors(context, ['historicalPulls', providerSlug]), (request) =>
        listHistoricalPulls(context.service, { userId: null, providerSlug }, request),
      ),
  }),
);
