import { randomBytes } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { readBody, readCursor, readQuery, readUuid, rowsFrom } from '../http/validation.ts';
import { formatTimestamp } from '../world/clock.ts';
import {
  isAt,
  type ManagementEnv,
  type ManagementParts,
  nextId,
  pageRows,
  readIds,
  readPlace,
  requireOrgAdmin,
  requireTeam,
  requireTeamAt,
  requireTeamOfPath,
  takeOut,
} from './access.ts';
import {
  digestOf,
  type Environment,
  environments,
  type ManagementKey,
  type Region,
  type Team,
  type TeamApiKey,
} from './state.ts';

const roles = ['org_admin', 'team_admin'] as const;
const bindings = z.array(z.object({ team_id: z.guid() }));
const newKey = z
  .object({ label: z.string(), role: z.enum(roles), team_role_bindings: bindings.nullish() })
  .refine((key) => (key.role === 'team_admin') === Boolean(key.team_role_bindings?.length), {
    path: ['team_role_bindings'],
    message: 'a team admin has bindings, an org admin has none',
  });
const keyPatch = z.object({ label: z.string().nullish(), team_role_bindings: bindings.min(1).nullish() });
const keyQuery = z.object({
  team_id: z.guid().optional(),
  role: z.enum(roles).optional(),
  // Not in the public service's document, although the answer has a cursor.
  next_cursor: z.string().optional(),
});

function presentKey({ id, label, createdAt, role, teamIds }: ManagementKey) {
  return {
    id,
    label,
    created_at: formatTimestamp(createdAt),
    creator: { type: 'management_key' as const },
    role,
    team_role_bindings: teamIds?.map((team_id) => ({ team_id })) ?? null,
  };
}

function managementKeyRoutes({ service }: ManagementParts): Hono<ManagementEnv> {
  const { world, clock, save } = service;
  const { management } = world.state;
  const routes = new Hono<ManagementEnv>();

  routes.get('/v1/org/:org_id/management_key', (c) => {
    requireOrgAdmin(c);
    const { team_id, role, next_cursor } = readQuery(c, keyQuery);
    const keys = management.keys
      .filter((key) => role === undefined || key.role === role)
      .filter((key) => team_id === undefined || key.teamIds?.includes(team_id.toLowerCase()));
    const { rows, next } = rowsFrom(keys, readCursor(next_cursor), pageRows);
    return c.json({ data: rows.map(presentKey), next_cursor: next });
  });

  routes.post('/v1/org/:org_id/management_key', async (c) => {
    requireOrgAdmin(c);
    const { label, role, team_role_bindings } = await readBody(c, newKey);
    const teamIds = team_role_bindings?.map(({ team_id }) => requireTeam(c, world, team_id).id) ?? null;
    const value = `mg_${randomBytes(24).toString('base64url')}`;
    const made = { id: nextId(world), digest: digestOf(value), createdAt: clock.now() };
    const key: ManagementKey = { ...made, role, label, teamIds };
    management.keys.push(key);
    await save();
    return c.json({ ...presentKey(key), key: value });
  });

  routes.patch('/v1/org/:org_id/management_key/:key_id', async (c) => {
    requireOrgAdmin(c);
    const id = readUuid(c, 'key_id').toLowerCase();
    const { label, team_role_bindings } = await readBody(c, keyPatch);
    const key = management.keys.find((each) => each.id === id);
    if (!key) throw refuse(404, 'Management key not found');
    if (team_role_bindings && key.role === 'org_admin') throw refuse(400, 'An org admin has no bindings.');
    const teamIds = team_role_bindings?.map(({ team_id }) => requireTeam(c, world, team_id).id);
    key.label = label ?? key.label;
    key.teamIds = teamIds ?? key.teamIds;
    await save();
    return c.json(presentKey(key));
  });

  routes.delete('/v1/org/:org_id/management_key/:key_id', async (c) => {
    requireOrgAdmin(c);
    const id = readUuid(c, 'key_id').toLowerCase();
    const key = management.keys.find((each) => each.id === id);
    management.keys = management.keys.filter((each) => each !== key);
    await save();
    return c.json(key ? presentKey(key) : null);
  });

  return routes;
}

const teamKeyQuery = z.object({ team_id: z.guid().optional(), next_cursor: z.string().optional() });
const teamKeyBody = z.object({ label: z.string(), team_id: z.guid() });
function presentTeamKey({ id, label, value, teamId, createdAt }: TeamApiKey) {
  return { id, label, value, team_id: teamId, created_at: formatTimestamp(createdAt) };
}

/** The prefix says environment and region: `sk_` is the sandbox, `pk_` is production (public service). */
function newTeamKeyValue(environment: Environment, region: Region): string {
  return `${environment === 'sandbox' ? 'sk' : 'pk'}_${region}_${randomBytes(24).toString('base64url')}`;
}

function addTeamKeyRoutes(routes: Hono<ManagementEnv>, { service }: ManagementParts): void {
  const { world, clock, save } = service;
  const { management } = world.state;
  const path = '/v1/org/:org_id/team_api_keys/:env/:region';

  routes.get(path, (c) => {
    const here = isAt(c, world, readPlace(c));
    const { team_id, next_cursor } = readQuery(c, teamKeyQuery);
    const keys = management.teamApiKeys
      .filter(here)
      .filter((key) => team_id === undefined || key.teamId === team_id.toLowerCase());
    const { rows, next } = rowsFrom(keys, readCursor(next_cursor), pageRows);
    return c.json({ api_keys: rows.map(presentTeamKey), next_cursor: next });
  });

  routes.post(path, async (c) => {
    const { environment, region } = readPlace(c);
    const { label, team_id } = await readBody(c, teamKeyBody);
    const team = requireTeamAt(c, world, { environment, region, teamId: team_id });
    const value = newTeamKeyValue(environment, region);
    const made = { id: nextId(world), digest: digestOf(value), createdAt: clock.now() };
    const key: TeamApiKey = { ...made, label, value, teamId: team.id, environment };
    management.teamApiKeys.push(key);
    await save();
    return c.json(presentTeamKey(key));
  });

  routes.delete(path, async (c) => {
    const here = isAt(c, world, readPlace(c));
    const { left, answer } = takeOut(management.teamApiKeys, readIds(c, 'api_key_id'), here);
    management.teamApiKeys = left;
    await save();
    return c.json(answer);
  });
}

const tokenSeconds = 600;
/** The public service limits the minting of tokens; its number is not known. */
const tokensPerMinute = 10;

/** A Bearer token for the team API, or null where too many were made within a minute. */
function mintToken(
  { world, clock }: ManagementParts['service'],
  team: Team,
  environment: Environment,
): string | null {
  const { management } = world.state;
  const now = clock.now();
  management.accessTokens = management.accessTokens.filter(({ expiresAt }) => expiresAt > now);
  const recent = management.accessTokens.filter(
    ({ teamId, issuedAt }) => teamId === team.id && issuedAt > now - 60_000,
  );
  if (recent.length >= tokensPerMinute) return null;
  const token = `tat_${randomBytes(24).toString('base64url')}`;
  management.accessTokens.push({
    digest: digestOf(token),
    teamId: team.id,
    environment,
    issuedAt: now,
    expiresAt: now + tokenSeconds * 1000,
  });
  return token;
}

function addTokenRoutes(routes: Hono<ManagementEnv>, { service }: ManagementParts): void {
  const { world, save } = service;

  routes.post('/v1/org/:org_id/team/:team_id/create_api_access_token', async (c) => {
    const team = requireTeamOfPath(c, world);
    const { env } = await readBody(c, z.object({ env: z.enum(environments) }));
    const token = mintToken(service, team, env);
    if (token === null) return c.json({ detail: 'Too many requests' }, 429, { 'retry-after': '60' });
    await save();
    return c.json({ access_token: token, expires_in: tokenSeconds });
  });
}

/** Management keys, team API keys and team access tokens (public service: management API). */
export function keyRoutes(parts: ManagementParts): Hono<ManagementEnv> {
  const routes = managementKeyRoutes(parts);
  addTeamKeyRoutes(routes, parts);
  addTokenRoutes(routes, parts);
  return routes;
}
