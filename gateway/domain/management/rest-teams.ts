import { Refusal } from '../../service/failure.ts';
import type { Service } from '../../service/service.ts';
import {
  flag,
  id,
  integer,
  link,
  optional,
  pageReader,
  type Reader,
  record,
  required,
  text,
  timestamp,
  where,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';
import {
  change,
  orgPath,
  type PageStart,
  type Place,
  readNothing,
  readRows,
  readThing,
  type TeamPlace,
  teamPath,
} from './rest.ts';

export type Organization = ReturnType<typeof readOrganization>;

const readOrganization = record((raw) => ({
  id: required(raw, 'id', id),
  name: text(raw.name),
  expiresAt: timestamp(raw.expires_at),
}));

export type Brand = ReturnType<typeof readBrand>;

const readBrand = record((raw) => ({
  companyName: text(raw.company_name),
  companyWebsite: text(raw.company_website),
  supportEmail: text(raw.support_email),
  supportContact: text(raw.support_contact),
  companyAddress: text(raw.company_address),
  brandColor: text(raw.brand_color),
}));

export type TeamSettings = ReturnType<typeof readSettings>;

const readSettings = record((raw) => ({
  labTestsPatientSmsCommunicationEnabled: flag(raw.lab_tests_patient_sms_communication_enabled),
  labTestsPatientEmailCommunicationEnabled: flag(raw.lab_tests_patient_email_communication_enabled),
  criticalResultNotificationEmail: text(raw.critical_result_notification_email),
  partialWebhooksEnabled: flag(raw.partial_webhooks_enabled),
  minorOrderingEnabled: flag(raw.minor_ordering_enabled),
  rejectDuplicateConnection: flag(raw.reject_duplicate_connection),
  sdkPerDeviceActivityTimeseries: flag(raw.sdk_per_device_activity_timeseries),
  logoUrl: link(raw.logo_url),
  brand: optional(readBrand)(raw.brand_information),
}));

/** A region is a part of paths: any other text is unreadable. */
const readRegion = where(text, (region) => /^[a-z][a-z0-9-]{0,19}$/.test(region ?? ''));

const readListedTeam = record((raw) => ({
  teamId: required(raw, 'id', id),
  name: text(raw.name),
  createdAt: timestamp(raw.created_on),
  region: required(raw, 'region', readRegion),
  integrationTeamId: text(raw.integration_team_id),
}));

const readTeam = record((raw) => {
  const sandbox = optional(readSettings)(raw.sandbox);
  const production = optional(readSettings)(raw.production);
  return {
    ...readListedTeam(raw),
    ...(sandbox === null && production === null ? {} : { settings: { sandbox, production } }),
  };
});

/** A team, with the organization that it was read from. Lists leave out the settings, and so may answers to changes. */
export interface Team extends ReturnType<typeof readListedTeam> {
  readonly orgId: string;
  readonly settings?: {
    readonly sandbox: TeamSettings | null;
    readonly production: TeamSettings | null;
  };
}

/** Another team that has the reference. */
export class ReferenceTaken {
  readonly teamId: string;

  constructor(teamId: string) {
    this.teamId = teamId;
  }
}

export function getOrganization(service: Service, orgId: string): Promise<Organization | null> {
  return readThing(service, { operation: 'org.get', path: orgPath(orgId) }, readOrganization);
}

export function updateOrganization(service: Service, orgId: string, name: string) {
  return change(service, {
    operation: 'org.update',
    method: 'PATCH',
    path: orgPath(orgId),
    body: { name },
    reader: readOrganization,
  });
}

export interface TeamFilter {
  readonly teamId: string | null;
  readonly region: string | null;
  readonly search: string | null;
}

const readTeams = pageReader('teams', readListedTeam);

/** One page of the organization's teams, without their settings. */
export async function listTeams(
  service: Service,
  { orgId, teamId, region, search }: TeamFilter & { readonly orgId: string },
  { cursor }: PageStart,
) {
  const query = { team_id: teamId, region, search_query: search, next_cursor: cursor };
  const page = await readRows(
    service,
    { operation: 'team.list', path: `${orgPath(orgId)}/team`, query },
    readTeams,
  );
  return { ...page, rows: page.rows.map((row) => row && withOrg(row, orgId)) };
}

export async function getTeam(
  service: Service,
  { orgId, teamId }: { readonly orgId: string; readonly teamId: string },
): Promise<Team | null> {
  // The service shows no settings unasked.
  const query = { include_environment: ['sandbox', 'production'] };
  const call = { operation: 'team.get', path: teamPath({ orgId, teamId }), query };
  return withOrg(await readThing(service, call, readTeam), orgId);
}

/** A POST that changes nothing, because the reference is not fit for a path. */
export async function resolveTeam(
  service: Service,
  orgId: string,
  integrationTeamId: string,
): Promise<Team | null> {
  const team = await service.readOne({
    operation: 'management.team.resolve',
    method: 'POST',
    path: `${orgPath(orgId)}/resolve_team`,
    body: { integration_team_id: integrationTeamId },
    reader: readTeam,
    scope: null,
    owner: 'anyone',
    about: { userId: null },
  });
  return withOrg(team, orgId);
}

function withOrg<T extends object>(team: T, orgId: string): T & { readonly orgId: string };
function withOrg<T extends object>(team: T | null, orgId: string): (T & { readonly orgId: string }) | null;
function withOrg<T extends object>(team: T | null, orgId: string) {
  return team === null ? null : { ...team, orgId };
}

/** The answer of a write that refuses a reference which another team has: 409 without a `detail`. */
function orTaken<T>(reader: Reader<T>): Reader<T | ReferenceTaken> {
  return (json) => {
    if (!(json instanceof Refusal)) return reader(json);
    const teamId = id(json.json.team_id);
    if (teamId === null) throw json.error;
    return new ReferenceTaken(teamId);
  };
}

const readSavedTeam = orTaken(readTeam);

async function save(
  service: Service,
  {
    orgId,
    ...call
  }: { orgId: string; operation: string; method: 'POST' | 'PATCH'; path: string; body: object },
): Promise<Team | ReferenceTaken | null> {
  const saved = await change(service, { ...call, readsRefusals: [409], reader: readSavedTeam });
  return saved instanceof ReferenceTaken ? saved : withOrg(saved, orgId);
}

export function createTeam(
  service: Service,
  orgId: string,
  { brand, ...fields }: Readonly<Record<string, unknown>>,
) {
  const body = toRequestBody({ ...fields, brandInformation: brand });
  return save(service, {
    orgId,
    operation: 'team.create',
    method: 'POST',
    path: `${orgPath(orgId)}/team`,
    body,
  });
}

/** Of the settings, those that are null or left out stay as they are. */
export function updateTeam(
  service: Service,
  at: { readonly orgId: string; readonly teamId: string },
  {
    sandbox,
    production,
    ...fields
  }: {
    readonly [name: string]: unknown;
    readonly sandbox?: object | null | undefined;
    readonly production?: object | null | undefined;
  },
) {
  const body = {
    ...toRequestBody(fields, { sendsNull: true }),
    ...toRequestBody({ sandbox: withBrand(sandbox), production: withBrand(production) }),
  };
  return save(service, {
    orgId: at.orgId,
    operation: 'team.update',
    method: 'PATCH',
    path: teamPath(at),
    body,
  });
}

function withBrand(settings: { readonly brand?: unknown } | null | undefined) {
  if (!settings) return null;
  const { brand, ...rest } = settings;
  return { ...rest, brandInformation: brand };
}

export function deleteTeam(service: Service, at: Omit<TeamPlace, 'region'>) {
  return change(service, {
    operation: 'team.delete',
    method: 'DELETE',
    path: teamPath(at),
    reader: readNothing,
  });
}

const readAccessToken = record((raw) => ({
  token: required(raw, 'access_token', text),
  expiresInSeconds: required(raw, 'expires_in', integer),
}));

/** A token for the team's own interface, with the rights of a team admin. */
export function createAccessToken(service: Service, at: Place) {
  return change(service, {
    operation: 'team.access-token',
    method: 'POST',
    path: `${teamPath(at)}/create_api_access_token`,
    body: { env: at.environment },
    reader: readAccessToken,
  });
}
