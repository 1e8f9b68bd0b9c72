import { hash } from 'node:crypto';
import type { PipelineSettings } from '../http/pipeline.ts';
import { seededUuid } from '../world/ids.ts';

export const environments = ['production', 'sandbox'] as const;
export type Environment = (typeof environments)[number];
export const regions = ['us', 'eu'] as const;
export type Region = (typeof regions)[number];

/** Where the world of the sandbox lies: its events go to endpoints of this environment, and only its keys open the team API. */
export const homeEnvironment: Environment = 'sandbox';
export const homeRegion: Region = 'us';

/** How a team presents itself to patients (public service: BrandInformation). */
interface Brand {
  readonly company_name: string;
  readonly company_website: string;
  readonly support_email: string;
  readonly support_contact: string | null;
  readonly company_address: string;
  readonly brand_color: string;
}

/** A team's settings in one environment (public service: ClientFacingOrgTeamEnvironment). */
export interface TeamSettings {
  readonly lab_tests_patient_sms_communication_enabled: boolean;
  readonly lab_tests_patient_email_communication_enabled: boolean;
  readonly critical_result_notification_email: string | null;
  readonly brand_information: Brand | null;
  readonly logo_url: string | null;
  readonly reject_duplicate_connection: boolean;
  readonly sdk_per_device_activity_timeseries: boolean;
  readonly partial_webhooks_enabled: boolean;
  readonly minor_ordering_enabled: boolean;
}

export interface Team {
  readonly id: string;
  readonly createdAt: number;
  readonly region: Region;
  name: string;
  integrationTeamId: string | null;
  readonly settings: Record<Environment, TeamSettings>;
}

/** A management key; only the digest of its value is stored. */
export interface ManagementKey {
  readonly id: string;
  readonly digest: string;
  readonly createdAt: number;
  readonly role: 'org_admin' | 'team_admin';
  label: string;
  /** The teams of a team admin; null for an org admin. */
  teamIds: readonly string[] | null;
}

/** A team API key; its list shows its value (public service: ClientFacingTeamAPIKey). */
export interface TeamApiKey {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly digest: string;
  readonly teamId: string;
  readonly environment: Environment;
  readonly createdAt: number;
}

/** A Bearer token of the team API. */
export interface AccessToken {
  readonly digest: string;
  readonly teamId: string;
  readonly environment: Environment;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A secret that signs webhooks; `endsAt` is null for the newest one. */
interface WebhookSecret {
  readonly key: string;
  readonly endsAt: number | null;
}

/** A receiver of webhooks. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly teamId: string;
  readonly environment: Environment;
  readonly createdAt: number;
  /** Made by the process and not by the management interface: it does not outlive the process. */
  readonly isRegistered: boolean;
  url: string;
  description: string;
  rateLimit: number | null;
  disabled: boolean;
  /** Exact event types; null for all. */
  filterTypes: readonly string[] | null;
  headers: Readonly<Record<string, string>>;
  /** Newest first. */
  secrets: readonly WebhookSecret[];
  updatedAt: number;
}

/** A team's own credentials with a provider, as they were sent. */
export interface ProviderCredentials {
  readonly id: string;
  readonly teamId: string;
  readonly environment: Environment;
  readonly provider: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly body: {
    readonly client_id?: string | null | undefined;
    readonly client_secret?: string | null | undefined;
    readonly details?: Readonly<Record<string, unknown>> | null | undefined;
    readonly redirect_url_override?: string | null | undefined;
  };
}

/** What a team's users grant a provider. */
interface ScopeRequirements {
  readonly teamId: string;
  readonly provider: string;
  readonly user_must_grant: readonly string[];
  readonly user_may_grant: readonly string[];
}

/** Where the events of a team go. */
export interface Pipeline {
  readonly teamId: string;
  readonly environment: Environment;
  readonly settings: PipelineSettings;
}

/** The state behind the management interface. */
export interface ManagementState {
  readonly org: { readonly id: string; name: string };
  teams: Team[];
  keys: ManagementKey[];
  teamApiKeys: TeamApiKey[];
  accessTokens: AccessToken[];
  readonly webhooks: WebhookEndpoint[];
  credentials: ProviderCredentials[];
  scopes: ScopeRequirements[];
  pipelines: Pipeline[];
  /** The teams that may use a lab account, by its id; where left out, those of the catalogue. */
  readonly accountTeams: Record<string, readonly string[]>;
  /** How many things were made here; the next one takes the next ordinal. */
  made: number;
}

/** Settings of a team that has set nothing (public service: the defaults of its schema). */
const usualSettings: TeamSettings = {
  lab_tests_patient_sms_communication_enabled: true,
  lab_tests_patient_email_communication_enabled: true,
  critical_result_notification_email: null,
  brand_information: null,
  logo_url: null,
  reject_duplicate_connection: false,
  sdk_per_device_activity_timeseries: false,
  partial_webhooks_enabled: false,
  minor_ordering_enabled: false,
};

const firstTeamsMs = Date.parse('2025-01-06T09:00:00Z');

function createTeam(seed: number, ordinal: number, { name, region }: Pick<Team, 'name' | 'region'>): Team {
  return {
    id: seededUuid(seed, 'team', ordinal),
    createdAt: firstTeamsMs + ordinal * 86_400_000,
    region,
    name,
    integrationTeamId: null,
    settings: { production: usualSettings, sandbox: usualSettings },
  };
}

/** An org with two teams: the team of the world, which wants webhooks of partial results, and one in the other region. */
export function createManagement(seed: number): ManagementState {
  const home = createTeam(seed, 0, { name: 'Example Health, United States', region: homeRegion });
  home.settings[homeEnvironment] = { ...usualSettings, partial_webhooks_enabled: true };
  return {
    org: { id: seededUuid(seed, 'org', 0), name: 'Example Health' },
    teams: [home, createTeam(seed, 1, { name: 'Example Health, Europe', region: 'eu' })],
    keys: [],
    teamApiKeys: [],
    accessTokens: [],
    webhooks: [],
    credentials: [],
    scopes: [],
    pipelines: [],
    accountTeams: {},
    made: 0,
  };
}

/** The form in which keys are compared and stored. */
export function digestOf(secret: string): string {
  return hash('sha256', secret);
}

interface RootKeys {
  readonly seed: number;
  readonly apiKey: string;
  readonly managementKey: string;
}

/** Puts in the two keys that a start of the sandbox brings with it, in place of those of an earlier start. */
export function installRootKeys(
  management: ManagementState,
  { seed, apiKey, managementKey }: RootKeys,
): void {
  const [id, teamId] = [seededUuid(seed, 'root-key', 0), seededUuid(seed, 'team', 0)];
  const root = { id, label: 'Key of the sandbox', createdAt: firstTeamsMs };
  management.keys = [
    { ...root, digest: digestOf(managementKey), role: 'org_admin', teamIds: null },
    ...management.keys.filter((key) => key.id !== id),
  ];
  const others = management.teamApiKeys.filter((key) => key.id !== id);
  const own = { ...root, value: apiKey, digest: digestOf(apiKey), teamId, environment: homeEnvironment };
  const isThere = management.teams.some((team) => team.id === teamId);
  management.teamApiKeys = isThere ? [own, ...others] : others;
}
