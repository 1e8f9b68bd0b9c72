import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { requireLabTest } from '../http/require.ts';
import {
  includesText,
  type Page,
  pageOf,
  pageQuery,
  readBody,
  readCursor,
  readQuery,
  readUuid,
  repeated,
  rowsFrom,
} from '../http/validation.ts';
import { collectionMethod, orderSet } from '../orders/order-set.ts';
import type { SandboxEnv, Service } from '../service.ts';
import {
  type Catalogue,
  type LabTest,
  labIdOf,
  type Marker,
  presentLabs,
  presentLabTest,
} from '../world/catalogue.ts';
import { labTestsOf, ownLabAccounts, type World } from '../world/world.ts';

/** Only what the lab of this account does (specification: panels and markers are filtered to the account's lab). */
const ofAccount = { lab_account_id: z.guid().nullish() };

const orderSetBody = orderSet.extend(ofAccount);

const markerQuery = z.object({
  ...pageQuery,
  ...ofAccount,
  lab_id: repeated(z.coerce.number().int()),
  lab_slug: z.string().optional(),
  name: z.string().default(''),
  a_la_carte_enabled: z.stringbool().optional(),
});

/** Whether the lab is that of the account; any lab where none is named, and none for an unknown account. */
function isOnAccount(world: World, accountId: string | null | undefined, labId: number): boolean {
  if (!accountId) return true;
  const account = ownLabAccounts(world).find(({ id }) => id === accountId.toLowerCase());
  return account !== undefined && labIdOf(account.lab) === labId;
}

/** One page of markers as the service shows it (specification: order-set markers response). */
function presentMarkers(markers: readonly Marker[], { page, size }: Page) {
  return {
    markers: pageOf(markers, page, size),
    total: markers.length,
    page,
    size,
    pages: Math.ceil(markers.length / size),
  };
}

/** All markers of the order set, each once, by id. */
function markersOfSet(world: World, body: z.output<typeof orderSetBody>): readonly Marker[] {
  const { catalogue } = world;
  const testIds = new Set(body.lab_test_ids?.map((id) => id.toLowerCase()));
  const tests = labTestsOf(world).filter((labTest) => testIds.has(labTest.id));
  const ids = new Set([...tests.flatMap((labTest) => labTest.markerIds), ...(body.add_on?.marker_ids ?? [])]);
  const providerIds = new Set(body.add_on?.provider_ids);
  return catalogue.markers
    .filter((marker) => ids.has(marker.id) || providerIds.has(marker.provider_id))
    .filter((marker) => isOnAccount(world, body.lab_account_id, marker.lab_id));
}

function markersOfQuery(world: World, query: z.output<typeof markerQuery>): readonly Marker[] {
  const { lab_slug, name, lab_account_id, a_la_carte_enabled: alone } = query;
  // A slug overrides the ids (public service).
  const labIds = lab_slug === undefined ? query.lab_id : [labIdOf(lab_slug)];
  return world.catalogue.markers
    .filter((marker) => isOnAccount(world, lab_account_id, marker.lab_id))
    .filter((marker) => labIds?.includes(marker.lab_id) ?? true)
    .filter((marker) => alone === undefined || marker.a_la_carte_enabled === alone)
    .filter((marker) => includesText(marker.name, name) || includesText(marker.provider_id, name));
}

const labTestQuery = z.object({
  ...ofAccount,
  lab_test_limit: z.coerce.number().int().min(1).max(100).default(50),
  next_cursor: z.string().optional(),
  lab_slug: z.string().optional(),
  collection_method: collectionMethod.optional(),
  status: z.enum(['active', 'pending_approval', 'inactive']).optional(),
  name: z.string().optional(),
  marker_ids: repeated(z.coerce.number().int()),
  provider_ids: repeated(z.string()),
  order_key: z.enum(['price', 'created_at', 'updated_at']).default('created_at'),
  order_direction: z.enum(['asc', 'desc']).default('asc'),
});

function labTestsOfQuery(world: World, query: z.output<typeof labTestQuery>): readonly LabTest[] {
  const { lab_slug, collection_method, status, name, lab_account_id } = query;
  return world.catalogue.labTests
    .filter((labTest) => isOnAccount(world, lab_account_id, labTest.labId))
    .filter((labTest) => lab_slug === undefined || labTest.labId === labIdOf(lab_slug))
    .filter((labTest) => collection_method === undefined || labTest.method === collection_method)
    .filter(() => status === undefined || status === 'active')
    .filter((labTest) => name === undefined || includesText(labTest.name, name))
    .filter((labTest) => hasMarkers(world.catalogue, labTest, query));
}

/** Whether the lab test contains all markers that the query names. */
function hasMarkers(catalogue: Catalogue, labTest: LabTest, query: z.output<typeof labTestQuery>): boolean {
  const { marker_ids = [], provider_ids = [] } = query;
  const markers = markersOf(catalogue, labTest);
  return (
    marker_ids.every((id) => markers.some((marker) => marker.id === id)) &&
    provider_ids.every((id) => markers.some((marker) => marker.provider_id === id))
  );
}

/** Sorts the lab tests. The catalogue has the order of creation, which is also that of updates: nothing is updated. */
function sorted(labTests: readonly LabTest[], query: z.output<typeof labTestQuery>): readonly LabTest[] {
  const up = query.order_key === 'price' ? labTests.toSorted((a, b) => a.price - b.price) : labTests;
  return query.order_direction === 'asc' ? up : up.toReversed();
}

function markersOf(catalogue: Catalogue, labTest: LabTest): readonly Marker[] {
  return catalogue.markers.filter((marker) => labTest.markerIds.includes(marker.id));
}

function withMarkers(catalogue: Catalogue, labTest: LabTest) {
  const markers = markersOf(catalogue, labTest).map(({ expected_results: _, ...marker }) => marker);
  return { ...presentLabTest(labTest), markers };
}

const accountQuery = z.object({
  lab_account_id: z.guid().optional(),
  status: z.enum(['active', 'pending', 'suspended', 'ready_to_launch']).optional(),
});

/** Markers of order sets (specification: endpoint 2), of the catalogue and of one lab test. */
function addMarkerRoutes(routes: Hono<SandboxEnv>, world: World): void {
  const { catalogue } = world;

  routes.post('/v3/lab_tests/list_order_set_markers', async (c) => {
    const page = readQuery(c, z.object(pageQuery));
    const body = await readBody(c, orderSetBody);
    return c.json(presentMarkers(markersOfSet(world, body), page));
  });

  routes.get('/v3/lab_tests/markers', (c) => {
    const query = readQuery(c, markerQuery);
    return c.json(presentMarkers(markersOfQuery(world, query), query));
  });

  routes.get('/v3/lab_tests/:lab_test_id/markers', (c) => {
    const labTest = requireLabTest(world, readUuid(c, 'lab_test_id'));
    const page = readQuery(c, z.object(pageQuery));
    return c.json(presentMarkers(markersOf(catalogue, labTest), page));
  });
}

/** Markers, labs, lab accounts, and lab tests with their markers (public service: catalogue). */
export function catalogueRoutes({ world }: Service): Hono<SandboxEnv> {
  const { catalogue } = world;
  const routes = new Hono<SandboxEnv>();
  // Before the lab tests, whose path accepts any last part.
  addMarkerRoutes(routes, world);

  routes.get('/v3/lab_tests/labs', (c) => c.json(presentLabs()));

  routes.get('/v3/lab_test/lab_account', (c) => {
    const { lab_account_id, status } = readQuery(c, accountQuery);
    const accounts = ownLabAccounts(world)
      .filter((account) => lab_account_id === undefined || account.id === lab_account_id.toLowerCase())
      .filter((account) => status === undefined || account.status === status);
    return c.json({ data: accounts });
  });

  routes.get('/v3/lab_test', (c) => {
    const query = readQuery(c, labTestQuery);
    const labTests = sorted(labTestsOfQuery(world, query), query);
    const { rows, next } = rowsFrom(labTests, readCursor(query.next_cursor), query.lab_test_limit);
    return c.json({ data: rows.map((labTest) => withMarkers(catalogue, labTest)), next_cursor: next });
  });

  routes.get('/v3/lab_tests/:lab_test_id', (c) => {
    const labTest = requireLabTest(world, readUuid(c, 'lab_test_id'));
    const { lab_account_id } = readQuery(c, z.object(ofAccount));
    if (!isOnAccount(world, lab_account_id, labTest.labId)) throw refuse(404, 'Lab test does not exist');
    return c.json(withMarkers(catalogue, labTest));
  });

  return routes;
}
