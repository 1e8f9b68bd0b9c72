import { hash } from 'node:crypto';
import { z } from 'zod';
import { startOfDay } from '../../parse/dates.ts';
import type { Page } from '../../service/calls.ts';
import { type Connection, type ConnectionArguments, Edge, readFirst, toConnection } from './connection.ts';
import type { ListCursors } from './cursors.ts';
import { maxPageSize, type PageRange, type Reading, readPlaces } from './paged-connection.ts';

/** A list in numbered pages whose newest rows come first, so that it grows at its head. */
export interface NewestFirstList<Node> {
  /**
   * One page with the times of its rows. It has only rows no later than `until` (its whole millisecond), if the service can
   * be asked for that.
   */
  readonly fetch: (range: PageRange & { readonly until: Date | null }) => Promise<Page<Node>>;
  readonly idOf: (node: Node) => string;
}

/** How far a reader has come, by the last row read: a count alone is wrong once rows are added. */
interface Place {
  /** Time (ms) of the last row that has one; null before the first, and where the list is not newest first. */
  readonly until: number | null;
  /** How many rows precede those of `until`; null if the service ignores the bound. */
  readonly above: number | null;
  /** The same within the page read last: needed if the service turns out to ignore the bound. */
  readonly begin: number;
  /** How many of the rows no later than `until` are read; without a bound: how many of all. */
  readonly skip: number;
  /** Which rows of that very time are read, so that it does not matter in which order equal times come. */
  readonly seen: readonly string[];
}

/** Beyond so many rows of one millisecond the oldest of them are dropped, or cursors would grow without end. */
const maxSeen = 100;
const earliestMs = startOfDay('0001-01-01').getTime();
const latestMs = startOfDay('9999-12-31').getTime() + 24 * 60 * 60 * 1000 - 1;
const natural = z.int().min(0).max(1_000_000_000);
const placeShape = z.tuple([
  z.int().min(earliestMs).max(latestMs).nullable(),
  natural.nullable(),
  natural,
  natural,
  z.array(z.string()).max(maxSeen),
]);

/**
 * A connection over a list in numbered pages, newest first. The next page asks for rows no later than the last row
 * read. So no row is shown twice and none is missed while rows are added at the head, or enter and leave a filter
 * anywhere. If the service ignores the bound, later rows are left out here: a page may then be short, and rows that are
 * removed meanwhile may hide others. If such a list also begins with rows without a time or of other users, a row may come twice.
 * @throws GatewayError BAD_USER_INPUT for `first` out of 1..100, BAD_CURSOR for a cursor of another list
 */
export async function newestFirstConnection<Node>(
  args: ConnectionArguments,
  cursors: ListCursors,
  list: NewestFirstList<Node>,
): Promise<Connection<Node>> {
  const first = readFirst(args);
  const window = await readWindow(list, readPlace(args.after, cursors), first);
  const { edges, endAt, end, count: length } = takeRows(list, window, first);
  const { places, hasMorePages, totalCount } = window.reading;
  const cursorOf = ({ until, above, begin, skip, seen }: Place) =>
    cursors.issue([until, above, begin, skip, seen]);
  // Without a step forward there is no place to continue from, even if the service announces more pages.
  const isFurther = length > 0 || endAt > window.place.skip;
  const hasNextPage = isFurther && (places.has(endAt) || hasMorePages);
  return toConnection({
    edges: edges.map(({ node, place }) => new Edge(node, () => cursorOf(place()))),
    totalCount: totalCount === null ? null : (window.place.above ?? 0) + totalCount,
    hasNextPage,
    hasPreviousPage: args.after != null,
    // The end of the rows read, even if the last one was left out: reading on must not come back here.
    issueEnd: isFurther ? () => cursorOf(end()) : null,
  });
}

function readPlace(after: string | null | undefined, cursors: ListCursors): Place {
  if (after === null || after === undefined) return { until: null, above: 0, begin: 0, skip: 0, seen: [] };
  const [until, above, begin, skip, seen] = cursors.read(after, placeShape);
  return { until, above, begin, skip, seen };
}

/** The rows read to continue from a place; rows that were shown before are among them. */
interface Window<Node> {
  readonly place: Place;
  readonly start: number;
  readonly reading: Reading<Node>;
}

/**
 * The rows behind a place. A bounded list is read from its top, because rows may have left it and those behind them
 * moved up.
 */
async function readWindow<Node>(
  list: NewestFirstList<Node>,
  place: Place,
  first: number,
): Promise<Window<Node>> {
  const isBounded = place.until !== null && place.above !== null;
  if (!isBounded) {
    const reading = await readPlaces(place.skip, first, (page) => list.fetch({ ...page, until: null }));
    return { place, start: place.skip, reading };
  }
  const start = place.skip <= maxPageSize ? 0 : place.skip;
  const until = place.until === null ? null : new Date(place.until);
  const rowCount = place.skip + first - start;
  const reading = await readRows({ start, rowCount }, (page) => list.fetch({ ...page, until }));
  const isSorted = isNewestFirst(reading);
  const ignoresBound = [...reading.times.values()].some((time) => isLater(time, place.until));
  if (isSorted && !ignoresBound) return { place, start, reading };
  const skip = place.begin + place.skip;
  return await readWindow(list, { ...place, until: isSorted ? place.until : null, above: null, skip }, first);
}

/** Rows of one page, and of a second one where they are more than the service gives at once. */
async function readRows<Node>(
  { start, rowCount }: { readonly start: number; readonly rowCount: number },
  fetch: (range: PageRange) => Promise<Page<Node>>,
): Promise<Reading<Node>> {
  const head = await readPlaces(start, Math.min(rowCount, maxPageSize), fetch);
  if (rowCount <= maxPageSize || !head.hasMorePages) return head;
  const tail = await readPlaces(start + maxPageSize, rowCount - maxPageSize, fetch);
  const totalCount = head.totalCount === null ? null : tail.totalCount;
  const places = new Map([...head.places, ...tail.places]);
  return { ...tail, totalCount, places, times: new Map([...head.times, ...tail.times]) };
}

/** The rows of one time, as far as they are read: the last ones of a page. */
interface Group {
  readonly until: number | null;
  /** Where in the window's list it begins. */
  readonly start: number;
  /** Hashes of those that earlier pages have shown. */
  readonly seen: readonly string[];
  /** Ids of those that this page shows. They are hashed when a cursor is asked for. */
  readonly ids: readonly string[];
}

/** Up to `first` rows of a window that were not read before. A row that was left out counts, so that places advance. */
function takeRows<Node>(list: NewestFirstList<Node>, { place, start, reading }: Window<Node>, first: number) {
  const toPlace = placesOf(place, isNewestFirst(reading));
  const edges: { readonly node: Node; readonly place: () => Place }[] = [];
  let group: Group = { until: place.until, start: 0, seen: place.seen, ids: [] };
  let count = 0;
  let at = start;
  for (; count < first && reading.places.has(at); at += 1) {
    const row = reading.places.get(at) ?? null;
    const time = reading.times.get(at) ?? null;
    const id = row === null ? null : list.idOf(row);
    if (isRead({ id, time, at }, place)) continue;
    count += 1;
    if (row === null || id === null) continue;
    const joined = joinGroup(group, { id, time, at });
    const next = at + 1;
    edges.push({ node: row, place: () => toPlace(joined, next) });
    group = joined;
  }
  return { edges, count, endAt: at, end: () => toPlace(group, at) };
}

/** The parts of a row that are compared: its id (null for a row that was left out), its time and its place. */
interface ComparedRow<Id = string | null> {
  readonly id: Id;
  readonly time: number | null;
  readonly at: number;
}

/** Whether a row was shown before, or is newer than all shown rows. A row without a time is judged by its place. */
function isRead({ id, time, at }: ComparedRow, place: Place): boolean {
  if (id === null) return at < place.skip;
  // A first page has nothing to compare with, and hashing each of its rows would be expensive.
  if (place.seen.length > 0 && place.seen.includes(hashOf(id))) return true;
  return time === null ? at < place.skip : isLater(time, place.until);
}

function joinGroup(group: Group, row: ComparedRow<string>): Group {
  const isOlder = row.time !== null && (group.until === null || row.time < group.until);
  if (isOlder) return { until: row.time, start: row.at, seen: [], ids: [row.id] };
  return { ...group, ids: [...group.ids, row.id].slice(-maxSeen) };
}

/** How a place is written in this window: by the last row's time, or as a count if times do not help. */
function placesOf(from: Place, isSorted: boolean): (group: Group, end: number) => Place {
  const { above } = from;
  // Once found to be in another order, a list stays so: a page of one row shows no order.
  const isOfOtherOrder = above === null && from.until === null;
  if (!isSorted || isOfOtherOrder) {
    return (_, end) => ({ until: null, above: null, begin: 0, skip: (above ?? 0) + end, seen: [] });
  }
  if (above === null) {
    return (group, end) => ({ until: group.until, above, begin: 0, skip: end, seen: hashesOf(group) });
  }
  return (group, end) => ({
    until: group.until,
    above: above + group.start,
    begin: group.start,
    skip: end - group.start,
    seen: hashesOf(group),
  });
}

function hashesOf({ seen, ids }: Group): readonly string[] {
  return [...seen, ...ids.map(hashOf)].slice(-maxSeen);
}

/** Rows that were left out count too: the caller's own rows may be too few to show the order of the list. */
function isNewestFirst({ times }: Reading<unknown>): boolean {
  const inOrder = [...times].sort(([a], [b]) => a - b).map(([, time]) => time);
  return inOrder.every((time, index) => time <= (inOrder[index - 1] ?? time));
}

function isLater(time: number, until: number | null): boolean {
  return until !== null && time > until;
}

/** Enough of an id to recognize it. */
function hashOf(id: string): string {
  return hash('sha256', id, 'base64url').slice(0, 12);
}
