import { Rights } from '../../../gateway/auth/rights.ts';
import { createCursors } from '../../../gateway/events/cursor.ts';
import type { Connection, ConnectionArguments } from '../../../gateway/graph/pagination/connection.ts';
import {
  type ListCursors,
  type ListIdentity,
  listCursors,
} from '../../../gateway/graph/pagination/cursors.ts';

/** The cursors of a list for a server of the team. */
export function cursorsOf(identity: ListIdentity): ListCursors {
  const cursors = createCursors(() => 'epoch', [Buffer.alloc(32, 1)]);
  return listCursors({ service: { rights: new Rights({ kind: 'TEAM' }) }, cursors }, identity);
}

/** Cursors of ours that name no place of the list, and texts that are no cursors. */
export function badCursorsOf(identity: ListIdentity, places: readonly unknown[]): readonly string[] {
  const { issue } = cursorsOf(identity);
  return [...places, null, {}, []].flatMap((place) => [
    issue(place),
    // Without its MAC, as cursors were before they had one.
    Buffer.from(JSON.stringify(place)).toString('base64url'),
  ]);
}

/** The rows 0, 1, 2, ... of a list; those in `holes` are null, like rows that are not the caller's. */
export function rowsOf(count: number, holes: readonly number[] = []): readonly (number | null)[] {
  return Array.from({ length: count }, (_, index) => (holes.includes(index) ? null : index));
}

/** Reads a list from its start to its end, page by page. */
export async function walk(
  first: number,
  read: (args: ConnectionArguments) => Promise<Connection<number>>,
): Promise<readonly Connection<number>[]> {
  const pages: Connection<number>[] = [];
  let after: string | null = null;
  do {
    const page: Connection<number> = await read({ first, after });
    pages.push(page);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    if (page.pageInfo.hasNextPage && after === null) throw new Error('The list goes on, but from nowhere.');
    if (pages.length > 1000) throw new Error('The walk does not end.');
  } while (after !== null);
  return pages;
}

export function nodesOf(pages: readonly Connection<number>[]): readonly number[] {
  return pages.flatMap(({ edges }) => edges.map(({ node }) => node));
}

/** A page as values: its cursors are made on demand, by getters of a class. */
export function toValues<Node>({ pageInfo, ...page }: Connection<Node>): Connection<Node> {
  const { hasNextPage, hasPreviousPage, startCursor, endCursor } = pageInfo;
  return { ...page, pageInfo: { hasNextPage, hasPreviousPage, startCursor, endCursor } };
}
