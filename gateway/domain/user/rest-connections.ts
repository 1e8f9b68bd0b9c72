import type { Page } from '../../service/calls.ts';
import type { Service } from '../../service/service.ts';
import {
  entries,
  id,
  integer,
  link,
  optional,
  pageReader,
  record,
  required,
  requiredList,
  text,
  texts,
  timestamp,
} from '../parse.ts';

export type LinkedProvider = ReturnType<typeof readLinkedProvider>;
export type ConnectionFault = NonNullable<LinkedProvider['error']>;
export type UserHistoricalPulls = ReturnType<typeof readUserPulls>;
export type ProviderHistoricalPulls = UserHistoricalPulls['providers'][number];
export type HistoricalPull = ProviderHistoricalPulls['pulls'][number];

/** The availability of one resource of a connection. */
export interface ResourceAvailability extends ReturnType<typeof readAvailability> {
  readonly resource: string;
}
export type ScopeGrants = NonNullable<ResourceAvailability['scopeRequirements']>;
export type ScopeSet = ScopeGrants['userGranted'];

const readFault = optional(
  record((raw) => ({
    type: text(raw.error_type),
    message: text(raw.error_message),
    occurredAt: timestamp(raw.errored_at),
  })),
);

const readScopeSet = optional(
  record((raw) => ({ required: texts(raw.required), optional: texts(raw.optional) })),
);

const noScopes = { required: [], optional: [] } as const;

const readScopeGrants = optional(
  record((raw) => ({
    userGranted: readScopeSet(raw.user_granted) ?? noScopes,
    userDenied: readScopeSet(raw.user_denied) ?? noScopes,
  })),
);

const readAvailability = record((raw) => ({
  status: text(raw.status),
  scopeRequirements: readScopeGrants(raw.scope_requirements),
}));

const readAvailabilities = entries(readAvailability);

/** Reads the availability of a connection's resources; an empty list for anything but a map. */
export function readResources(json: unknown): readonly ResourceAvailability[] {
  return readAvailabilities(json).map(([resource, availability]) => ({ resource, ...availability }));
}

const readLinkedProvider = record((raw) => ({
  source: { name: text(raw.name), slug: text(raw.slug), logo: link(raw.logo) },
  createdAt: timestamp(raw.created_on),
  status: text(raw.status),
  externalUserId: text(raw.external_user_id),
  error: readFault(raw.error_details),
  resources: readResources(raw.resource_availability),
}));

const readProviderList = requiredList(readLinkedProvider);

/** An answer without the list itself is unreadable. */
const readProviders = record((raw) => required(raw, 'providers', readProviderList));

/** The user's connected providers and how they are, or null (`GET /v2/user/providers/{user_id}`). */
export async function listConnections(
  service: Service,
  userId: string,
): Promise<readonly LinkedProvider[] | null> {
  return await service.readOne({
    operation: 'user.connections',
    method: 'GET',
    path: `/v2/user/providers/${encodeURIComponent(userId)}`,
    reader: readProviders,
    cachedUntil: 'user-event',
    scope: 'read:profile',
    owner: () => ({ userId }),
    about: { userId },
  });
}

const readTimeline = optional(
  record((raw) => ({
    scheduledAt: timestamp(raw.scheduled_at),
    startedAt: timestamp(raw.started_at),
    endedAt: timestamp(raw.ended_at),
  })),
);

const noTimeline = { scheduledAt: null, startedAt: null, endedAt: null } as const;

const readPulls = entries(
  record((raw) => ({
    status: text(raw.status),
    rangeStart: timestamp(raw.range_start),
    rangeEnd: timestamp(raw.range_end),
    ...(readTimeline(raw.timeline) ?? noTimeline),
    daysWithData: integer(raw.days_with_data),
    error: text(raw.error_details),
  })),
);

const readProviderPulls = entries(
  record((raw) => ({
    pulls: readPulls(raw.pulled).map(([resource, pull]) => ({ resource, ...pull })),
    notPulled: texts(raw.not_pulled),
  })),
);

const readUserPulls = record((raw) => ({
  userId: required(raw, 'user_id', id),
  providers: readProviderPulls(raw.provider).map(([providerSlug, pulls]) => ({ providerSlug, ...pulls })),
}));

const readPullPage = pageReader('data', readUserPulls);

/** Whose backfills, and of which provider; null = all. */
interface HistoricalPullFilter {
  readonly userId: string | null;
  readonly providerSlug: string | null;
}

/**
 * Backfills by user (`GET /v2/introspect/historical_pull`). A page may have fewer users than requested, or none,
 * although further pages follow. A viewer gets only its own.
 */
export async function listHistoricalPulls(
  service: Service,
  filter: HistoricalPullFilter,
  request: { readonly cursor: string | null; readonly limit: number },
): Promise<Page<UserHistoricalPulls>> {
  const userId = filter.userId ?? service.rights.userId;
  return await service.readPage({
    operation: 'user.historical-pulls',
    method: 'GET',
    path: '/v2/introspect/historical_pull',
    query: {
      user_id: userId,
      provider: filter.providerSlug,
      user_limit: request.limit,
      next_cursor: request.cursor,
    },
    reader: readPullPage,
    scope: 'read:profile',
    owner: (row) => ({ userId: row.userId }),
    ...(userId === null ? {} : { about: { userId } }),
  });
}

/** How many pages are read to find the one requested user; pages before it may be empty. */
const maxPages = 5;

/** The backfills of one user; none where the service shows none. */
export async function getHistoricalPulls(
  service: Service,
  filter: { readonly userId: string; readonly providerSlug: string | null },
): Promise<readonly ProviderHistoricalPulls[]> {
  let cursor: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const { rows, nextCursor }: Page<UserHistoricalPulls> = await listHistoricalPulls(service, filter, {
      cursor,
      limit: 1,
    });
    const found = rows.find((row) => row?.userId.toLowerCase() === filter.userId.toLowerCase());
    if (found) return found.providers.filter((provider) => isAsked(provider, filter.providerSlug));
    if (nextCursor === null) return [];
    cursor = nextCursor;
  }
  return [];
}

/** The filter is sent to the service too. A service that ignores it returns more backfills, which are left out here. */
function isAsked({ providerSlug }: ProviderHistoricalPulls, asked: string | null): boolean {
  return asked === null || providerSlug === asked;
}
