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
  return listCursors({ caller: { kind: 'TEAM' }, cursors }, identity);
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

/** Reads a list from its start to its end, stretch by stretch. */
export async function walk(
  first: number,
  read: (args: ConnectionArguments) => Promise<Connection<number>>,
): Promise<readonly Connection<number>[]> {
  const stretches: Connection<number>[] = [];
  let after: string | null = null;
  do {
    const stretch: Connection<number> = await read({ first, after });
    stretches.push(stretch);
    after = stretch.pageInfo.hasNextPage ? stretch.pageInfo.endCursor : null;
    if (stretch.pageInfo.hasNextPage && after === null)
      throw new Error('The list goes on, but from nowhere.');
    if (stretches.length > 1000) throw new Error('The walk does not end.');
  } while (after !== null);
  return stretches;
}

export function nodesOf(stretches: readonly Connection<number>[]): readonly number[] {
  return stretches.flatMap(({ edges }) => edges.map(({ node }) => node));
}
