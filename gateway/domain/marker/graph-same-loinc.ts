import { builder } from '../../graph/builder.ts';
import type { LoaderKind } from '../../graph/context.ts';
import { connectionArgs, connectionCost } from '../../graph/pagination/connection.ts';
import { listCursors } from '../../graph/pagination/list-cursor.ts';
import { offsetConnection } from '../../graph/pagination/paged-connection.ts';
import type { Page, Service } from '../../service/service.ts';
import { loincRef, markerConnectionRef } from './graph.ts';
import { listMarkers, type Marker } from './rest.ts';

/** How much of the catalogue is looked through at most: the service cannot be asked by LOINC code. */
const pageSize = 100;
const maxPages = 20;

/** The orderable markers of all labs, as far as they are read. */
interface Catalogue {
  readonly markers: readonly Marker[];
  readonly isWhole: boolean;
}

/** One walk through the catalogue per operation, whatever the number of codes. */
const markersByLoinc: LoaderKind<string, Page<Marker>> = {
  keyOf: (code) => code,
  batch: async (service, codes) => {
    const { markers, isWhole } = await readCatalogue(service.forShowing);
    return codes.map((code) => {
      const rows = markers.filter(({ expectedResults }) =>
        expectedResults.some(({ loinc }) => loinc?.code === code),
      );
      return { rows, total: isWhole ? rows.length : null, pages: null, nextCursor: null, from: null };
    });
  },
};

async function readCatalogue(service: Service): Promise<Catalogue> {
  const readPage = (page: number) =>
    listMarkers(service, { labSlug: null, name: null }, { page, size: pageSize });
  const first = await readPage(1);
  if (first.pages === null) return await walkCatalogue(first, readPage);
  // Their number is known, so the others are read at once.
  const last = Math.min(first.pages, maxPages);
  const numbers = Array.from({ length: Math.max(0, last - 1) }, (_, index) => index + 2);
  const pages = [first, ...(await Promise.all(numbers.map(readPage)))];
  return { markers: [...byId(pages).values()], isWhole: first.pages <= maxPages };
}

/** Page by page while they are full; one that brings nothing new is of a service that does not page. */
async function walkCatalogue(
  first: Page<Marker>,
  readPage: (page: number) => Promise<Page<Marker>>,
): Promise<Catalogue> {
  const pages = [first];
  let isWhole = first.rows.length < pageSize;
  while (!isWhole && pages.length < maxPages) {
    const known = byId(pages).size;
    const page = await readPage(pages.length + 1);
    pages.push(page);
    isWhole = page.rows.length < pageSize || byId(pages).size === known;
  }
  return { markers: [...byId(pages).values()], isWhole };
}

/** A row that shows on two pages, because the catalogue changed in between, counts once. */
function byId(pages: readonly Page<Marker>[]): ReadonlyMap<string, Marker> {
  const rows = pages.flatMap((page) => page.rows.filter((row) => row !== null));
  return new Map(rows.map((row) => [row.id, row]));
}

builder.objectField(loincRef, 'markers', (t) =>
  t.field({
    type: markerConnectionRef,
    // The catalogue is read once per operation, whatever the number of codes.
    complexity: (args) => ({ ...connectionCost(args), field: 1 }),
    description: `The orderable markers of all labs that measure this LOINC code; null where the code is unknown. The catalogue is read once per operation, in at most ${maxPages} calls of ${pageSize} markers; totalCount is null where it is longer than that. Viewer tokens need the scope read:catalogue.`,
    args: connectionArgs('markers'),
    resolve: ({ code }, args, context) =>
      code === null
        ? null
        : offsetConnection(args, listCursors(context, ['loincMarkers', code]), async ({ offset, limit }) => {
            const { rows, ...page } = await context.loaders.of(markersByLoinc).load(code);
            return { ...page, rows: rows.slice(offset, offset + limit), from: offset };
          }),
  }),
);
