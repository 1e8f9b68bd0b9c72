import type { Owner } from '../../auth/rights.ts';
import { emptyPage, type Page, type Service } from '../../service/service.ts';
import { day, id, link, list, optional, pageReader, record, required, text, timestamp } from '../parse.ts';

/** One of the team's users, as the specification's User describes it. */
export type User = ReturnType<typeof readUser>;
export type ConnectedSource = User['connectedSources'][number];

const readSource = optional(
  record((raw) => ({ name: text(raw.name), slug: text(raw.slug), logo: link(raw.logo) })),
);

const readSources = list(
  record((raw) => ({
    createdAt: timestamp(raw.created_on),
    source: readSource(raw.source) ?? readSource(raw.provider),
  })),
);

const readBirthDate = optional(
  record((raw) => ({
    value: day(raw.value),
    sourceSlug: text(raw.source_slug),
    updatedAt: timestamp(raw.updated_at),
  })),
);

const readTimeZone = optional(
  record((raw) => ({
    id: text(raw.id),
    sourceSlug: text(raw.source_slug),
    updatedAt: timestamp(raw.updated_at),
  })),
);

/** A user as the service answers it, alone or in a list. */
export const readUser = record((raw) => ({
  id: required(raw, 'user_id', id),
  teamId: id(raw.team_id),
  clientUserId: text(raw.client_user_id),
  createdAt: timestamp(raw.created_on),
  connectedSources: readSources(raw.connected_sources),
  fallbackBirthDate: readBirthDate(raw.fallback_birth_date),
  fallbackTimeZone: readTimeZone(raw.fallback_time_zone),
  ingestionStart: day(raw.ingestion_start),
  ingestionEnd: day(raw.ingestion_end),
}));

const readUserPage = pageReader('users', readUser);
const ownerOf = (user: User): Owner => ({ userId: user.id, teamId: user.teamId });
/** For a token that is limited to some orders its user is who they are for, and nothing more (auth/rights.ts). */
function toVisible({ rights }: Service, user: User | null): User | null {
  if (user === null || rights.orderIds === null) return user;
  const hidden = {
    fallbackTimeZone: null,
    ingestionStart: null,
    ingestionEnd: null,
  };
  return { ...user, ...hidden, connectedSources: [] };
}

/**
 * A stretch of the team's users, oldest first (`GET /v2/user/`, in the public service `/v2/user`; offset and limit). For a caller that is one
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
    otherPath: '/v2/user',
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
