import { readOptionalUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import { openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { connectionField } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/cursors.ts';
import { cursorConnection } from '../../graph/pagination/paged-connection.ts';
import { findTeam, readOrgId } from './actions.ts';
import { environmentArgs, orgArgs, queryRoot, region } from './graph.ts';
import {
  type Brand,
  getOrganization,
  listTeams,
  type Organization,
  resolveTeam,
  type Team,
  type TeamSettings,
} from './rest-teams.ts';

export const organizationRef = builder.objectRef<Organization>('Organization').implement({
  description: 'An organization: the owner of teams at the service.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the organization (uuid)." }),
    name: t.exposeString('name', { description: 'Its name.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When its access ends; null for no end.',
    }),
  }),
});

const brandRef = builder.objectRef<Brand>('Brand').implement({
  description: 'How a team appears to patients.',
  fields: (t) => ({
    companyName: t.exposeString('companyName', { description: 'Name of the company.' }),
    companyWebsite: t.exposeString('companyWebsite', { description: 'Website of the company.' }),
    supportEmail: t.exposeString('supportEmail', { description: 'Address for e-mails of patients.' }),
    supportContact: t.exposeString('supportContact', { description: 'Another way to reach support.' }),
    companyAddress: t.exposeString('companyAddress', { description: 'Postal address of the company.' }),
    brandColor: t.exposeString('brandColor', { description: 'Colour of the brand, as the service has it.' }),
  }),
});

const settingsRef = builder.objectRef<TeamSettings>('TeamSettings').implement({
  description: 'The features and the brand of one environment of a team.',
  fields: (t) => ({
    labTestsPatientSmsCommunicationEnabled: t.exposeBoolean('labTestsPatientSmsCommunicationEnabled', {
      description: 'Whether patients get text messages about lab tests.',
    }),
    labTestsPatientEmailCommunicationEnabled: t.exposeBoolean('labTestsPatientEmailCommunicationEnabled', {
      description: 'Whether patients get e-mails about lab tests.',
    }),
    criticalResultNotificationEmail: t.exposeString('criticalResultNotificationEmail', {
      description: 'Address that is notified of critical results.',
    }),
    partialWebhooksEnabled: t.exposeBoolean('partialWebhooksEnabled', {
      description: 'Whether webhooks are sent for partial results.',
    }),
    minorOrderingEnabled: t.exposeBoolean('minorOrderingEnabled', {
      description: 'Whether tests can be ordered for minors.',
    }),
    rejectDuplicateConnection: t.exposeBoolean('rejectDuplicateConnection', {
      description: 'Whether a second connection to the same account of a provider is refused.',
    }),
    sdkPerDeviceActivityTimeseries: t.exposeBoolean('sdkPerDeviceActivityTimeseries', {
      description: 'Whether activity from mobile apps is separated by device.',
    }),
    logoUrl: t.exposeString('logoUrl', { description: 'Address of the logo.' }),
    brand: t.expose('brand', { type: brandRef, description: 'How the team appears to patients.' }),
  }),
});

export const teamRef = builder.objectRef<Team>('Team');
teamRef.implement({
  description: 'A team of an organization.',
  fields: (t) => ({
    id: t.id({
      nullable: false,
      description: "The service's id of the team (uuid).",
      resolve: (team) => team.teamId,
    }),
    orgId: t.exposeID('orgId', { nullable: false, description: 'Id of its organization.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    ...openEnumFields(t, region, {
      name: 'region',
      ...usualTexts('Where its data is held', 'region'),
      isRequired: true,
    }),
    integrationTeamId: t.exposeString('integrationTeamId', {
      description: "The organization's own reference of the team.",
    }),
    settings: t.field({
      type: settingsRef,
      description: 'Its features and brand in an environment; null when it does not have that environment.',
      args: environmentArgs,
      resolve: async (team, args, context) => {
        const { settings } = team.settings === undefined ? ((await findTeam(context, team)) ?? team) : team;
        return settings?.[args.environment === 'SANDBOX' ? 'sandbox' : 'production'] ?? null;
      },
    }),
  }),
});

builder.objectFields(queryRoot, (t) => ({
  organization: t.field({
    type: organizationRef,
    description: 'An organization; null when the key of the gateway does not reach it.',
    args: orgArgs,
    resolve: (_root, args, context) => getOrganization(context.service, readOrgId(context, args.orgId)),
  }),
  team: t.field({
    type: teamRef,
    description: 'A team; null when the key of the gateway does not reach it.',
    args: {
      ...orgArgs,
      teamId: t.arg.id({ required: true, description: 'Id of the team (uuid).' }),
    },
    resolve: (_root, args, context) => findTeam(context, args),
  }),
  teamByReference: t.field({
    type: teamRef,
    description: "The team with a reference of the organization's own; null when there is none.",
    args: {
      ...orgArgs,
      integrationTeamId: t.arg.string({ required: true, description: 'The reference.' }),
    },
    resolve: (_root, args, context) =>
      resolveTeam(context.service, readOrgId(context, args.orgId), args.integrationTeamId),
  }),
}));

const teamList = connectionField('Team', teamRef, 'teams');

builder.objectField(organizationRef, 'teams', (t) =>
  t.field({
    ...teamList,
    description: 'Its teams.',
    args: {
      ...teamList.args,
      search: t.arg.string({ description: 'Only teams with this text in their name.' }),
      region: t.arg({ type: region.ref, description: 'Only teams of this region.' }),
      teamId: t.arg.id({ description: 'Only the team with this id (uuid).' }),
    },
    resolve: (organization, { search = null, region: at, teamId, ...args }, context) => {
      const filter = {
        orgId: organization.id,
        search,
        region: at?.toLowerCase() ?? null,
        teamId: readOptionalUuid('teamId', teamId),
      };
      return cursorConnection(args, listCursors(context, ['teams', filter]), (start) =>
        listTeams(context.service, filter, start),
      );
    },
  }),
);
