import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { addMutation, doneThing, doneType } from '../../graph/mutation-field.ts';
import { userErrorRef } from '../../graph/mutation-result.ts';
import type { UserError } from '../../graph/user-error.ts';
import { findTeam, inPlace, readOrgId } from './actions.ts';
import { deleteTeamWithSecrets } from './gateway-webhook/actions.ts';
import { mutationRoot, orgField, placeFields, region, teamFields } from './graph.ts';
import { organizationRef, teamRef } from './graph-teams.ts';
import {
  createAccessToken,
  createTeam,
  ReferenceTaken,
  type Team,
  updateOrganization,
  updateTeam,
} from './rest-teams.ts';

interface TeamReferenceTaken extends UserError<'TeamReferenceTaken', 'TEAM_REFERENCE_TAKEN'> {
  readonly orgId: string;
  readonly teamId: string;
}

const referenceTakenRef = builder.objectRef<TeamReferenceTaken>('TeamReferenceTaken').implement({
  description: 'Another team of the organization has this reference; nothing was done.',
  interfaces: [userErrorRef],
  fields: (t) => ({
    teamId: t.exposeID('teamId', { nullable: false, description: 'Id of the team that has it.' }),
    team: t.field({
      type: teamRef,
      description: 'The team that has it.',
      resolve: (taken, _args, context) => findTeam(context, taken),
    }),
  }),
});

function toOutcome(saved: Team | ReferenceTaken | null, orgId: string) {
  if (!(saved instanceof ReferenceTaken)) return saved;
  const taken: TeamReferenceTaken = {
    kind: 'TeamReferenceTaken',
    code: 'TEAM_REFERENCE_TAKEN',
    message: 'Another team of the organization has this reference.',
    orgId,
    teamId: saved.teamId,
  };
  return taken;
}

const brandInput = builder.inputType('BrandInput', {
  description: 'How a team appears to patients; what is left out stays as it is.',
  fields: (t) => ({
    companyName: t.string({ description: 'Name of the company; a new brand needs it.' }),
    companyWebsite: t.string({ description: 'Website of the company.' }),
    supportEmail: t.string({ description: 'Address for e-mails of patients.' }),
    supportContact: t.string({ description: 'Another way to reach support.' }),
    companyAddress: t.string({ description: 'Postal address of the company.' }),
    brandColor: t.string({ description: 'Colour of the brand.' }),
  }),
});

const settingsInput = builder.inputType('TeamSettingsInput', {
  description: 'Features and brand of an environment of a team; what is left out or null stays as it is.',
  fields: (t) => ({
    labTestsPatientSmsCommunicationEnabled: t.boolean({
      description: 'Whether patients get text messages about lab tests.',
    }),
    labTestsPatientEmailCommunicationEnabled: t.boolean({
      description: 'Whether patients get e-mails about lab tests.',
    }),
    criticalResultNotificationEmail: t.string({ description: 'Address to notify of critical results.' }),
    partialWebhooksEnabled: t.boolean({ description: 'Whether webhooks are sent for partial results.' }),
    minorOrderingEnabled: t.boolean({ description: 'Whether tests can be ordered for minors.' }),
    rejectDuplicateConnection: t.boolean({
      description: 'Whether a second connection to the same account of a provider is refused.',
    }),
    sdkPerDeviceActivityTimeseries: t.boolean({
      description: 'Whether activity from mobile apps is separated by device.',
    }),
    logoUrl: t.string({ description: 'Address of the logo; a brand of a new team needs it.' }),
    brand: t.field({ type: brandInput, description: 'How the team appears to patients.' }),
  }),
});

const names = { brand_information: 'brand' };

addMutation(mutationRoot, 'updateOrganization', {
  description: 'Renames an organization.',
  input: builder.inputType('UpdateOrganizationInput', {
    description: 'What is to change of an organization.',
    fields: (t) => ({ ...orgField(t), name: t.string({ required: true, description: 'The new name.' }) }),
  }),
  done: doneThing('OrganizationUpdated', 'The organization was changed.', {
    name: 'organization',
    type: organizationRef,
    description: 'The organization as it is now.',
  }),
  subject: 'organization',
  run: (context, { orgId, name }) => updateOrganization(context.service, readOrgId(context, orgId), name),
});

addMutation(mutationRoot, 'createTeam', {
  description: 'Makes a team.',
  input: builder.inputType('CreateTeamInput', {
    description: 'A new team.',
    fields: (t) => ({
      ...orgField(t),
      name: t.string({ required: true, description: 'Its name: 80 characters at most.' }),
      region: t.field({
        type: region.ref,
        required: true,
        description: 'Where its data is held; it can never be changed.',
      }),
      integrationTeamId: t.string({
        description: "The organization's own reference of the team; no two teams have the same.",
      }),
      settings: t.field({ type: settingsInput, description: 'Features and brand of its environments.' }),
    }),
  }),
  done: doneThing('TeamCreated', 'The team was made.', {
    name: 'team',
    type: teamRef,
    description: 'The new team.',
    nullable: true,
  }),
  subject: 'organization',
  refusals: [referenceTakenRef],
  names,
  run: async (context, { orgId: given, settings, ...team }) => {
    const orgId = readOrgId(context, given);
    const fields = { ...settings, ...team, region: team.region.toLowerCase() };
    return toOutcome(await createTeam(context.service, orgId, fields), orgId);
  },
});

addMutation(mutationRoot, 'updateTeam', {
  description: 'Changes the name, the reference, the features or the brand of a team.',
  input: builder.inputType('UpdateTeamInput', {
    description: 'What is to change of a team; what is left out stays as it is.',
    fields: (t) => ({
      ...teamFields(t),
      name: t.string({ description: 'The new name; it cannot be cleared.' }),
      integrationTeamId: t.string({ description: 'The new reference; null clears it.' }),
      sandbox: t.field({ type: settingsInput, description: 'What is to change of the sandbox.' }),
      production: t.field({ type: settingsInput, description: 'What is to change of production.' }),
    }),
  }),
  done: doneThing('TeamUpdated', 'The team was changed.', {
    name: 'team',
    type: teamRef,
    description: 'The team as it is now.',
    nullable: true,
  }),
  subject: 'team',
  refusals: [referenceTakenRef],
  names,
  run: async (context, { orgId: given, teamId, ...changes }) => {
    const orgId = readOrgId(context, given);
    const at = { orgId, teamId: readUuid('teamId', teamId) };
    return toOutcome(await updateTeam(context.service, at, changes), orgId);
  },
});

addMutation(mutationRoot, 'deleteTeam', {
  description: 'Deletes a team with all of its environments. This cannot be undone.',
  input: builder.inputType('DeleteTeamInput', { description: 'The team to delete.', fields: teamFields }),
  done: doneType<{ readonly teamId: string }>('TeamDeleted', 'The team was deleted.', (t) => ({
    teamId: t.exposeID('teamId', { nullable: false, description: 'Id of the team.' }),
  })),
  subject: 'team',
  run: async (context, input) => {
    const teamId = readUuid('teamId', input.teamId);
    const at = { orgId: readOrgId(context, input.orgId), teamId };
    return (await deleteTeamWithSecrets(context, at)) === null ? null : { teamId };
  },
});

addMutation(mutationRoot, 'createTeamAccessToken', {
  description:
    "Makes a token for the service's own team interface, with the rights of a team admin. The service limits how often.",
  input: builder.inputType('CreateTeamAccessTokenInput', {
    description: 'The environment of a team.',
    fields: placeFields,
  }),
  done: doneType<{ readonly token: string; readonly expiresInSeconds: number }>(
    'TeamAccessTokenCreated',
    'The token was made. It is shown here only.',
    (t) => ({
      token: t.exposeString('token', { nullable: false, description: 'The token: a secret.' }),
      expiresInSeconds: t.exposeInt('expiresInSeconds', {
        nullable: false,
        description: 'For how long it works, in seconds.',
      }),
    }),
  ),
  subject: 'team',
  run: (context, input) => inPlace(context, input, (at) => createAccessToken(context.service, at)),
});
