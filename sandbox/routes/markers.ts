import { Hono } from 'hono';
import { z } from 'zod';
import { includesText, type Page, pageOf, pageQuery, readBody, readQuery } from '../http/validation.ts';
import type { SandboxEnv, Service } from '../service.ts';
import type { Catalogue, Marker } from '../world/catalogue.ts';
import { labIdOf } from '../world/present-catalogue.ts';
import { labTestsOf, type World } from '../world/world.ts';

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

const markerQuery = z.object({
  ...pageQuery,
  lab_slug: z.string().optional(),
  name: z.string().default(''),
});

/** One page of markers as the service shows it (specification: order-set markers response). */
export function presentMarkers(markers: readonly Marker[], { page, size }: Page) {
  return {
    markers: pageOf(markers, page, size),
    total: markers.length,
    page,
    size,
    pages: Math.ceil(markers.length / size),
  };
}

/** The union of what the order set asks for, each marker once, by id. */
function markersOfSet(world: World, body: z.output<typeof orderSetBody>): readonly Marker[] {
  const { catalogue } = world;
  const testIds = new Set(body.lab_test_ids?.map((id) => id.toLowerCase()));
  const tests = labTestsOf(world).filter((labTest) => testIds.has(labTest.id));
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

/** Markers of order sets (specification: endpoint 2) and of the whole catalogue. */
export function markerRoutes({ world }: Service): Hono<SandboxEnv> {
  const { catalogue } = world;
  const routes = new Hono<SandboxEnv>();

  routes.post('/v3/lab_tests/list_order_set_markers', async (c) => {
    const page = readQuery(c, z.object(pageQuery));
    const body = await readBody(c, orderSetBody);
    return c.json(presentMarkers(markersOfSet(world, body), page));
  });

  routes.get('/v3/lab_tests/markers', (c) => {
    const query = readQuery(c, markerQuery);
    return c.json(presentMarkers(markersOfQuery(catalogue, query), query));
  });

  return routes;
}
