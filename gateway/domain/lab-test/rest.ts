import { z } from 'zod';
import type { Page, Service } from '../../upstream/service.ts';
import { flag, id, link, list, optionalId, pageReader, requiredList, text } from '../reading.ts';

export type LabTest = z.infer<typeof labTestShape>;
export type Lab = z.infer<typeof labShape>;

const labShape = z
  .object({
    id,
    slug: text,
    name: text,
    first_line_address: text,
    city: text,
    zipcode: text,
    collection_methods: list(z.string()),
    logo_url: link,
  })
  .transform((raw) => ({
    id: raw.id,
    slug: raw.slug,
    name: raw.name,
    firstLine: raw.first_line_address,
    city: raw.city,
    zip: raw.zipcode,
    collectionMethods: raw.collection_methods,
    logoUrl: raw.logo_url,
  }));

/** A lab test, on its own or inside an order, where the specification gives it only name, description, method. */
export const labTestShape = z
  .object({
    id: optionalId,
    slug: text,
    name: text,
    description: text,
    method: text,
    sample_type: text,
    status: text,
    price: z.number().nullable().catch(null),
    fasting: flag,
    lab: labShape.nullable().catch(null),
  })
  .transform(({ sample_type: sampleType, ...rest }) => ({ ...rest, sampleType }));

const labList = requiredList(labShape);
const readLabs = (json: unknown) => labList.parse(json);
const readLabTest = (json: unknown) => labTestShape.parse(json);

const readLabTestPage = pageReader('data', labTestShape);

export interface LabTestFilter {
  readonly labSlug: string | null;
  readonly method: string | null;
  readonly name: string | null;
}

/** Next stretch of a list that the service pages by opaque cursor. */
export interface CursorRequest {
  readonly cursor: string | null;
  readonly limit: number;
}

/** The team's lab tests (`GET /v3/lab_test`). */
export function listLabTests(
  service: Service,
  filter: LabTestFilter,
  request: CursorRequest,
): Promise<Page<LabTest>> {
  return service.readPage({
    operation: 'lab-test.list',
    method: 'GET',
    path: '/v3/lab_test',
    query: {
      lab_test_limit: request.limit,
      next_cursor: request.cursor,
      lab_slug: filter.labSlug,
      collection_method: filter.method,
      name: filter.name,
    },
    reader: readLabTestPage,
    keeping: 'for-a-time',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
}

/** One lab test, or null (`GET /v3/lab_tests/{lab_test_id}`). */
export function getLabTest(service: Service, labTestId: string): Promise<LabTest | null> {
  return service.readOne({
    operation: 'lab-test.get',
    method: 'GET',
    path: `/v3/lab_tests/${encodeURIComponent(labTestId)}`,
    reader: readLabTest,
    keeping: 'for-a-time',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
}

/** The labs the team can order from (`GET /v3/lab_tests/labs`). */
export async function listLabs(service: Service): Promise<readonly Lab[]> {
  const labs = await service.readOne({
    operation: 'lab.list',
    method: 'GET',
    path: '/v3/lab_tests/labs',
    reader: readLabs,
    keeping: 'for-a-time',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
  return labs ?? [];
}
