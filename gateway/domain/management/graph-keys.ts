import { readOptionalUuid, readUuid, readUuids } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { addMutation, doneThing, doneType } from '../../graph/mutation-field.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { inPlace, placeIn, readIdsToDelete, readOrgId } from './actions.ts';
import { deletedType, environmentArgs, idsToDelete, mutationRoot, orgField, placeFields } from './graph.ts';
import { organizationRef, teamRef } from './graph-teams.ts';
import {
  createManagementKey,
  createTeamApiKey,
  deleteManagementKey,
  deleteTeamApiKeys,
  listManagementKeys,
  listTeamApiKeys,
  type ManagementKey,
  type TeamApiKey,
  updateManagementKey,
} from './rest-keys.ts';

const role = openEnum('ManagementRole', 'What a management key may do.', {
  ORG_ADMIN: 'Everything in the organization.',
  TEAM_ADMIN: 'Everything in the teams that it is bound to.',
});

const creatorType = openEnum('CreatorType', 'Who made a management key.', {
  ORG_MEMBER: 'A member of the organization.',
  REMOVED_ORG_MEMBER: 'Somebody who was a member of the organization.',
  VITAL_STAFF: 'Somebody of the service.',
  MANAGEMENT_KEY: 'A program with a management key.',
});

const managementKeyRef = builder.objectRef<ManagementKey>('ManagementKey');
managementKeyRef.implement({
  description: 'A key for the management interface of the service. The key itself is never shown here.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the key (uuid)." }),
    label: t.exposeString('label', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    ...openEnumFields(t, role, { name: 'role', ...usualTexts('What it may do', 'role') }),
    ...openEnumFields(t, creatorType, {
      name: 'creatorType',
      description: 'Who made it; null when the kind is not one of these.',
      raw: 'The kind of its maker as the service sent it.',
      read: (key) => key.creator?.type ?? null,
    }),
    creatorName: t.string({
      description: 'Name of the member who made it.',
      resolve: (key) => key.creator?.name ?? null,
    }),
    teamIds: t.exposeIDList('teamIds', {
      nullable: false,
      description: 'Ids of the teams that it is bound to; none for the whole organization.',
    }),
  }),
});

const managementKeyList = connectionField('ManagementKey', managementKeyRef, 'management keys');

builder.objectField(organizationRef, 'managementKeys', (t) =>
  t.field({
    ...managementKeyList,
    description: 'The keys for its management.',
    args: {
      ...managementKeyList.args,
      teamId: t.arg.id({ description: 'Only keys that are bound to this team (uuid).' }),
      role: t.arg({ type: role.ref, description: 'Only keys with this role.' }),
    },
    resolve: (organization, { teamId, role: wanted, ...args }, context) => {
      const filter = {
        orgId: organization.id,
        teamId: readOptionalUuid('teamId', teamId),
        role: wanted?.toLowerCase() ?? null,
      };
      return cursorConnection(args, listCursors(context, ['managementKeys', filter]), (start) =>
        listManagementKeys(context.service, filter, start),
      );
    },
  }),
);

addMutation(mutationRoot, 'createManagementKey', {
  description: 'Makes a management key. A key for two or more teams can be made here only.',
  input: builder.inputType('CreateManagementKeyInput', {
    description: 'A new management key.',
    fields: (t) => ({
      ...orgField(t),
      label: t.string({ required: true, description: 'Its name.' }),
      role: t.field({ type: role.ref, required: true, description: 'What it may do.' }),
      teamIds: t.idList({ description: 'Ids of the teams of a TEAM_ADMIN (uuids, 100 at most).' }),
    }),
  }),
  done: doneType<{ readonly managementKey: ManagementKey; readonly key: string }>(
    'ManagementKeyCreated',
    'The management key was made. It is shown here only.',
    (t) => ({
      managementKey: t.expose('managementKey', {
        type: managementKeyRef,
        nullable: false,
        description: 'What is known of the key.',
      }),
      key: t.exposeString('key', { nullable: false, description: 'The key itself: a secret.' }),
    }),
  ),
  subject: 'organization',
  names: { team_role_bindings: 'teamIds' },
  run: (context, { orgId, label, role: wanted, teamIds }) =>
    createManagementKey(context.service, readOrgId(context, orgId), {
      label,
      role: wanted.toLowerCase(),
      teamIds: readUuids('teamIds', teamIds),
    }),
});

addMutation(mutationRoot, 'updateManagementKey', {
  description: 'Changes the name or the teams of a management key.',
  input: builder.inputType('UpdateManagementKeyInput', {
    description: 'What is to change of a management key; what is left out or null stays as it is.',
    fields: (t) => ({
      ...orgField(t),
      id: t.id({ required: true, description: 'Id of the key (uuid).' }),
      label: t.string({ description: 'The new name.' }),
      teamIds: t.idList({ description: 'Ids of all the teams that it is bound to from now on (uuids).' }),
    }),
  }),
  done: doneThing('ManagementKeyUpdated', 'The management key was changed.', {
    name: 'managementKey',
    type: managementKeyRef,
    description: 'The key as it is now.',
  }),
  subject: 'management key',
  names: { team_role_bindings: 'teamIds' },
  run: async (context, { orgId, id, label = null, teamIds }) => {
    const named = { orgId: readOrgId(context, orgId), id: readUuid('id', id) };
    const changes = { label, teamIds: readUuids('teamIds', teamIds) };
    return await updateManagementKey(context.service, named, changes);
  },
});

addMutation(mutationRoot, 'deleteManagementKey', {
  description: 'Deletes a management key: it works no longer.',
  input: builder.inputType('DeleteManagementKeyInput', {
    description: 'The management key to delete.',
    fields: (t) => ({
      ...orgField(t),
      id: t.id({ required: true, description: 'Id of the key (uuid).' }),
    }),
  }),
  done: doneType<{ readonly id: string }>('ManagementKeyDeleted', 'The management key was deleted.', (t) => ({
    id: t.exposeID('id', { nullable: false, description: 'Id of the key.' }),
  })),
  subject: 'management key',
  run: async (context, { orgId, id: given }) => {
    const id = readUuid('id', given);
    const done = await deleteManagementKey(context.service, { orgId: readOrgId(context, orgId), id });
    return done === null ? null : { id };
  },
});

const apiKeyRef = builder.objectRef<TeamApiKey>('TeamApiKey');
apiKeyRef.implement({
  description: "A key for the team's interface of the service. The key itself is never shown here.",
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the key (uuid)." }),
    label: t.exposeString('label', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
});

const apiKeyList = connectionField('TeamApiKey', apiKeyRef, 'API keys');

builder.objectField(teamRef, 'apiKeys', (t) =>
  t.field({
    ...apiKeyList,
    description: 'Its keys for an environment.',
    args: { ...apiKeyList.args, ...environmentArgs },
    resolve: (team, { environment, ...args }, context) => {
      const at = placeIn(team, environment);
      return cursorConnection(args, listCursors(context, ['apiKeys', at]), (start) =>
        listTeamApiKeys(context.service, at, start),
      );
    },
  }),
);

addMutation(mutationRoot, 'createTeamApiKey', {
  description: 'Makes an API key of a team.',
  input: builder.inputType('CreateTeamApiKeyInput', {
    description: 'A new API key of a team.',
    fields: (t) => ({
      ...placeFields(t),
      label: t.string({ required: true, description: 'Its name.' }),
    }),
  }),
  done: doneType<{ readonly apiKey: TeamApiKey; readonly value: string }>(
    'TeamApiKeyCreated',
    'The API key was made. It is shown here only.',
    (t) => ({
      apiKey: t.expose('apiKey', {
        type: apiKeyRef,
        nullable: false,
        description: 'What is known of the key.',
      }),
      value: t.exposeString('value', { nullable: false, description: 'The key itself: a secret.' }),
    }),
  ),
  subject: 'team',
  run: (context, input) =>
    inPlace(context, input, (at) => createTeamApiKey(context.service, at, input.label)),
});

addMutation(mutationRoot, 'deleteTeamApiKeys', {
  description: 'Deletes API keys of a team: they work no longer.',
  input: builder.inputType('DeleteTeamApiKeysInput', {
    description: 'The API keys to delete.',
    fields: idsToDelete,
  }),
  done: deletedType('TeamApiKeysDeleted', 'API keys'),
  subject: 'team',
  run: async (context, input) => {
    const ids = readIdsToDelete(input.ids);
    return await inPlace(context, input, (at) => deleteTeamApiKeys(context.service, at, ids));
  },
});
