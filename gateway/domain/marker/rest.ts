import { type GatewayError, isGatewayError } from '../../errors.ts';
import type { Page } from '../../service/calls.ts';
import type { Service } from '../../service/service.ts';
import { flag, id, integer, list, optional, pageReader, record, required, text } from '../parse.ts';
import { toRequestBody } from '../request-body.ts';

export type Marker = ReturnType<typeof readMarker>;
export type ExpectedResult = Marker['expectedResults'][number];
export type Question = Marker['questions'][number];
export type Answer = Question['answers'][number];
export type Loinc = NonNullable<ExpectedResult['loinc']>;

/** Page number from 1, size 1 to 100 (specification, Limits). */
export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

const readLoinc = optional(
  record((raw) => ({
    id: required(raw, 'id', id),
    name: text(raw.name),
    slug: text(raw.slug),
    code: text(raw.code),
    unit: text(raw.unit),
  })),
);

const readExpectedResults = list(
  record((raw) => ({
    id: required(raw, 'id', id),
    name: text(raw.name),
    slug: text(raw.slug),
    isRequired: flag(raw.required),
    loinc: readLoinc(raw.loinc),
    labId: integer(raw.lab_id),
    providerId: text(raw.provider_id),
  })),
);

const readAnswers = list(
  record((raw) => ({ id: required(raw, 'id', id), code: text(raw.code), value: text(raw.value) })),
);

const readQuestionList = list(
  record((raw) => ({
    id: required(raw, 'id', id),
    isRequired: flag(raw.required),
    code: text(raw.code),
    text: text(raw.value),
    type: text(raw.type),
    sequence: integer(raw.sequence),
    answers: readAnswers(raw.answers),
    constraint: text(raw.constraint),
    defaultAnswer: text(raw.default),
  })),
);

/** Questions in their sequence; null for anything else. */
const readQuestions = optional(
  record((raw) => readQuestionList(raw.questions).toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))),
);

const readMarker = record((raw) => ({
  id: required(raw, 'id', id),
  name: text(raw.name),
  slug: text(raw.slug),
  description: text(raw.description),
  labId: integer(raw.lab_id),
  providerId: text(raw.provider_id),
  type: text(raw.type),
  unit: text(raw.unit),
  price: text(raw.price),
  expectedResults: readExpectedResults(raw.expected_results),
  questions: readQuestions(raw.aoe) ?? [],
  isOrderable: flag(raw.is_orderable),
  isALaCarteEnabled: flag(raw.a_la_carte_enabled),
  commonTurnaroundDays: integer(raw.common_tat_days),
  worstCaseTurnaroundDays: integer(raw.worst_case_tat_days),
}));

const readCountedPage = pageReader('markers', readMarker);

/**
 * A page of markers. `total` may count the page only (public service). Without a `pages` that agrees with it, it is used
 * only if it is larger than the page.
 */
function readMarkerPage(json: unknown): Page<Marker> {
  const page = readCountedPage(json);
  const mayCountPage = page.pages === null && page.total !== null && page.total <= page.rows.length;
  return mayCountPage ? { ...page, total: null } : page;
}

export interface OrderSet {
  readonly labTestIds: readonly string[];
  readonly addOn: AddOn | null;
  readonly labAccountId?: string | undefined;
}

/** Single markers to add, by one kind of id: the public service does not accept both kinds at once. */
export type AddOn = { readonly markerIds: readonly number[] } | { readonly providerIds: readonly string[] };

/**
 * The markers of an order set (`POST /v3/lab_tests/list_order_set_markers`: a POST that only reads).
 * @param scope the scope they need: `write:orders` when they are read only to find out why an order was refused
 */
export function listOrderSetMarkers(
  service: Service,
  set: OrderSet,
  request: PageRequest,
  scope: 'read:orders' | 'write:orders' = 'read:orders',
): Promise<Page<Marker>> {
  return service.readPage({ ...orderSetCall(set, request), operation: 'marker.of-order-set', scope });
}

function orderSetCall(set: OrderSet, { page, size }: PageRequest) {
  return {
    method: 'POST',
    path: '/v3/lab_tests/list_order_set_markers',
    query: { page, size },
    body: toRequestBody(set),
    reader: readMarkerPage,
    cachedUntil: 'ttl',
    owner: 'anyone',
  } as const;
}

/** The most markers one call returns (specification, Limits). */
const maxMarkerPage = 100;

/** The most calls for one set. With one unknown marker among 100 it takes up to 15, with two up to 27. */
const maxCallsOfSet = 30;

/**
 * Markers by id, in the order of the ids: one call for each 100. Null where there is none, and an error where its call fails
 * or the service refuses so many sets that the search is given up. The service has no call for markers by id, but an order
 * set may be single markers.
 */
export async function getMarkers(
  service: Service,
  ids: readonly number[],
): Promise<readonly (Marker | Error | null)[]> {
  const chunks = Array.from({ length: Math.ceil(ids.length / maxMarkerPage) }, (_, index) =>
    ids.slice(index * maxMarkerPage, (index + 1) * maxMarkerPage),
  );
  const found = await Promise.all(
    chunks.map((chunk) => findMarkers(service, chunk, { left: maxCallsOfSet })),
  );
  const markersById = new Map(found.flat());
  return ids.map((id) => markersById.get(id) ?? null);
}

/** A set with an unknown marker is refused as a whole, and one of several labs may be: then each half is asked for. */
async function findMarkers(
  service: Service,
  ids: readonly number[],
  calls: { left: number },
): Promise<readonly (readonly [number, Marker | GatewayError])[]> {
  calls.left -= 1;
  try {
    const { rows } = await service.readPage({
      ...orderSetCall({ labTestIds: [], addOn: { markerIds: ids } }, { page: 1, size: maxMarkerPage }),
      operation: 'marker.by-id',
      scope: 'read:catalogue',
    });
    return rows.flatMap((row) => (row === null ? [] : [[Number(row.id), row] as const]));
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    const isRefused = refusesSet(error);
    if (isRefused && ids.length === 1) return [];
    if (!isRefused || calls.left < 2) return ids.map((id) => [id, error]);
    const middle = Math.ceil(ids.length / 2);
    const halves = [ids.slice(0, middle), ids.slice(middle)];
    return (await Promise.all(halves.map((half) => findMarkers(service, half, calls)))).flat();
  }
}

/** Whether a refusal is about the markers of the set (public service: 404 for what it does not know, 400 for its rules). */
function refusesSet({ code, status }: GatewayError): boolean {
  return code === 'UPSTREAM_REJECTED' && (status === 400 || status === 404);
}

export interface MarkerFilter {
  readonly labSlug: string | null;
  readonly name: string | null;
  readonly labAccountId?: string | undefined;
}

/** The orderable markers of the catalogue (`GET /v3/lab_tests/markers`). */
export function listMarkers(
  service: Service,
  filter: MarkerFilter,
  request: PageRequest,
): Promise<Page<Marker>> {
  return service.readPage({
    operation: 'marker.list',
    method: 'GET',
    path: '/v3/lab_tests/markers',
    query: {
      lab_slug: filter.labSlug,
      name: filter.name,
      lab_account_id: filter.labAccountId,
      page: request.page,
      size: request.size,
    },
    reader: readMarkerPage,
    cachedUntil: 'ttl',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
}

/** How much of the catalogue is looked through at most: the service cannot be asked by LOINC code. */
export const catalogueLimits = { pageSize: 100, maxPages: 20 } as const;

/** The orderable markers of all labs, as far as they are read. */
interface Catalogue {
  readonly markers: readonly Marker[];
  readonly isWhole: boolean;
}

/** Reads the catalogue of all labs, as far as `catalogueLimits` allow. */
export async function listWholeCatalogue(service: Service): Promise<Catalogue> {
  const readPage = (page: number) =>
    listMarkers(service, { labSlug: null, name: null }, { page, size: catalogueLimits.pageSize });
  const first = await readPage(1);
  if (first.pages === null) return await walkCatalogue(first, readPage);
  // The number of pages is known, so all others are read at the same time.
  const last = Math.min(first.pages, catalogueLimits.maxPages);
  const numbers = Array.from({ length: Math.max(0, last - 1) }, (_, index) => index + 2);
  const pages = [first, ...(await Promise.all(numbers.map(readPage)))];
  return { markers: [...byId(pages).values()], isWhole: first.pages <= catalogueLimits.maxPages };
}

/** Reads page after page while they are full. A page without new rows means that the service does not page. */
async function walkCatalogue(
  first: Page<Marker>,
  readPage: (page: number) => Promise<Page<Marker>>,
): Promise<Catalogue> {
  const pages = [first];
  let isWhole = first.rows.length < catalogueLimits.pageSize;
  while (!isWhole && pages.length < catalogueLimits.maxPages) {
    const known = byId(pages).size;
    const page = await readPage(pages.length + 1);
    pages.push(page);
    isWhole = page.rows.length < catalogueLimits.pageSize || byId(pages).size === known;
  }
  return { markers: [...byId(pages).values()], isWhole };
}

/** A row on two pages, because the catalogue changed in between, counts once. */
function byId(pages: readonly Page<Marker>[]): ReadonlyMap<string, Marker> {
  const rows = pages.flatMap((page) => page.rows.filter((row) => row !== null));
  return new Map(rows.map((row) => [row.id, row]));
}
