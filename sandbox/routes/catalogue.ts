import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { pageOf, pageQuery, readBody, readQuery, readUuid } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { Catalogue, LabTest, Marker } from '../world/catalogue.ts';
import { labs } from '../world/lab-tests.ts';
import { presentLabs, presentLabTest } from '../world/present-catalogue.ts';

const orderSetBody = z.object({
  lab_test_ids: z.array(z.guid()).nullish(),
  add_on: z
    .object({
      provider_ids: z.array(z.string()).nullish(),
      marker_ids: z.array(z.number().int()).nullish(),
    })
    .nullish(),
  lab_account_id: z.guid().nullish(),
});

const labTestQuery = z.object({
  lab_test_limit: z.coerce.number().int().min(1).max(100).default(50),
  next_cursor: z.string().optional(),
  lab_slug: z.string().optional(),
  collection_method: z
    .enum(['testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection'])
    .optional(),
  status: z.enum(['active', 'pending_approval', 'inactive']).optional(),
  name: z.string().optional(),
});

const markerQuery = z.object({
  ...pageQuery,
  lab_slug: z.string().optional(),
  name: z.string().default(''),
});

type Page = { readonly page: number; readonly size: number };

function presentMarkers(markers: readonly Marker[], { page, size }: Page) {
  return {
    markers: pageOf(markers, page, size),
    total: markers.length,
    page,
    size,
    pages: Math.ceil(markers.length / size),
  };
}

function includesText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function labIdOf(slug: string): number | undefined {
  return labs.find((lab) => lab.slug === slug)?.id;
}

/** The union of what the order set asks for, each marker once, by id. */
function markersOfSet(catalogue: Catalogue, body: z.output<typeof orderSetBody>): readonly Marker[] {
  const testIds = new Set(body.lab_test_ids?.map((id) => id.toLowerCase()));
  const tests = catalogue.labTests.filter((labTest) => testIds.has(labTest.id));
  const ids = new Set([...tests.flatMap((labTest) => labTest.markerIds), ...(body.add_on?.marker_ids ?? [])]);
  const providerIds = new Set(body.add_on?.provider_ids);
  return catalogue.markers.filter((marker) => ids.has(marker.id) || providerIds.has(marker.provider_id));
}

function markersOfQuery(catalogue: Catalogue, query: z.output<typeof markerQuery>): readonly Marker[] {
  const { lab_slug, name } = query;
  return catalogue.markers
    .filter((marker) => lab_slug === undefined || marker.lab_id === labIdOf(lab_slug))
    .filter((marker) => includesText(marker.name, name) || includesText(marker.provider_id, name));
}

function labTestsOfQuery(catalogue: Catalogue, query: z.output<typeof labTestQuery>): readonly LabTest[] {
  const { lab_slug, collection_method, status, name } = query;
  return catalogue.labTests
    .filter((labTest) => lab_slug === undefined || labTest.labId === labIdOf(lab_slug))
    .filter((labTest) => collection_method === undefined || labTest.method === collection_method)
    .filter(() => status === undefined || status === 'active')
    .filter((labTest) => name === undefined || includesText(labTest.name, name));
}

/** The cursor is the position of the next row, opaque to the caller. */
function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const position = Number(Buffer.from(cursor, 'base64url').toString());
  if (!Number.isInteger(position) || position < 1) throw refuse(422, 'The cursor is not valid.');
  return position;
}

function writeCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

/** Markers of order sets (specification: endpoint 2), lab tests, markers and labs. */
export function catalogueRoutes({ world: { catalogue } }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  function withMarkers(labTest: LabTest) {
    const markers = catalogue.markers.filter((marker) => labTest.markerIds.includes(marker.id));
    return {
      ...presentLabTest(labTest),
      markers: markers.map(({ expected_results: _, ...marker }) => marker),
    };
  }

  function findLabTest(id: string): LabTest {
    const labTest = catalogue.labTests.find((each) => each.id === id.toLowerCase());
    if (!labTest) throw refuse(404, 'Lab test does not exist');
    return labTest;
  }

  routes.post('/v3/lab_tests/list_order_set_markers', async (c) => {
    const page = readQuery(c, z.object(pageQuery));
    const body = await readBody(c, orderSetBody);
    return c.json(presentMarkers(markersOfSet(catalogue, body), page));
  });

  routes.get('/v3/lab_test', (c) => {
    const query = readQuery(c, labTestQuery);
    const labTests = labTestsOfQuery(catalogue, query);
    const start = readCursor(query.next_cursor);
    const end = start + query.lab_test_limit;
    return c.json({
      data: labTests.slice(start, end).map(withMarkers),
      next_cursor: end < labTests.length ? writeCursor(end) : null,
    });
  });

  routes.get('/v3/lab_tests/markers', (c) => {
    const query = readQuery(c, markerQuery);
    return c.json(presentMarkers(markersOfQuery(catalogue, query), query));
  });

  routes.get('/v3/lab_tests/labs', (c) => c.json(presentLabs()));

  routes.get('/v3/lab_tests/:lab_test_id', (c) =>
    c.json(withMarkers(findLabTest(readUuid(c, 'lab_test_id')))),
  );

  routes.get('/v3/lab_tests/:lab_test_id/markers', (c) => {
    const labTest = findLabTest(readUuid(c, 'lab_test_id'));
    const page = readQuery(c, z.object(pageQuery));
    const markers = catalogue.markers.filter((marker) => labTest.markerIds.includes(marker.id));
    return c.json(presentMarkers(markers, page));
  });

  return routes;
}
