import type { Context, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { readUuid, validate } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import { seededUuid } from '../world/ids.ts';
import type { World } from '../world/world.ts';
import {
  type AccessToken,
  digestOf,
  type Environment,
  environments,
  homeEnvironment,
  type ManagementKey,
  type Region,
  regions,
  type Team,
  type TeamApiKey,
} from './state.ts';

/** Features that the org's plan may lack; a test turns them off. */
export interface Plan {
  management: boolean;
  customCredentials: boolean;
  etlPipelines: boolean;
}

/** A request to the management interface, with its key. */
export interface ManagementEnv extends SandboxEnv {
  readonly Variables: { readonly caller: ManagementKey };
}
export type ManagementContext = Context<ManagementEnv>;

/** The parts that the routes of the management interface use. */
export interface ManagementParts {
  readonly service: Service;
  readonly plan: Readonly<Plan>;
}

/** Refuses with 403 where the plan lacks the feature (the public service does not document the answer). */
export function requireFeature(plan: Readonly<Plan>, feature: keyof Plan): MiddlewareHandler<ManagementEnv> {
  return async (_, next) => {
    if (!plan[feature]) throw refuse(403, 'This feature is not included in your plan.');
    await next();
  };
}

/**
 * The management key in `X-Management-Key`, or in the deprecated `X-Service-Org-Key` (specification:
 * Authentication); a team API key is refused.
 */
export function requireManagementKey(world: World): MiddlewareHandler<ManagementEnv> {
  return async (c, next) => {
    const given = digestOf(c.req.header('x-management-key') ?? c.req.header('x-service-org-key') ?? '');
    const caller = world.state.management.keys.find(({ digest }) => digest === given);
    if (!caller) throw refuse(401, 'invalid token');
    c.set('caller', caller);
    await next();
  };
}

/** The org in the path must be the key's own. */
export function requireOwnOrg(world: World): MiddlewareHandler<ManagementEnv> {
  return async (c, next) => {
    const { org } = world.state.management;
    if (readUuid(c, 'org_id').toLowerCase() !== org.id) throw refuse(404, 'Organization not found');
    await next();
  };
}

/** @throws Refusal 403 for a key that is bound to teams */
export function requireOrgAdmin(c: ManagementContext): void {
  if (c.var.caller.role !== 'org_admin') throw refuse(403, 'This key may not do this.');
}

/** Whether the caller's key reaches the team. */
export function isWithinReach({ role, teamIds }: ManagementKey, teamId: string): boolean {
  return role === 'org_admin' || (teamIds ?? []).includes(teamId);
}

/** The team with this id. @throws Refusal 404, also for a team that the key does not reach */
export function requireTeam(c: ManagementContext, world: World, teamId: string): Team {
  const team = world.state.management.teams.find(({ id }) => id === teamId.toLowerCase());
  if (!team || !isWithinReach(c.var.caller, team.id)) throw refuse(404, 'Team not found');
  return team;
}

/** The team in the path. @throws Refusal 404, 422 */
export function requireTeamOfPath(c: ManagementContext, world: World): Team {
  return requireTeam(c, world, readUuid(c, 'team_id'));
}

/** The environment in the path: `{environment}` or `{env}`. @throws Refusal 422 */
export function readEnvironment(c: ManagementContext, name: 'environment' | 'env'): Environment {
  const read = validate(z.object({ [name]: z.enum(environments) }), { [name]: c.req.param(name) }, 'path');
  return read[name] ?? homeEnvironment;
}

/** Environment and region of a path that covers many teams. */
export interface Place {
  readonly environment: Environment;
  readonly region: Region;
}

const placePath = z.object({ env: z.enum(environments), region: z.enum(regions) });

/** The `{env}/{region}` of the path. @throws Refusal 422 */
export function readPlace(c: ManagementContext): Place {
  const { env, region } = validate(
    placePath,
    { env: c.req.param('env'), region: c.req.param('region') },
    'path',
  );
  return { environment: env, region };
}

/** The team of a body or query, which lies in the region of the path. @throws Refusal 404 */
export function requireTeamAt(c: ManagementContext, world: World, at: Place & { teamId: string }): Team {
  const team = requireTeam(c, world, at.teamId);
  if (team.region !== at.region) throw refuse(404, 'Team not found');
  return team;
}

/** The ids of the region's teams that the key reaches. */
export function teamIdsAt(c: ManagementContext, world: World, region: Region): ReadonlySet<string> {
  const teams = world.state.management.teams.filter((team) => team.region === region);
  return new Set(teams.map(({ id }) => id).filter((id) => isWithinReach(c.var.caller, id)));
}

/** Whether a thing belongs to the environment and region of the path, and to a team that the key reaches. */
export function isAt(c: ManagementContext, world: World, { environment, region }: Place) {
  const teamIds = teamIdsAt(c, world, region);
  return (thing: { readonly teamId: string; readonly environment: Environment }) =>
    thing.environment === environment && teamIds.has(thing.teamId);
}

/** The rows of a page where the caller cannot choose (public service: lists with `next_cursor` only). */
export const pageRows = 50;

/** The ids of a query that must name one or more. @throws Refusal 422 */
export function readIds(c: ManagementContext, name: string): readonly string[] {
  const query = { [name]: c.req.queries(name) };
  return validate(z.object({ [name]: z.array(z.guid()) }), query, 'query')[name] ?? [];
}

/** Removes the rows with these ids, and says which of them were here (public service: deletion of many). */
export function takeOut<Row extends { readonly id: string }>(
  rows: readonly Row[],
  wanted: readonly string[],
  here: (row: Row) => boolean,
) {
  const ids = new Set(wanted.map((id) => id.toLowerCase()));
  const success = rows.filter((row) => ids.has(row.id) && here(row)).map(({ id }) => id);
  return {
    left: rows.filter(({ id }) => !success.includes(id)),
    answer: { success, failure: [], not_found: [...ids].filter((id) => !success.includes(id)) },
  };
}

/** The id of the next thing that is made here. */
export function nextId({ state }: World): string {
  state.management.made += 1;
  return seededUuid(state.seed, 'management', state.management.made);
}

const bearer = 'bearer ';

function readBearer(authorization: string): string {
  return authorization.toLowerCase().startsWith(bearer) ? authorization.slice(bearer.length) : '';
}

/**
 * The team API key in `x-service-api-key` (specification: Authentication), or a team access token as Bearer
 * (public service). Keys of another team or environment are good keys, but there is no world behind them.
 * @throws Refusal 401, 403
 */
export function requireTeamCredential({ world, clock }: Service): MiddlewareHandler<SandboxEnv> {
  return async (c, next) => {
    const { teamApiKeys, accessTokens } = world.state.management;
    const key = c.req.header('x-service-api-key');
    const digest = digestOf(key ?? readBearer(c.req.header('authorization') ?? ''));
    const candidates: readonly (TeamApiKey | AccessToken)[] = key === undefined ? accessTokens : teamApiKeys;
    const found = candidates.find((each) => each.digest === digest);
    if (!found || ('expiresAt' in found && found.expiresAt <= clock.now()))
      throw refuse(401, 'invalid token');
    if (found.teamId !== world.teamId || found.environment !== homeEnvironment) {
      throw refuse(403, 'The sandbox plays one environment of one team.');
    }
    await next();
  };
}
