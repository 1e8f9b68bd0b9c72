import type { Page } from '../../service/calls.ts';
import type { Service } from '../../service/service.ts';
import type { CatalogueScope } from '../lab-account/rest.ts';
import {
  flag,
  id,
  integer,
  link,
  number,
  optional,
  pageReader,
  record,
  required,
  requiredList,
  text,
  texts,
} from '../parse.ts';

export type LabTest = ReturnType<typeof readLabTest>;
export type Lab = ReturnType<typeof readLab>;

const readLab = record((raw) => ({
  id: required(raw, 'id', id),
  slug: text(raw.slug),
  name: text(raw.name),
  firstLine: text(raw.first_line_address),
  city: text(raw.city),
  zip: text(raw.zipcode),
  collectionMethods: texts(raw.collection_methods),
  sampleTypes: texts(raw.sample_types),
  logoUrl: link(raw.logo_url),
}));

const readLabs = requiredList(readLab);
const readLabOfTest = optional(readLab);

/** A lab test, on its own or inside an order, where the specification gives it only name, description, method. */
export const readLabTest = record((raw) => ({
  id: id(raw.id),
  slug: text(raw.slug),
  name: text(raw.name),
  description: text(raw.description),
  method: text(raw.method),
  sampleType: text(raw.sample_type),
  status: text(raw.status),
  price: number(raw.price),
  fasting: flag(raw.fasting),
  commonTurnaroundDays: integer(raw.common_tat_days),
  worstCaseTurnaroundDays: integer(raw.worst_case_tat_days),
  lab: readLabOfTest(raw.lab),
}));

const readLabTestPage = pageReader('data', readLabTest);

export interface LabTestFilter {
  readonly labSlug: string | null;
  readonly method: string | null;
  readonly name: string | null;
  readonly status?: string | undefined;
  readonly labAccountId?: string | undefined;
}

/** The next page of a list that the service pages by opaque cursor. */
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
      status: filter.status,
      lab_account_id: filter.labAccountId,
    },
    reader: readLabTestPage,
    cachedUntil: 'ttl',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
}

interface LabTestOptions {
  /** The lab account on which it must be available; null = any. */
  readonly labAccountId?: string | null;
  readonly scope?: CatalogueScope;
}

/** One lab test, or null (`GET /v3/lab_tests/{lab_test_id}`). */
export function getLabTest(
  service: Service,
  labTestId: string,
  { labAccountId = null, scope = 'read:catalogue' }: LabTestOptions = {},
): Promise<LabTest | null> {
  return service.readOne({
    operation: 'lab-test.get',
    method: 'GET',
    path: `/v3/lab_tests/${encodeURIComponent(labTestId)}`,
    query: { lab_account_id: labAccountId },
    reader: readLabTest,
    cachedUntil: 'ttl',
    scope,
    owner: 'anyone',
  });
}

/** The labs the team can order from (`GET /v3/lab_tests/labs`). */
export async function listLabs(
  service: Service,
  scope: CatalogueScope = 'read:catalogue',
): Promise<readonly Lab[]> {
  const labs = await service.readOne({
    operation: 'lab.list',
    method: 'GET',
    path: '/v3/lab_tests/labs',
    reader: readLabs,
    cachedUntil: 'ttl',
    scope,
    owner: 'anyone',
  });
  return labs ?? [];
}
