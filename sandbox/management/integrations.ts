import { Hono } from 'hono';
import { z } from 'zod';
import { findPipelineFault, patchPipeline, pipelineBody } from '../http/pipeline.ts';
import { credentialProvider, oauthProvider, preparationSteps } from '../http/providers.ts';
import { refuse } from '../http/refusal.ts';
import { readBody, readCursor, readQuery, readUuid, repeated, rowsFrom } from '../http/validation.ts';
import { formatTimestamp } from '../world/clock.ts';
import { labAccountsOf } from '../world/world.ts';
import {
  isAt,
  type ManagementContext,
  type ManagementEnv,
  type ManagementParts,
  nextId,
  type Place,
  pageRows,
  readIds,
  readPlace,
  requireFeature,
  requireOrgAdmin,
  requireTeam,
  requireTeamAt,
  requireTeamOfPath,
  takeOut,
  teamIdsAt,
} from './access.ts';
import { digestOf, homeEnvironment, homeRegion, type Pipeline, type ProviderCredentials } from './state.ts';

const credentialsBody = z.object({
  team_id: z.guid(),
  provider: credentialProvider,
  client_id: z.string().nullish(),
  client_secret: z.string().nullish(),
  details: z.record(z.string(), z.unknown()).nullish(),
  redirect_url_override: z.string().nullish(),
});
const credentialsQuery = z.object({
  team_id: repeated(z.guid()),
  provider: credentialProvider.optional(),
  next_cursor: z.string().optional(),
});
const preparation = z.object({ team_id: z.guid(), provider: credentialProvider });

/** The secret is shown by its digest only. */
function presentCredentials({ teamId, provider, body, ...row }: ProviderCredentials) {
  return {
    id: row.id,
    client_id: body.client_id ?? null,
    client_secret_hash: body.client_secret ? digestOf(body.client_secret) : null,
    source: provider,
    team_id: teamId,
    created_at: formatTimestamp(row.createdAt),
    updated_at: formatTimestamp(row.updatedAt),
    details: body.details ?? null,
    app_url: null,
    redirect_url_override: body.redirect_url_override ?? null,
  };
}

const preparationPath = '/v1/org/:org_id/prepare_team_custom_credentials/:env/:region';
const credentialsPath = '/v1/org/:org_id/team_custom_credentials/:env/:region';

function addCredentialRoutes(routes: Hono<ManagementEnv>, { service, plan }: ManagementParts): void {
  const { world, clock, save } = service;
  const { management } = world.state;
  for (const path of [preparationPath, credentialsPath]) {
    routes.use(path, requireFeature(plan, 'customCredentials'));
  }

  routes.post(preparationPath, async (c) => {
    const place = readPlace(c);
    const { team_id, provider } = await readBody(c, preparation);
    requireTeamAt(c, world, { ...place, teamId: team_id });
    const steps = preparationSteps(provider);
    const status = steps.length > 0 ? 'preparations_required' : 'no_action_needed';
    return c.json({ status, preparation_steps: steps });
  });

  routes.get(credentialsPath, (c) => {
    const here = isAt(c, world, readPlace(c));
    const { team_id, provider, next_cursor } = readQuery(c, credentialsQuery);
    const wanted = team_id?.map((id) => id.toLowerCase());
    const found = management.credentials
      .filter(here)
      .filter(({ teamId }) => wanted?.includes(teamId) ?? true)
      .filter((row) => provider === undefined || row.provider === provider);
    const { rows, next } = rowsFrom(found, readCursor(next_cursor), pageRows);
    return c.json({ credentials: rows.map(presentCredentials), next_cursor: next });
  });

  routes.post(credentialsPath, async (c) => {
    const place = readPlace(c);
    const { team_id, provider, ...body } = await readBody(c, credentialsBody);
    const { id: teamId } = requireTeamAt(c, world, { ...place, teamId: team_id });
    const { environment } = place;
    const before = management.credentials.find(
      (row) => row.teamId === teamId && row.environment === environment && row.provider === provider,
    );
    const now = clock.now();
    const made = before ?? { id: nextId(world), teamId, environment, provider, createdAt: now };
    const row: ProviderCredentials = { ...made, updatedAt: now, body };
    management.credentials = [...management.credentials.filter((each) => each !== before), row];
    await save();
    return c.json(presentCredentials(row));
  });

  routes.delete(credentialsPath, async (c) => {
    const here = isAt(c, world, readPlace(c));
    const { left, answer } = takeOut(management.credentials, readIds(c, 'credential_id'), here);
    management.credentials = left;
    await save();
    return c.json(answer);
  });
}

const grants = z
  .object({ user_must_grant: z.array(z.string()), user_may_grant: z.array(z.string()) })
  .nullish();
const scopesBody = z.object({
  fitbit: grants,
  google_fit: grants,
  google_health: grants,
  oura: grants,
  strava: grants,
  withings: grants,
  wahoo: grants,
  whoop_v2: grants,
  my_fitness_pal_v2: grants,
});

/** What users of a team grant a provider; null in a change removes the team's own requirements. */
function addScopeRoutes(routes: Hono<ManagementEnv>, { service }: ManagementParts): void {
  const { world, save } = service;
  const { management } = world.state;
  const path = '/v1/org/:org_id/team/:team_id/scope_requirements';

  routes.get(path, (c) => {
    const team = requireTeamOfPath(c, world);
    const { provider } = readQuery(c, z.object({ provider: oauthProvider.optional() }));
    const requirements = management.scopes
      .filter(({ teamId }) => teamId === team.id)
      .filter((row) => provider === undefined || row.provider === provider)
      .map(({ teamId, ...row }) => ({ ...row, team_id: teamId }));
    return c.json({ requirements });
  });

  routes.post(path, async (c) => {
    const { id: teamId } = requireTeamOfPath(c, world);
    const changes = Object.entries(await readBody(c, scopesBody));
    const named = new Set(changes.flatMap(([provider, value]) => (value === undefined ? [] : [provider])));
    management.scopes = [
      ...management.scopes.filter((row) => row.teamId !== teamId || !named.has(row.provider)),
      ...changes.flatMap(([provider, value]) => (value ? [{ ...value, teamId, provider }] : [])),
    ];
    await save();
    return c.json({ success: true });
  });
}

const accountQuery = z.object({
  lab_account_id: z.guid().optional(),
  team_id: z.guid().optional(),
  status: z.enum(['active', 'pending', 'suspended', 'ready_to_launch']).optional(),
});
const allowList = z.object({ team_id_allowlist: z.array(z.guid()) });

function addAccountRoutes(routes: Hono<ManagementEnv>, { service }: ManagementParts): void {
  const { world, save } = service;
  const accountsAt = ({ environment, region }: Place) =>
    environment === homeEnvironment && region === homeRegion ? labAccountsOf(world) : [];

  routes.get('/v1/org/:org_id/lab_account/:env/:region', (c) => {
    const place = readPlace(c);
    const { lab_account_id, team_id, status } = readQuery(c, accountQuery);
    const within = teamIdsAt(c, world, place.region);
    const data = accountsAt(place)
      .filter(({ id }) => lab_account_id === undefined || id === lab_account_id.toLowerCase())
      .filter((account) => status === undefined || account.status === status)
      .filter((account) => isForCaller(c, account.team_id_allowlist, within))
      .filter(
        (account) => team_id === undefined || account.team_id_allowlist.includes(team_id.toLowerCase()),
      );
    return c.json({ data });
  });

  routes.patch('/v1/org/:org_id/lab_account/:env/:region/:account_id', async (c) => {
    requireOrgAdmin(c);
    const place = readPlace(c);
    const id = readUuid(c, 'account_id').toLowerCase();
    const { team_id_allowlist } = await readBody(c, allowList);
    if (!accountsAt(place).some((account) => account.id === id)) throw refuse(404, 'Lab account not found');
    const teams = team_id_allowlist.map((teamId) => requireTeam(c, world, teamId).id);
    world.state.management.accountTeams[id] = [...new Set(teams)];
    await save();
    return c.json({ lab_account: accountsAt(place).find((account) => account.id === id) });
  });
}

/** An org admin sees every account, a team admin those of its teams. */
function isForCaller(c: ManagementContext, teams: readonly string[], within: ReadonlySet<string>): boolean {
  return c.var.caller.role === 'org_admin' || teams.some((id) => within.has(id));
}

const pipelineQuery = z.object({ team_id: z.guid().optional(), next_cursor: z.string().optional() });
const pipelineDeletion = z.object({ team_id: repeated(z.guid()) });
const pipelinesBody = pipelineBody.extend({ team_ids: z.array(z.guid()).default([]) });
const pipelinesPath = '/v1/org/:org_id/team_etl_pipelines/:env/:region';

function presentPipeline({ teamId, settings }: Pipeline) {
  return {
    push_historical_data: false,
    provider_raw_data: false,
    cloud_pubsub: null,
    rabbitmq: null,
    svix: null,
    azure_amqp: null,
    event_type_prefixes: null,
    ...settings,
    team_id: teamId,
  };
}

/** The pipelines are settings only: the events of the sandbox go to webhooks, whatever is preferred here. */
function addPipelineRoutes(routes: Hono<ManagementEnv>, { service, plan }: ManagementParts): void {
  const { world, save } = service;
  const { management } = world.state;
  routes.use(pipelinesPath, requireFeature(plan, 'etlPipelines'));

  routes.get(pipelinesPath, (c) => {
    const here = isAt(c, world, readPlace(c));
    const { team_id, next_cursor } = readQuery(c, pipelineQuery);
    const found = management.pipelines
      .filter(here)
      .filter(({ teamId }) => team_id === undefined || teamId === team_id.toLowerCase());
    const { rows, next } = rowsFrom(found, readCursor(next_cursor), pageRows);
    return c.json({ pipelines: rows.map(presentPipeline), next_cursor: next });
  });

  routes.post(pipelinesPath, async (c) => {
    const place = readPlace(c);
    const { team_ids, ...body } = await readBody(c, pipelinesBody);
    const teams = team_ids.map((teamId) => requireTeamAt(c, world, { ...place, teamId }));
    if (teams.length === 0) throw refuse(400, 'team_ids must name a team.');
    const { environment } = place;
    const changed = teams.map(({ id: teamId }): Pipeline => {
      const before = management.pipelines.find(
        (row) => row.teamId === teamId && row.environment === environment,
      );
      const settings = patchPipeline(before?.settings ?? null, body);
      const fault = settings ? findPipelineFault(settings) : 'A new pipeline needs preferences.';
      if (!settings || fault !== null) throw refuse(400, fault ?? '');
      return { teamId, environment, settings };
    });
    const isChanged = (row: Pipeline) =>
      row.environment === environment && changed.some(({ teamId }) => teamId === row.teamId);
    management.pipelines = [...management.pipelines.filter((row) => !isChanged(row)), ...changed];
    await save();
    return c.json(changed.map(presentPipeline));
  });

  routes.delete(pipelinesPath, async (c) => {
    const here = isAt(c, world, readPlace(c));
    const wanted = readQuery(c, pipelineDeletion).team_id?.map((id) => id.toLowerCase()) ?? [];
    const removed = management.pipelines.filter((row) => here(row) && wanted.includes(row.teamId));
    management.pipelines = management.pipelines.filter((row) => !removed.includes(row));
    await save();
    return c.json(removed.map(presentPipeline));
  });
}

/** Credentials with providers, what users grant them, lab accounts of the org, and ETL pipelines. */
export function integrationRoutes(parts: ManagementParts): Hono<ManagementEnv> {
  const routes = new Hono<ManagementEnv>();
  addCredentialRoutes(routes, parts);
  addScopeRoutes(routes, parts);
  addAccountRoutes(routes, parts);
  addPipelineRoutes(routes, parts);
  return routes;
}
