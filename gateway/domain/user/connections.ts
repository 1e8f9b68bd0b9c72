import { z } from 'zod';
import type { Page, Service } from '../../upstream/service.ts';
import { entries, id, integer, link, list, pageReader, requiredList, text, timestamp } from '../reading.ts';

export type LinkedProvider = z.infer<typeof linkedProviderShape>;
export type ConnectionFault = NonNullable<LinkedProvider['error']>;
export type UserHistoricalPulls = z.infer<typeof userPullsShape>;
export type ProviderHistoricalPulls = UserHistoricalPulls['providers'][number];
export type HistoricalPull = ProviderHistoricalPulls['pulls'][number];

/** What can be had of one resource through a connection. */
export interface ResourceAvailability {
  readonly resource: string;
  readonly status: string | null;
}

const linkedProviderShape = z
  .object({
    name: text,
    slug: text,
    logo: link,
    created_on: timestamp,
    status: text,
    external_user_id: text,
    error_details: z
      .object({ error_type: text, error_message: text, errored_at: timestamp })
      .nullable()
      .catch(null),
    resource_availability: entries(z.object({ status: text })),
  })
  .transform((raw) => ({
    source: { name: raw.name, slug: raw.slug, logo: raw.logo },
    createdAt: raw.created_on,
    status: raw.status,
    externalUserId: raw.external_user_id,
    error: raw.error_details && {
      type: raw.error_details.error_type,
      message: raw.error_details.error_message,
      occurredAt: raw.error_details.errored_at,
    },
    resources: raw.resource_availability.map(
      ([resource, { status }]): ResourceAvailability => ({ resource, status }),
    ),
  }));

/** An answer without the list itself is unreadable. */
const connectionsShape = z.object({
  providers: requiredList(linkedProviderShape),
});

const readProviders = (json: unknown) => connectionsShape.parse(json).providers;

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
    keeping: 'until-news-of-user',
    scope: 'read:profile',
    owner: () => ({ userId }),
    about: { userId },
  });
}

const pullShape = z
  .object({
    status: text,
    range_start: timestamp,
    range_end: timestamp,
    timeline: z
      .object({ scheduled_at: timestamp, started_at: timestamp, ended_at: timestamp })
      .catch({ scheduled_at: null, started_at: null, ended_at: null }),
    days_with_data: integer,
    error_details: text,
  })
  .transform((raw) => ({
    status: raw.status,
    rangeStart: raw.range_start,
    rangeEnd: raw.range_end,
    scheduledAt: raw.timeline.scheduled_at,
    startedAt: raw.timeline.started_at,
    endedAt: raw.timeline.ended_at,
    daysWithData: raw.days_with_data,
    error: raw.error_details,
  }));

const providerPullsShape = z.object({ pulled: entries(pullShape), not_pulled: list(z.string()) });

const userPullsShape = z.object({ user_id: id, provider: entries(providerPullsShape) }).transform((raw) => ({
  userId: raw.user_id,
  providers: raw.provider.map(([providerSlug, { pulled, not_pulled: notPulled }]) => ({
    providerSlug,
    pulls: pulled.map(([resource, pull]) => ({ resource, ...pull })),
    notPulled,
  })),
}));

const readPullPage = pageReader('data', userPullsShape);

/** Whose backfills, and of which provider; null = all. */
export interface HistoricalPullFilter {
  readonly userId: string | null;
  readonly providerSlug: string | null;
}

/**
 * Backfills by user (`GET /v2/introspect/historical_pull`): a page may hold fewer users than asked for, or
 * none, and the list still go on. A caller that is one user sees its own.
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

/** Pages that may be empty before the one user who was asked for must have come. */
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

/** Asked of the service too; one that ignores the filter shows more than was asked for. */
function isAsked({ providerSlug }: ProviderHistoricalPulls, asked: string | null): boolean {
  return asked === null || providerSlug === asked;
}
