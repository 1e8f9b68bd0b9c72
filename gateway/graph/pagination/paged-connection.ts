import type { Page } from '../../service/service.ts';
import { type Connection, type ConnectionArguments, readList, toConnection } from './connection.ts';
import type { ListCursors } from './list-cursor.ts';
import { type PageRange, placeOf, readPlaces } from './pages.ts';

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
  const list = readList(args, cursors);
  const page = await fetch({ offset: list.start, limit: list.first });
  const skip = list.start - placeOf(page, { start: list.start, size: list.first });
  const rows = page.rows.slice(skip, skip + list.first);
  const end = list.start + rows.length;
  // A total that is smaller than the page cannot be that of the whole list.
  const totalCount = page.total !== null && page.total < end && rows.length > 0 ? null : page.total;
  const isEnd = totalCount === null ? page.rows.length < list.first : end >= totalCount;
  return toConnection(list, {
    rows,
    // An empty stretch ends the list whatever its total says: there is no cursor to go on from.
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
  const list = readList(args, cursors);
  const { places, totalCount, hasMorePages } = await readPlaces(list.start, list.first, fetch);
  const rows: (Node | null)[] = [];
  for (let at = list.start; rows.length < list.first && places.has(at); at += 1)
    rows.push(places.get(at) ?? null);
  const hasMoreRows = places.has(list.start + rows.length);
  return toConnection(list, {
    rows,
    hasNextPage: rows.length > 0 && (hasMoreRows || hasMorePages),
    totalCount,
  });
}
