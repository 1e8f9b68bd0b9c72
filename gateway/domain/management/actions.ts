import { GatewayError } from '../../errors.ts';
import { readUuid, readUuids, readWord } from '../../graph/arguments.ts';
import { type GraphContext, type LoaderKind, loadEach } from '../../graph/context.ts';
import { afterWrite } from '../settle.ts';
import type { Place, TeamPlace } from './rest.ts';
import { listScopeRequirements, type ScopeRequirements, setScopeRequirements } from './rest-delivery.ts';
import { getTeam, type Team } from './rest-teams.ts';
import type { NamedWebhook } from './rest-webhooks.ts';

/** A team as an input names it. */
export interface TeamName {
  readonly orgId?: string | null | undefined;
  readonly teamId: string;
}

/** One environment of a team as an input names it. */
export interface PlaceName extends TeamName {
  readonly environment: string;
}

/** The organization that is named, else that of the configuration. @throws GatewayError BAD_USER_INPUT for none */
export function readOrgId({ orgId }: GraphContext, given: string | null | undefined): string {
  if (given !== null && given !== undefined) return readUuid('orgId', given);
  if (orgId !== null) return orgId;
  throw fault(['orgId'], 'missing', 'It must be given: SERVICE_ORG_ID is not set.');
}

/** A fault of an input that the gateway finds before any call. */
function fault(location: readonly string[], kind: 'missing' | 'conflict', message: string): GatewayError {
  return new GatewayError('BAD_USER_INPUT', `${location.join('.')}: ${message}`, {
    issues: [{ location, message, kind }],
  });
}

/** @throws GatewayError BAD_USER_INPUT for one without the other: the service takes them as one part */
export function requireBoth(preferred: unknown, enabled: unknown): void {
  if (preferred && !enabled) throw fault(['enabled'], 'missing', 'It must be given with preferred.');
  if (enabled && !preferred) throw fault(['preferred'], 'missing', 'It must be given with enabled.');
}

/** @throws GatewayError BAD_USER_INPUT for a name that is there twice, in any spelling: the service has each once */
export function requireDifferentNames(headers: readonly { readonly name: string }[]): void {
  const names = headers.map(({ name }) => name.toLowerCase());
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice !== -1) throw fault(['headers', String(twice), 'name'], 'conflict', 'It is there twice.');
}

const teams: LoaderKind<{ readonly orgId: string; readonly teamId: string }, Team | null> = {
  batch: (service, keys) => loadEach(keys, (key) => getTeam(service, key)),
  keyOf: ({ orgId, teamId }) => `${orgId} ${teamId}`,
};

/** The team with its settings; null when it does not exist or the gateway's key does not reach it. */
export function findTeam(context: GraphContext, { orgId, teamId }: TeamName): Promise<Team | null> {
  const key = { orgId: readOrgId(context, orgId), teamId: readUuid('teamId', teamId) };
  return context.loaders.of(teams).load(key);
}

/** The place of an environment of a team: the service knows the region of the team. */
export function placeIn({ orgId, teamId, region }: TeamPlace, environment: string): Place {
  return { orgId, teamId: teamId.toLowerCase(), region, environment: environment.toLowerCase() };
}

/** Runs in the environment of the named team; null when there is no such team. */
export async function inPlace<T>(
  context: GraphContext,
  name: PlaceName,
  run: (at: Place) => Promise<T | null>,
): Promise<T | null> {
  const team = await findTeam(context, name);
  return team === null ? null : await run(placeIn(team, name.environment));
}

/** @throws GatewayError BAD_USER_INPUT for none, more than 100, and malformed ones */
export function readIdsToDelete(ids: readonly string[]): readonly string[] {
  const read = readUuids('ids', ids) ?? [];
  if (read.length > 0) return read;
  throw fault(['ids'], 'missing', 'It must have at least one id.');
}

/** The same for a named webhook. */
export async function withWebhook<T>(
  context: GraphContext,
  { id, ...name }: PlaceName & { readonly id: string },
  run: (named: NamedWebhook) => Promise<T | null>,
): Promise<T | null> {
  const webhookId = readWord('id', id);
  return await inPlace(context, name, (at) => run({ at, webhookId }));
}

/** Sets what a provider is asked for, and reads it again. Null when there is no such team. */
export async function changeScopeRequirements(
  context: GraphContext,
  { provider: given, userMustGrant, userMayGrant, ...name }: TeamName & ScopeRequirements,
) {
  const { service } = context;
  const provider = readWord('provider', given);
  const team = await findTeam(context, name);
  if (team === null) return null;
  const wanted = { provider, userMustGrant, userMayGrant };
  if ((await setScopeRequirements(service, team, wanted)) === null) return null;
  return { requirements: await afterWrite(() => listScopeRequirements(service, team, provider)) };
}
