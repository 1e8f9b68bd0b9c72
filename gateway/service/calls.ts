import type { Owner, Scope } from '../auth/rights.ts';
import type { Invalidation } from '../cache/invalidations.ts';
import type { Entry, Shared } from '../cache/shared-cache.ts';
import type { OnUnreadable } from './unreadable.ts';

/** One call to the service. Knows paths and JSON, but no concept of the service. */
export interface UpstreamCall {
  /** A short name for logs and metrics, such as `order.list`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The same resource under another path, tried when `path` is not found or redirects. For reads only. */
  readonly otherPath?: string;
  /** Lists become repeated keys; null and undefined are left out. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** Whether each answer is for one caller only, such as single-use keys. Two reads never share such an answer. */
  readonly isSingleUse?: boolean;
  /** Statuses of refusals whose JSON the caller reads: the result is then a Refusal, and nothing is thrown. */
  readonly readsRefusals?: readonly number[];
  /** More request headers, such as the service's idempotency key. The key header cannot be set here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as multipart/form-data in place of `body`. */
  readonly form?: Form;
}

type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[];

/** The parts of a form, in order; names may repeat. */
export type Form = readonly FormPart[];

type FormPart =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly file: Blob; readonly fileName: string };

export interface ReadOptions<T> {
  /** Parses the answer. Callers share an answer only if they name the same reader. */
  readonly reader: (json: unknown) => T;
  /** The caller's rights as a key: answers are never shared between different keys. */
  readonly rights: string;
  /** Ends the wait when the client has left, with ABANDONED. */
  readonly signal?: AbortSignal | undefined;
  /** The answer's call must have begun after this time of the cache. Default: any answer may be used. */
  readonly since?: number | undefined;
  /** Whether events can invalidate the answer. A cached answer is then used only while events are received. */
  readonly followsEvents?: boolean;
  /** The tags under which the thing is cached; null = it is not cached. */
  readonly tags?: ((thing: T) => readonly string[] | null) | undefined;
  /** Called when no call of its own is needed. */
  readonly onShared?: ((how: Shared) => void) | undefined;
  /** Called with the entry of the cache that was used or made. */
  readonly onEntry?: ((entry: Entry<unknown>) => void) | undefined;
  /** Called for rows that the reader leaves out and for an answer that it refuses. */
  readonly onUnreadable?: OnUnreadable | undefined;
}

export interface WriteOptions {
  /**
   * The tags that the write may change. The answer is undefined before the write is sent, and when its outcome is
   * unknown.
   */
  readonly touches: (answer: { readonly json: unknown } | undefined) => Invalidation;
}

/** One page of a list, as any of the service's paging styles gives it. */
export interface Page<Row> {
  /**
   * In the service's order. A row that is unreadable or not the caller's is null, so that the places of the other rows
   * stay the same.
   */
  readonly rows: readonly (Row | null)[];
  readonly total: number | null;
  /** The total as it was sent. It may count rows of others, so it is for walking a list and never shown. */
  readonly totalSent?: number | null;
  readonly pages: number | null;
  readonly nextCursor: string | null;
  /** The place of the first row in the whole list, if the answer has it. */
  readonly from: number | null;
  /** When each row was created, null where that cannot be read. Lists read by time have it, also for rows that are null. */
  readonly times?: readonly (Date | null)[];
  /** Whether it was read before this operation began. It may be shown, but no decision may depend on it. */
  readonly isEarlier?: boolean;
}

/** The event that ends the caching of an answer before its TTL. */
export type CachedUntil =
  /** None: no event reports changes of a catalogue. Everybody gets the same answer. */
  | 'ttl'
  /** An event of one of its users, except new versions of their subjects. */
  | 'user-event'
  /** An event of one of its subjects (versioned things of users, such as orders) or of their users. */
  | 'subject-event';

/** A read of a file that belongs to somebody; it comes as a stream. */
export interface ReadFile extends Guarded {
  /** The file's media type; anything else is UPSTREAM_UNREADABLE. */
  readonly accept: string;
  readonly about: Owner;
}

export interface Guarded extends UpstreamCall {
  /** The scope that a viewer token needs for this call; null if the caller of this function has checked it. */
  readonly scope: Scope | null;
}

export interface Cacheable extends Guarded {
  /**
   * Until when the answer may be cached for resolvers that only show it (`forShowing`). Without this it is not cached.
   */
  readonly cachedUntil?: CachedUntil;
}

/** A read of one thing. `owner` is required: `'anyone'` for things without an owner. */
export interface ReadOne<T> extends Cacheable {
  /** Parses the answer. Callers share an answer only if they name the same reader. */
  readonly reader: (json: unknown) => T;
  readonly owner: 'anyone' | ((thing: T) => Owner);
  /** The owner of the thing, if known before the call. If the caller may not see that owner's data, no call is made. */
  readonly about?: Owner;
}

/** A read of one page of a list; rows that are not the caller's are left out. */
export interface ReadPage<Row> extends Cacheable {
  readonly reader: (json: unknown) => Page<Row>;
  /** Adapts the parsed page to this request. Unlike the reader, it may depend on the request. */
  readonly refine?: (page: Page<Row>) => Page<Row>;
  readonly owner: 'anyone' | ((row: Row) => Owner);
  readonly about?: Owner;
}

/** A write of somebody's things. `owner` is required as for reads, because the answer may be about somebody else. */
export interface Write<T> extends Guarded {
  readonly reader: (json: unknown) => T;
  readonly owner: 'anyone' | ((thing: T) => Owner);
  readonly about: Owner;
}
