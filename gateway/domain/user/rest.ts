import { z } from 'zod';
import { emptyPage, type Page, type Service, type Subject } from '../../upstream/service.ts';
import { day, id, link, list, optionalId, pageReader, text, timestamp } from '../reading.ts';

/** One of the team's users, as the specification's User describes it. */
export type User = z.infer<typeof userShape>;
export type ConnectedSource = User['connectedSources'][number];

const sourceShape = z.object({ name: text, slug: text, logo: link }).nullable().catch(null);

const connectedSourceShape = z
  .object({ created_on: timestamp, source: sourceShape, provider: sourceShape })
  .transform((raw) => ({ createdAt: raw.created_on, source: raw.source ?? raw.provider }));

/** A user as the service answers it, alone or in a list. */
export const userShape = z
  .object({
    user_id: id,
    team_id: optionalId,
    client_user_id: text,
    created_on: timestamp,
    connected_sources: list(connectedSourceShape),
    fallback_birth_date: z
      .object({ value: day, source_slug: text, updated_at: timestamp })
      .nullable()
      .catch(null),
    fallback_time_zone: z
      .object({ id: text, source_slug: text, updated_at: timestamp })
      .nullable()
      .catch(null),
    ingestion_start: day,
    ingestion_end: day,
  })
  .transform((raw) => ({
    id: raw.user_id,
    teamId: raw.team_id,
    clientUserId: raw.client_user_id,
    createdAt: raw.created_on,
    connectedSources: raw.connected_sources,
    fallbackBirthDate: raw.fallback_birth_date && {
      value: raw.fallback_birth_date.value,
      sourceSlug: raw.fallback_birth_date.source_slug,
      updatedAt: raw.fallback_birth_date.updated_at,
    },
    fallbackTimeZone: raw.fallback_time_zone && {
      id: raw.fallback_time_zone.id,
      sourceSlug: raw.fallback_time_zone.source_slug,
      updatedAt: raw.fallback_time_zone.updated_at,
    },
    ingestionStart: raw.ingestion_start,
    ingestionEnd: raw.ingestion_end,
  }));

const readUserPage = pageReader('users', userShape);
const readUser = (json: unknown) => userShape.parse(json);
const ownerOf = (user: User): Subject => ({ userId: user.id, teamId: user.teamId });
/** For a token that is limited to some orders its user is who they are for, and nothing more (caller/access.ts). */
function toVisible({ rights }: Service, user: User | null): User | null {
  if (user === null || rights.orderIds === null) return user;
  const hidden = {
    fallbackBirthDate: null,
    fallbackTimeZone: null,
    ingestionStart: null,
    ingestionEnd: null,
  };
  return { ...user, ...hidden, connectedSources: [] };
}

/**
 * A stretch of the team's users, oldest first (`GET /v2/user/`, offset and limit). For a caller that is one
 * user the list is that user alone.
 */
export async function listUsers(
  service: Service,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<Page<User>> {
  const self = service.rights.userId;
  if (self !== null) {
    const user = await getUser(service, self);
    const own = user === null ? [] : [user];
    return { ...emptyPage, rows: own.slice(offset, offset + limit), total: own.length, pages: null };
  }
  return await service.readPage({
    operation: 'user.list',
    method: 'GET',
    path: '/v2/user/',
    query: { offset, limit },
    reader: readUserPage,
    keeping: 'until-news-of-user',
    scope: 'read:orders',
    owner: ownerOf,
  });
}

/** One user, or null (`GET /v2/user/{user_id}`). */
export async function getUser(service: Service, userId: string): Promise<User | null> {
  const user = await service.readOne({
    operation: 'user.get',
    method: 'GET',
    path: `/v2/user/${encodeURIComponent(userId)}`,
    reader: readUser,
    keeping: 'until-news-of-user',
    scope: 'read:orders',
    owner: ownerOf,
    about: { userId },
  });
  return toVisible(service, user);
}

/** The user with the team's own reference, or null (`GET /v2/user/resolve/{client_user_id}`). */
export async function getUserByClientUserId(service: Service, clientUserId: string): Promise<User | null> {
  // As a segment of a path these would lead elsewhere; half a character cannot stand in one, nor in any reference.
  if (['', '.', '..'].includes(clientUserId) || !clientUserId.isWellFormed()) return null;
  const user = await service.readOne({
    operation: 'user.resolve',
    method: 'GET',
    path: `/v2/user/resolve/${encodeURIComponent(clientUserId)}`,
    reader: readUser,
    keeping: 'until-news-of-user',
    scope: 'read:orders',
    owner: ownerOf,
  });
  return toVisible(service, user);
}
