import { readOptionalUuid, readUuid, readUuids } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { addMutation, doneThing, doneType } from '../../graph/mutation-field.ts';
import { openEnum, openEnumFields } from '../../graph/open-enum.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { labAccountFields } from '../lab-account/graph.ts';
import type { LabAccount } from '../lab-account/rest.ts';
import { inPlace, placeIn, readIdsToDelete, readOrgId } from './actions.ts';
import {
  deletedType,
  environment,
  environmentArgs,
  idsToDelete,
  mutationRoot,
  orgField,
  placeFields,
  region,
} from './graph.ts';
import { organizationRef, teamRef } from './graph-teams.ts';
import {
  type CustomCredentials,
  deleteCustomCredentials,
  listCustomCredentials,
  listOrgLabAccounts,
  type OrgLabAccount,
  type PreparationStep,
  prepareCustomCredentials,
  setCustomCredentials,
  setLabAccountTeams,
} from './rest-credentials.ts';

const providerDescription = 'The provider or lab as the service names it, such as fitbit or quest.';

const credentialsRef = builder.objectRef<CustomCredentials>('CustomCredentials');
credentialsRef.implement({
  description: 'Credentials of a team with a provider or lab. Secrets among them are never shown.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the credentials (uuid)." }),
    providerRaw: t.string({ description: providerDescription, resolve: ({ provider }) => provider }),
    clientId: t.exposeString('clientId', { description: "The team's id at the provider." }),
    redirectUrlOverride: t.exposeString('redirectUrlOverride', {
      description: 'The address to which the provider sends people back.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they were set first.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When they were last changed.' }),
  }),
});

const credentialsList = connectionField('CustomCredentials', credentialsRef, 'credentials');

builder.objectField(teamRef, 'customCredentials', (t) =>
  t.field({
    ...credentialsList,
    description: 'Its own credentials with providers and labs.',
    args: {
      ...credentialsList.args,
      ...environmentArgs,
      provider: t.arg.string({ description: 'Only those with this provider or lab.' }),
    },
    resolve: (team, { environment: of, provider = null, ...args }, context) => {
      const filter = { ...placeIn(team, of), provider };
      return cursorConnection(args, listCursors(context, ['customCredentials', filter]), (start) =>
        listCustomCredentials(context.service, filter, start),
      );
    },
  }),
);

const preparationStatus = openEnum(
  'PreparationStatus',
  'Whether something must be done at the provider first.',
  {
    NO_ACTION_NEEDED: 'Nothing has to be done.',
    PREPARATIONS_REQUIRED: 'The steps have to be done.',
  },
);

const stepType = openEnum('PreparationStepType', 'What is to be set at the provider.', {
  REDIRECT_URI: 'The address to which people are sent back.',
  WEBHOOK_URI: 'The address that receives the webhooks of the provider.',
  IAM_PRINCIPAL: 'The account that gets access.',
});

const stepRef = builder.objectRef<PreparationStep>('PreparationStep').implement({
  description: 'One thing to set at the provider before credentials are set here.',
  fields: (t) => ({
    ...openEnumFields(t, stepType, {
      name: 'type',
      description: 'What is to be set; null when it is not one of these.',
      raw: 'The type as the service sent it.',
    }),
    key: t.exposeString('key', { description: 'The name of the setting.' }),
    value: t.exposeString('value', { description: 'The value to set.' }),
    description: t.exposeString('description', { description: 'What the step is for.' }),
  }),
});

addMutation(mutationRoot, 'prepareCustomCredentials', {
  description: 'Says what to set at a provider before its credentials are set here.',
  input: builder.inputType('PrepareCustomCredentialsInput', {
    description: 'The team and the provider.',
    fields: (t) => ({
      ...placeFields(t),
      provider: t.string({ required: true, description: providerDescription }),
    }),
  }),
  done: doneType<{ readonly status: string | null; readonly steps: readonly PreparationStep[] }>(
    'CustomCredentialsPrepared',
    'What is to be set at the provider.',
    (t) => ({
      ...openEnumFields(t, preparationStatus, {
        name: 'status',
        description: 'Whether something must be done; null when it is not one of these.',
        raw: 'The status as the service sent it.',
      }),
      steps: t.expose('steps', { type: [stepRef], nullable: false, description: 'The steps.' }),
    }),
  ),
  subject: 'team',
  run: (context, { provider, ...name }) =>
    inPlace(context, name, (at) => prepareCustomCredentials(context.service, at, provider)),
});

addMutation(mutationRoot, 'setCustomCredentials', {
  description: "Sets the team's own credentials with a provider or lab; earlier ones are replaced.",
  input: builder.inputType('SetCustomCredentialsInput', {
    description: 'Credentials of a team with a provider or lab.',
    fields: (t) => ({
      ...placeFields(t),
      provider: t.string({ required: true, description: providerDescription }),
      clientId: t.string({ description: "The team's id at the provider." }),
      clientSecret: t.string({ description: 'The secret for that id. It is never shown again.' }),
      redirectUrlOverride: t.string({ description: 'The address to which the provider sends people back.' }),
      details: t.field({
        type: 'JSON',
        description: "What only this provider needs, in the service's own words. It is never shown again.",
      }),
    }),
  }),
  done: doneThing('CustomCredentialsSet', 'The credentials were set.', {
    name: 'credentials',
    type: credentialsRef,
    description: 'The credentials as they are now.',
  }),
  subject: 'team',
  run: (context, { orgId, teamId, environment: of, ...given }) =>
    inPlace(context, { orgId, teamId, environment: of }, (at) =>
      setCustomCredentials(context.service, at, given),
    ),
});

addMutation(mutationRoot, 'deleteCustomCredentials', {
  description: 'Deletes credentials of a team with providers and labs.',
  input: builder.inputType('DeleteCustomCredentialsInput', {
    description: 'The credentials to delete.',
    fields: idsToDelete,
  }),
  done: deletedType('CustomCredentialsDeleted', 'credentials'),
  subject: 'team',
  run: async (context, input) => {
    const ids = readIdsToDelete(input.ids);
    return await inPlace(context, input, (at) => deleteCustomCredentials(context.service, at, ids));
  },
});

/** A type of its own: that of the other graph has fields that need the interface of a team. */
const managedLabAccountRef = builder.objectRef<LabAccount>('ManagedLabAccount').implement({
  description: 'An account with a lab, as the organization manages it.',
  fields: labAccountFields,
});

const orgLabAccountRef = builder.objectRef<OrgLabAccount>('OrganizationLabAccount').implement({
  description: 'An account with a lab, and the teams that may use it.',
  fields: (t) => ({
    account: t.expose('account', {
      type: managedLabAccountRef,
      nullable: false,
      description: 'The account.',
    }),
    teamIds: t.exposeIDList('teamIds', {
      nullable: false,
      description: 'Ids of the teams that may use it.',
    }),
  }),
});

builder.objectField(organizationRef, 'labAccounts', (t) =>
  t.field({
    type: [orgLabAccountRef],
    description: 'Its accounts with labs, in one environment and region.',
    args: {
      ...environmentArgs,
      region: t.arg({ type: region.ref, required: true, description: 'Where the accounts are.' }),
      id: t.arg.id({ description: 'Only the account with this id (uuid).' }),
      teamId: t.arg.id({ description: 'Only accounts that this team may use (uuid).' }),
      status: t.arg.string({ description: 'Only accounts of this status, as the service names it.' }),
    },
    resolve: (organization, { environment: of, region: where, id, teamId, status = null }, context) =>
      listOrgLabAccounts(
        context.service,
        { orgId: organization.id, environment: of.toLowerCase(), region: where.toLowerCase() },
        { id: readOptionalUuid('id', id), teamId: readOptionalUuid('teamId', teamId), status },
      ),
  }),
);

addMutation(mutationRoot, 'setLabAccountTeams', {
  description: 'Replaces the teams that may use an account with a lab.',
  input: builder.inputType('SetLabAccountTeamsInput', {
    description: 'All teams that may use an account with a lab.',
    fields: (t) => ({
      ...orgField(t),
      environment: t.field({
        type: environment,
        required: true,
        description: 'The environment of the account.',
      }),
      region: t.field({ type: region.ref, required: true, description: 'Where the account is.' }),
      accountId: t.id({ required: true, description: 'Id of the account (uuid).' }),
      teamIds: t.idList({ required: true, description: 'Ids of the teams (uuids, 100 at most).' }),
    }),
  }),
  done: doneThing('LabAccountTeamsSet', 'The teams of the account were replaced.', {
    name: 'labAccount',
    type: orgLabAccountRef,
    description: 'The account as it is now.',
  }),
  subject: 'lab account',
  names: { team_id_allowlist: 'teamIds' },
  run: async (context, { orgId, environment: of, region: where, accountId, teamIds }) => {
    const place = {
      orgId: readOrgId(context, orgId),
      environment: of.toLowerCase(),
      region: where.toLowerCase(),
    };
    const at = { ...place, accountId: readUuid('accountId', accountId) };
    return await setLabAccountTeams(context.service, at, readUuids('teamIds', teamIds) ?? []);
  },
});
