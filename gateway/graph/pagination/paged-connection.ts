import { z } from 'zod';
import type { Page } from '../../service/calls.ts';
import { type Connection, type ConnectionArguments, readFirst, toConnection, toEdges } from './connection.ts';
import type { ListCursors } from './cursors.ts';

/**
 * A connection over a list that the service pages by offset and limit. Its cursors are places: they are stable
 * where rows are added at the end.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function offsetConnection<Node>(
  args: ConnectionArguments,
  cursors: ListCursors,
  fetch: (range: { readonly offset: number; readonly limit: number }) => Promise<Page<Node>>,
): Promise<Connection<Node>> {
  const first = readFirst(args);
  const start = readIndex(args.after, cursors);
  const page = await fetch({ offset: start, limit: first });
  const skip = start - placeOf(page, { start, size: first });
  const rows = page.rows.slice(skip, skip + first);
  const end = start + rows.length;
  // A total that is smaller than the page cannot be that of the whole list.
  const totalCount = page.total !== null && page.total < end && rows.length > 0 ? null : page.total;
  const isEnd = totalCount === null ? page.rows.length < first : end >= totalCount;
  return toIndexed(cursors, start, {
    rows,
    // An empty page ends the list, even against its total: there is no cursor to continue from.
    hasNextPage: rows.length > 0 && (!isEnd || page.rows.length > skip + rows.length),
    totalCount,
  });
}

/**
 * A connection over a list that the service pages by page number and size (1..100). Its cursors are places: a
 * list that grows at its head is for `newestFirstConnection`.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function pagedConnection<Node>(
  args: ConnectionArguments,
  cursors: ListCursors,
  fetch: (range: PageRange) => Promise<Page<Node>>,
): Promise<Connection<Node>> {
  const first = readFirst(args);
  const start = readIndex(args.after, cursors);
  const { places, totalCount, hasMorePages } = await readPlaces(start, first, fetch);
  const rows: (Node | null)[] = [];
  for (let at = start; rows.length < first && places.has(at); at += 1) rows.push(places.get(at) ?? null);
  const hasMoreRows = places.has(start + rows.length);
  return toIndexed(cursors, start, {
    rows,
    hasNextPage: rows.length > 0 && (hasMoreRows || hasMorePages),
    totalCount,
  });
}

const indexShape = z.int().min(0).max(999_999_999);

/** Where in the whole list to read on. */
function readIndex(after: string | null | undefined, cursors: ListCursors): number {
  return after === null || after === undefined ? 0 : cursors.read(after, indexShape) + 1;
}

interface IndexedPage<Node> {
  readonly rows: readonly (Node | null)[];
  readonly hasNextPage: boolean;
  readonly totalCount: number | null;
}

/** A connection whose cursors are the places of its rows in the whole list. */
function toIndexed<Node>(
  cursors: ListCursors,
  start: number,
  { rows, ...page }: IndexedPage<Node>,
): Connection<Node> {
  const cursorAt = (index: number) => cursors.issue(start + index);
  return toConnection({
    ...page,
    edges: toEdges(rows, cursorAt),
    hasPreviousPage: start > 0,
    // The end of the rows read, even if the last one was left out: reading on must not come back here.
    issueEnd: rows.length === 0 ? null : () => cursorAt(rows.length - 1),
  });
}

/** The largest page that the service gives (specification, Limits). */
export const maxPageSize = 100;

/** A page of the service's page-number style. */
export interface PageRange {
  readonly page: number;
  readonly size: number;
}

interface PagePlan {
  readonly size: number;
  readonly firstPage: number;
  readonly lastPage: number;
}

interface ReadPlan extends PagePlan {
  /** One past the place of the last row read. */
  readonly readThrough: number;
}

/** The rows read of a list in numbered pages: at least those requested, if there are so many. */
export interface Reading<Node> {
  /** The rows by their places in the whole list. */
  readonly places: ReadonlyMap<number, Node | null>;
  readonly totalCount: number | null;
  /** Whether the list continues behind the rows read. */
  readonly hasMorePages: boolean;
  /** The times (ms) of the rows, by place; without those that `Page.times` does not have. */
  readonly times: ReadonlyMap<number, number>;
}

/**
 * Reads `count` rows (1 to 100) of a list in numbered pages from the place `start` on. Rows that no single
 * page covers are read as two neighbouring pages; nothing is requested just to look ahead.
 */
export async function readPlaces<Node>(
  start: number,
  count: number,
  fetch: (range: PageRange) => Promise<Page<Node>>,
): Promise<Reading<Node>> {
  const plan = planPages(start, count);
  const numbers = [...new Set([plan.firstPage, plan.lastPage])];
  const pages = await Promise.all(numbers.map((page) => fetch({ page, size: plan.size })));
  const places = new Map<number, Node | null>();
  const times = new Map<number, number>();
  for (const [index, page] of pages.entries()) {
    const asked = (plan.firstPage - 1 + index) * plan.size;
    const place = placeOf(page, { start: asked, size: plan.size });
    for (const [offset, row] of page.rows.entries()) {
      places.set(place + offset, row);
      const time = page.times?.[offset];
      if (time) times.set(place + offset, time.getTime());
    }
  }
  const readThrough = Math.max(0, ...[...places.keys()].map((place) => place + 1));
  const readPlan = { ...plan, readThrough };
  const totalCount = pages.some(hidesRows) ? null : countAll(pages.at(-1), readPlan);
  return {
    places,
    times,
    totalCount,
    hasMorePages: hasMorePages(pages.at(-1), readPlan, totalCount),
  };
}

/**
 * The place of a page's first row in the whole list. The service may not page at all (the specification shows no
 * parameters): then it names another place than requested, or sends more rows than requested: the whole list.
 */
function placeOf(page: Page<unknown>, asked: { readonly start: number; readonly size: number }): number {
  if (page.from !== null && page.from <= asked.start) return page.from;
  const isWholeList = page.rows.length > asked.size && page.rows.length >= (page.total ?? 0);
  return isWholeList ? 0 : asked.start;
}

/**
 * The pages that cover `[start, start + count)`: one page if a size up to 100 covers them with at most twice
 * the rows wanted, else two pages of size `count`.
 */
export function planPages(start: number, count: number): PagePlan {
  const largest = Math.min(maxPageSize, count * 2);
  for (let size = count; size <= largest; size += 1) {
    const firstPage = Math.floor(start / size) + 1;
    if (start + count <= firstPage * size) return { size, firstPage, lastPage: firstPage };
  }
  const firstPage = Math.floor(start / count) + 1;
  return { size: count, firstPage, lastPage: firstPage + 1 };
}

function hasMorePages(page: Page<unknown> | undefined, plan: ReadPlan, totalCount: number | null): boolean {
  if (page === undefined) return false;
  if (page.pages !== null) return plan.lastPage < page.pages;
  if (totalCount !== null) return Math.max(plan.lastPage * plan.size, plan.readThrough) < totalCount;
  return page.rows.length >= plan.size;
}

/**
 * The size of the whole list. `total` of some lists counts the returned page only (public service), so it is
 * believed only if `pages` or the rows read agree with it.
 */
function countAll(page: Page<unknown> | undefined, plan: ReadPlan): number | null {
  if (page === undefined) return null;
  const isLastPage = page.pages === null ? page.rows.length < plan.size : plan.lastPage >= page.pages;
  if (isLastPage && page.rows.length > 0) return plan.readThrough;
  // An empty page other than the first may only mean that there is no such page.
  if (page.total === null) return isLastPage && plan.lastPage === 1 ? 0 : null;
  const agrees = page.pages === null || Math.ceil(page.total / plan.size) === page.pages;
  // Fewer than the rows before: an answer "there is no such page" would say the same.
  return agrees && page.total >= plan.readThrough ? page.total : null;
}

/** Rows of other users were left out, and the total with them. A total counted from places would reveal them. */
function hidesRows(page: Page<unknown>): boolean {
  return page.total === null && page.rows.includes(null);
}

/** Where to read on: the service's own cursor of a page (null = the first) and rows of it to skip. */
interface Start {
  readonly cursor: string | null;
  readonly skip: number;
}

// More rows than a page has at most: the service gives some lists whole, whatever the limit.
const startShape = z.tuple([z.string().nullable(), indexShape]);

/**
 * A connection over a list that the service pages by an opaque cursor, which it gives only at the end of each
 * page: a place inside a page is that page's start and how many rows to skip.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function cursorConnection<Node>(
  args: ConnectionArguments,
  cursors: ListCursors,
  fetch: (request: { readonly cursor: string | null; readonly limit: number }) => Promise<Page<Node>>,
): Promise<Connection<Node>> {
  const first = readFirst(args);
  const start = readStart(args.after, cursors);
  const sent = await fetch({ cursor: start.cursor, limit: Math.min(maxPageSize, start.skip + first) });
  // A page that leads back to itself is the last one.
  const page = sent.nextCursor === start.cursor ? { ...sent, nextCursor: null } : sent;
  const rows = page.rows.slice(start.skip, start.skip + first);
  const cursorAt = (index: number) => {
    const { cursor, skip } = placeAfter(start, index, page);
    return cursors.issue([cursor, skip]);
  };
  // An empty page may have a next page: the service may return empty pages in between.
  const isAtEnd = rows.length === 0 && page.nextCursor === null;
  const isWholeList = args.after == null && page.nextCursor === null;
  return toConnection({
    edges: toEdges(rows, cursorAt),
    totalCount: isWholeList ? page.rows.length : null,
    hasNextPage: page.nextCursor !== null || page.rows.length > start.skip + rows.length,
    hasPreviousPage: args.after != null,
    issueEnd: isAtEnd ? null : () => cursorAt(rows.length - 1),
  });
}

function placeAfter(start: Start, index: number, page: Page<unknown>): Start {
  const skip = start.skip + index + 1;
  const isEndOfPage = skip >= page.rows.length;
  return isEndOfPage && page.nextCursor !== null
    ? { cursor: page.nextCursor, skip: 0 }
    : { cursor: start.cursor, skip };
}

function readStart(after: string | null | undefined, cursors: ListCursors): Start {
  if (after === null || after === undefined) return { cursor: null, skip: 0 };
  const [cursor, skip] = cursors.read(after, startShape);
  return { cursor, skip };
}
