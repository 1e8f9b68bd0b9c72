import type { Owner, Scope } from '../auth/rights.ts';

/** One call to the service. Knows paths and JSON, but no concept of the service. */
export interface UpstreamCall {
  /** A short name for logs and metrics, such as `order.list`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The same resource under another path, tried when `path` is not found or redirects. For reads only. */
  readonly otherPath?: string;
  /** Lists become repeated keys; null and undefined are left out. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** Whether each answer is good for one caller only, such as single-use keys: then no two reads share one. */
  readonly isSingleUse?: boolean;
  /** Statuses of refusals whose JSON says something that the caller branches on: given back as Refusal, not thrown. */
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

/** One page of a list, as any of the service's paging styles gives it. */
export interface Page<Row> {
  /** In the service's order. Null is a row that is unreadable or not the caller's, so that the other rows keep their places. */
  readonly rows: readonly (Row | null)[];
  readonly total: number | null;
  readonly pages: number | null;
  readonly nextCursor: string | null;
  /** The place of the first row in the whole list, if the answer has it. */
  readonly from: number | null;
  /** Whether rows came that lie beyond the bound that was asked for: the service knows no such bound. */
  readonly ignoresBound?: boolean;
  /** Whether it was read before this operation began: it may be shown, and nobody may act on it. */
  readonly isEarlier?: boolean;
}

/** What ends the caching of an answer, besides its TTL. */
export type CachedUntil =
  /** Nothing: no event reports the changes of a catalogue. The same answer for everybody. */
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
  /** Until when the answer may be cached for resolvers that only show it (`forShowing`); without it, it is not cached. */
  readonly cachedUntil?: CachedUntil;
}

/** A read of one thing. `owner` is required: what is nobody's says so with `'anyone'`. */
export interface ReadOne<T> extends Cacheable {
  /** An answer that several share is read once where they name the same reader. */
  readonly reader: (json: unknown) => T;
  readonly owner: 'anyone' | ((thing: T) => Owner);
  /** Whose thing is asked for, when that is known beforehand: another's is never asked for. */
  readonly about?: Owner;
}

/** A read of one page of a list; rows that are not the caller's are left out. */
export interface ReadPage<Row> extends Cacheable {
  readonly reader: (json: unknown) => Page<Row>;
  /** What this request makes of the page that was read: unlike the reader, it may know the request. */
  readonly refine?: (page: Page<Row>) => Page<Row>;
  readonly owner: 'anyone' | ((row: Row) => Owner);
  readonly about?: Owner;
}

/** A write about somebody's things. `owner` is required as for reads: an answer may be of somebody else. */
export interface Write<T> extends Guarded {
  readonly reader: (json: unknown) => T;
  readonly owner: 'anyone' | ((thing: T) => Owner);
  readonly about: Owner;
}
