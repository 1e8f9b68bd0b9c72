import type { Owner, Scope } from '../auth/rights.ts';
import type { Keeping } from './change.ts';
import type { UpstreamCall } from './client.ts';
import type { Page } from './service.ts';

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

export interface Keepable extends Guarded {
  /** How long the answer may be cached for resolvers that only show it (`forShowing`); by default it is not cached. */
  readonly keeping?: Keeping;
}

/** A read of one thing. `owner` is required: what is nobody's says so with `'anyone'`. */
export interface ReadOne<T> extends Keepable {
  /** An answer that several share is read once where they name the same reader. */
  readonly reader: (json: unknown) => T;
  readonly owner: 'anyone' | ((thing: T) => Owner);
  /** Whose thing is asked for, when that is known beforehand: another's is never asked for. */
  readonly about?: Owner;
}

/** A read of one page of a list; rows that are not the caller's are left out. */
export interface ReadPage<Row> extends Keepable {
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
