import { z } from 'zod';
import type { Page } from '../../service/calls.ts';
import { type Connection, type ConnectionArguments, readFirst, toEdge } from './connection.ts';
import type { ListCursors } from './list-cursor.ts';

/** Where a stretch starts: the service's own cursor of a page (null = the first) and rows of it to skip. */
interface Start {
  readonly cursor: string | null;
  readonly skip: number;
}

const maxLimit = 100;
const startShape = z.tuple([z.string().nullable(), z.number().int().min(0).max(maxLimit)]);

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
  const page = await fetch({ cursor: start.cursor, limit: Math.min(maxLimit, start.skip + first) });
  const stretch = page.rows.slice(start.skip, start.skip + first);
  const cursorAt = (index: number) => {
    const { cursor, skip } = placeAfter(start, index, page);
    return cursors.issue([cursor, skip]);
  };
  // An empty page may have a next page: the service may return empty pages in between.
  const isAtEnd = stretch.length === 0 && page.nextCursor === null;
  const edges = stretch.flatMap((node, index) =>
    node === null ? [] : [toEdge(node, () => cursorAt(index))],
  );
  const isWholeList = args.after == null && page.nextCursor === null;
  return {
    edges,
    totalCount: isWholeList ? page.rows.length : null,
    pageInfo: {
      hasNextPage: page.nextCursor !== null || page.rows.length > start.skip + stretch.length,
      hasPreviousPage: args.after != null,
      get startCursor() {
        return edges[0]?.cursor ?? null;
      },
      endCursor: isAtEnd ? null : cursorAt(stretch.length - 1),
    },
  };
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
