import type { Owner } from '../../auth/rights.ts';
import { GatewayError } from '../../errors.ts';
import type { Page } from '../../service/calls.ts';
import { Refusal } from '../../service/failure.ts';
import { emptyPage, type Service } from '../../service/service.ts';
import {
  day,
  id,
  link,
  list,
  optional,
  pageReader,
  readDone,
  record,
  required,
  text,
  timestamp,
  where,
} from '../parse.ts';
import { toRequestBody } from '../request-body.ts';

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
const readUser = record((raw) => ({
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

/** A token that is limited to some orders sees whose orders they are and nothing more of its user (auth/rights.ts). */
function toVisible({ rights }: Service, user: User | null): User | null {
  if (user === null || rights.orderIds === null) return user;
  return {
    ...user,
    createdAt: null,
    fallbackTimeZone: null,
    ingestionStart: null,
    ingestionEnd: null,
    connectedSources: [],
  };
}

/**
 * A page of the team's users, oldest first (`GET /v2/user/`, in the public service `/v2/user`; offset and limit). A viewer's
 * list has only its own user.
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
    cachedUntil: 'user-event',
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
    cachedUntil: 'user-event',
    scope: 'read:orders',
    owner: ownerOf,
    about: { userId },
  });
  return toVisible(service, user);
}

/** The user with the team's own reference, or null (`GET /v2/user/resolve/{client_user_id}`). */
export async function getUserByClientUserId(service: Service, clientUserId: string): Promise<User | null> {
  // These texts would lead to another path. An unpaired surrogate can be neither in a path nor in any reference.
  if (['', '.', '..'].includes(clientUserId) || !clientUserId.isWellFormed()) return null;
  const user = await service.readOne({
    operation: 'user.resolve',
    method: 'GET',
    path: `/v2/user/resolve/${encodeURIComponent(clientUserId)}`,
    reader: readUser,
    cachedUntil: 'user-event',
    scope: 'read:orders',
    owner: ownerOf,
  });
  return toVisible(service, user);
}

/** The fields of a user that the team sets. In a change, undefined = leave as it is and null = clear. */
export interface UserProfile {
  readonly clientUserId?: string | null | undefined;
  readonly fallbackTimeZone?: string | null | undefined;
  /** `YYYY-MM-DD`, as are the bounds. */
  readonly fallbackBirthDate?: string | null | undefined;
  readonly ingestionStart?: string | null | undefined;
  readonly ingestionEnd?: string | null | undefined;
}

/** The user whom a `client_user_id` already names. */
export interface Taken {
  readonly kind: 'taken';
  readonly userId: string;
  readonly createdAt: Date | null;
}

/** A user by the service's id or by the team's own reference. */
export type UserName =
  | { readonly id: string; readonly clientUserId: null }
  | { readonly id: null; readonly clientUserId: string };

const readTaken = record(
  (raw): Taken => ({
    kind: 'taken',
    userId: required(raw, 'user_id', id),
    createdAt: timestamp(raw.created_on),
  }),
);

const readBareConflict = optional(readTaken);
const readWrappedConflict = optional(record((raw) => required(raw, 'detail', readTaken)));

/** The specification shows the two by themselves, the public service has them within `detail`. */
function readConflict(json: unknown): Taken | null {
  return readBareConflict(json) ?? readWrappedConflict(json);
}

/**
 * Makes a user (`POST /v2/user`), or finds who has the reference already: the service's 400 names them
 * (specification, Errors).
 * @throws GatewayError UPSTREAM_REJECTED for every other refusal
 */
export async function createUser(
  service: Service,
  profile: UserProfile & { readonly clientUserId: string },
): Promise<Creation> {
  const answer = await service.write({
    operation: 'user.create',
    method: 'POST',
    path: '/v2/user',
    body: toRequestBody(profile, { sendsNull: true }),
    readsRefusals: [400],
    reader: (answer) => readCreation(answer, profile.clientUserId),
    owner: (creation) => ({ userId: creation.kind === 'created' ? creation.user.id : null }),
    scope: 'write:profile',
    about: { userId: null },
  });
  if (answer !== null) return answer;
  throw new GatewayError('UPSTREAM_REJECTED', 'The service refused the request.', { status: 404 });
}

type Creation = { readonly kind: 'created'; readonly user: User } | Taken;

function readCreation(answer: unknown, clientUserId: string): Creation {
  if (!(answer instanceof Refusal)) return { kind: 'created', user: readCreated(answer, clientUserId) };
  const conflict = readConflict(answer.json);
  if (conflict !== null) return conflict;
  throw answer.error;
}

/** The new user; one with another reference is not the one who was asked for. */
function readCreated(answer: unknown, clientUserId: string): User {
  const isAskedFor = ({ clientUserId: sent }: User) => sent === null || sent.trim() === clientUserId.trim();
  return where(readUser, isAskedFor)(answer);
}

const answeredWithoutUser = { reader: readDone, owner: 'anyone', scope: 'write:profile' } as const;

/** Changes the given fields (`PATCH /v2/user/{user_id}`, answered without a body); null when there is none. */
export function updateUser(service: Service, userId: string, profile: UserProfile): Promise<true | null> {
  return service.write({
    ...answeredWithoutUser,
    operation: 'user.update',
    method: 'PATCH',
    path: `/v2/user/${encodeURIComponent(userId)}`,
    body: toRequestBody(profile, { sendsNull: true }),
    about: { userId },
  });
}

/** Hides the user at once; erased after seven days (`DELETE /v2/user/{user_id}`). Null when there is none. */
export function deleteUser(service: Service, userId: string): Promise<true | null> {
  return service.write({
    ...answeredWithoutUser,
    operation: 'user.delete',
    method: 'DELETE',
    path: `/v2/user/${encodeURIComponent(userId)}`,
    about: { userId },
  });
}

/** Brings a deleted user back, without connections (`POST /v2/user/undo_delete`); null when there is none. */
export function undoUserDeletion(service: Service, name: UserName): Promise<true | null> {
  return service.write({
    ...answeredWithoutUser,
    operation: 'user.undo-deletion',
    method: 'POST',
    path: '/v2/user/undo_delete',
    query: { user_id: name.id, client_user_id: name.clientUserId },
    about: { userId: name.id },
  });
}
