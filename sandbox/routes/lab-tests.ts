import { Hono } from 'hono';
import { z } from 'zod';
import { refuse } from '../http/refusal.ts';
import { includesText, pageQuery, readQuery, readUuid } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { Catalogue, LabTest, Marker } from '../world/catalogue.ts';
import { labIdOf, presentLabs, presentLabTest } from '../world/present-catalogue.ts';
import { presentMarkers } from './markers.ts';

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

function labTestsOfQuery(catalogue: Catalogue, query: z.output<typeof labTestQuery>): readonly LabTest[] {
  const { lab_slug, collection_method, status, name } = query;
  return catalogue.labTests
    .filter((labTest) => lab_slug === undefined || labTest.labId === labIdOf(lab_slug))
    .filter((labTest) => collection_method === undefined || labTest.method === collection_method)
    .filter(() => status === undefined || status === 'active')
    .filter((labTest) => name === undefined || includesText(labTest.name, name));
}

/** The cursor is the position of the next row, opaque to the caller. */
export function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const position = Number(Buffer.from(cursor, 'base64url').toString());
  if (!Number.isInteger(position) || position < 1) throw refuse(422, 'The cursor is not valid.');
  return position;
}

/** The opaque form of a position, for `next_cursor`. */
export function writeCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

function markersOf(catalogue: Catalogue, labTest: LabTest): readonly Marker[] {
  return catalogue.markers.filter((marker) => labTest.markerIds.includes(marker.id));
}

function withMarkers(catalogue: Catalogue, labTest: LabTest) {
  const markers = markersOf(catalogue, labTest).map(({ expected_results: _, ...marker }) => marker);
  return { ...presentLabTest(labTest), markers };
}

function requireLabTest(catalogue: Catalogue, id: string): LabTest {
  const labTest = catalogue.labTests.find((each) => each.id === id.toLowerCase());
  if (!labTest) throw refuse(404, 'Lab test does not exist');
  return labTest;
}

/** Lab tests, each with its markers, and the labs (public service: catalogue). */
export function labTestRoutes({ world: { catalogue } }: Service): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();

  routes.get('/v3/lab_test', (c) => {
    const query = readQuery(c, labTestQuery);
    const labTests = labTestsOfQuery(catalogue, query);
    const start = readCursor(query.next_cursor);
    const end = start + query.lab_test_limit;
    return c.json({
      data: labTests.slice(start, end).map((labTest) => withMarkers(catalogue, labTest)),
      next_cursor: end < labTests.length ? writeCursor(end) : null,
    });
  });

  routes.get('/v3/lab_tests/labs', (c) => c.json(presentLabs()));

  routes.get('/v3/lab_tests/:lab_test_id', (c) =>
    c.json(withMarkers(catalogue, requireLabTest(catalogue, readUuid(c, 'lab_test_id')))),
  );

  routes.get('/v3/lab_tests/:lab_test_id/markers', (c) => {
    const labTest = requireLabTest(catalogue, readUuid(c, 'lab_test_id'));
    const page = readQuery(c, z.object(pageQuery));
    return c.json(presentMarkers(markersOf(catalogue, labTest), page));
  });

  return routes;
}
