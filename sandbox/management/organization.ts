import { Hono } from 'hono';
import { z } from 'zod';
import { Refusal, refuse } from '../http/refusal.ts';
import { newSettings, patchSettings, requireLogo, settingsPatch } from '../http/team-settings.ts';
import { includesText, readBody, readCursor, readQuery, repeated, rowsFrom } from '../http/validation.ts';
import { formatTimestamp } from '../world/clock.ts';
import type { World } from '../world/world.ts';
import {
  isWithinReach,
  type ManagementEnv,
  type ManagementParts,
  nextId,
  pageRows,
  requireOrgAdmin,
  requireTeamOfPath,
} from './access.ts';
import {
  type Environment,
  environments,
  type ManagementState,
  regions,
  type Team,
  type TeamSettings,
} from './state.ts';

const name = z.string().regex(/^[A-Za-zÀ-ÖØ-öø-ÿ0-9(),/:'|&_\- ’]{0,80}$/);
const integrationTeamId = z.string().max(256);
const orgBody = z.strictObject({ name });

const newTeam = z.strictObject({
  id: z.guid().nullish(),
  name,
  region: z.enum(regions),
  integration_team_id: integrationTeamId.nullish(),
  ...newSettings,
});

const teamPatch = z.strictObject({
  name: name.nullish(),
  integration_team_id: integrationTeamId.nullish(),
  sandbox: settingsPatch.nullish(),
  production: settingsPatch.nullish(),
});

const teamQuery = z.object({
  team_id: z.guid().optional(),
  region: repeated(z.enum(regions)),
  search_query: name.optional(),
  next_cursor: z.string().optional(),
});

function presentListed(team: Team) {
  return {
    id: team.id,
    name: team.name,
    created_on: formatTimestamp(team.createdAt),
    region: team.region,
    integration_team_id: team.integrationTeamId,
  };
}

function presentTeam(team: Team, shown: readonly Environment[] = environments) {
  return {
    ...presentListed(team),
    environments,
    sandbox: shown.includes('sandbox') ? team.settings.sandbox : null,
    production: shown.includes('production') ? team.settings.production : null,
  };
}

/** @throws Refusal 409 that names the team in question, without `detail` (public service) */
function refuseConflict(
  teams: readonly Team[],
  wanted: Partial<Pick<Team, 'id' | 'integrationTeamId'>>,
): void {
  const taken = teams.find(
    (team) =>
      team.id === wanted.id ||
      (team.integrationTeamId !== null && team.integrationTeamId === wanted.integrationTeamId),
  );
  if (taken) throw new Refusal(409, { team_id: taken.id });
}

function createTeam({ world, clock }: ManagementParts['service'], body: z.output<typeof newTeam>): Team {
  const { teams } = world.state.management;
  const { id, name: named, region, integration_team_id, ...given } = body;
  const settings: TeamSettings = {
    ...given,
    partial_webhooks_enabled: given.partial_webhooks_enabled ?? false,
    minor_ordering_enabled: given.minor_ordering_enabled ?? false,
  };
  requireLogo(settings, []);
  const wanted = id?.toLowerCase();
  refuseConflict(teams, {
    ...(wanted === undefined ? {} : { id: wanted }),
    integrationTeamId: integration_team_id ?? null,
  });
  const team: Team = {
    id: wanted ?? nextId(world),
    createdAt: clock.now(),
    region,
    name: named,
    integrationTeamId: integration_team_id ?? null,
    settings: { production: settings, sandbox: settings },
  };
  teams.push(team);
  return team;
}

function patchTeam(teams: readonly Team[], team: Team, patch: z.output<typeof teamPatch>): void {
  const { name: named, integration_team_id } = patch;
  const others = teams.filter((each) => each !== team);
  if (integration_team_id) refuseConflict(others, { integrationTeamId: integration_team_id });
  const patched = environments.map((environment) => {
    const settings = patchSettings(team.settings[environment], patch[environment] ?? {});
    if (patch[environment]) requireLogo(settings, [environment]);
    return [environment, settings] as const;
  });
  for (const [environment, settings] of patched) team.settings[environment] = settings;
  team.name = named ?? team.name;
  if (integration_team_id !== undefined) team.integrationTeamId = integration_team_id;
}

/** Removes the team and everything that belongs to it. */
function deleteTeam(management: ManagementState, { id }: Team): void {
  const isOther = ({ teamId }: { readonly teamId: string }) => teamId !== id;
  management.teams = management.teams.filter((team) => team.id !== id);
  management.teamApiKeys = management.teamApiKeys.filter(isOther);
  management.accessTokens = management.accessTokens.filter(isOther);
  management.credentials = management.credentials.filter(isOther);
  management.scopes = management.scopes.filter(isOther);
  management.pipelines = management.pipelines.filter(isOther);
  // In place: the sender reads this very list.
  management.webhooks.splice(0, Number.POSITIVE_INFINITY, ...management.webhooks.filter(isOther));
}

function addTeamReads(routes: Hono<ManagementEnv>, world: World): void {
  const { management } = world.state;

  routes.get('/v1/org/:org_id/team', (c) => {
    const { team_id, region, search_query = '', next_cursor } = readQuery(c, teamQuery);
    const teams = management.teams
      .filter(({ id }) => isWithinReach(c.var.caller, id))
      .filter(({ id }) => team_id === undefined || id === team_id.toLowerCase())
      .filter((team) => region === undefined || region.includes(team.region))
      .filter((team) => includesText(`${team.name} ${team.integrationTeamId ?? ''}`, search_query));
    const { rows, next } = rowsFrom(teams, readCursor(next_cursor), pageRows);
    return c.json({ teams: rows.map(presentListed), next_cursor: next });
  });

  routes.get('/v1/org/:org_id/team/:team_id', (c) => {
    const { include_environment } = readQuery(
      c,
      z.object({ include_environment: repeated(z.enum(environments)) }),
    );
    return c.json(presentTeam(requireTeamOfPath(c, world), include_environment ?? []));
  });

  routes.post('/v1/org/:org_id/resolve_team', async (c) => {
    const { integration_team_id } = await readBody(c, z.object({ integration_team_id: z.string() }));
    const team = management.teams.find((each) => each.integrationTeamId === integration_team_id);
    if (!team || !isWithinReach(c.var.caller, team.id)) throw refuse(404, 'Team not found');
    return c.json(presentTeam(team));
  });
}

function addTeamWrites(routes: Hono<ManagementEnv>, { service }: ManagementParts): void {
  const { world, save } = service;
  const { management } = world.state;

  routes.post('/v1/org/:org_id/team', async (c) => {
    requireOrgAdmin(c);
    const team = createTeam(service, await readBody(c, newTeam));
    await save();
    return c.json(presentTeam(team));
  });

  routes.patch('/v1/org/:org_id/team/:team_id', async (c) => {
    const team = requireTeamOfPath(c, world);
    patchTeam(management.teams, team, await readBody(c, teamPatch));
    await save();
    return c.json(presentTeam(team));
  });

  routes.delete('/v1/org/:org_id/team/:team_id', async (c) => {
    const team = requireTeamOfPath(c, world);
    requireOrgAdmin(c);
    deleteTeam(management, team);
    await save();
    return c.json({ success: true });
  });
}

/** The org and its teams (public service: management API). */
export function organizationRoutes(parts: ManagementParts): Hono<ManagementEnv> {
  const { world, save } = parts.service;
  const { org } = world.state.management;
  const present = () => ({ id: org.id, name: org.name, expires_at: null });
  const routes = new Hono<ManagementEnv>();

  routes.get('/v1/org/:org_id', (c) => c.json(present()));

  routes.patch('/v1/org/:org_id', async (c) => {
    requireOrgAdmin(c);
    org.name = (await readBody(c, orgBody)).name;
    await save();
    return c.json(present());
  });

  addTeamReads(routes, world);
  addTeamWrites(routes, parts);
  return routes;
}
