import { z } from 'zod';
import type { Page, Service } from '../../upstream/service.ts';
import { flag, id, integer, list, pageReader, text } from '../reading.ts';

export type Marker = z.infer<typeof markerShape>;
export type ExpectedResult = Marker['expectedResults'][number];
export type Question = Marker['questions'][number];
export type Answer = Question['answers'][number];
export type Loinc = NonNullable<ExpectedResult['loinc']>;

/** Page number from 1, size 1 to 100 (specification, Limits). */
export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

const loincShape = z.object({ id, name: text, slug: text, code: text, unit: text });

const expectedResultShape = z
  .object({
    id,
    name: text,
    slug: text,
    lab_id: integer,
    provider_id: text,
    loinc: loincShape.nullable().catch(null),
  })
  .transform(({ lab_id: labId, provider_id: providerId, ...rest }) => ({ ...rest, labId, providerId }));

const answerShape = z.object({ id, code: text, value: text });

const questionShape = z
  .object({
    id,
    required: flag,
    code: text,
    value: text,
    type: text,
    sequence: integer,
    answers: list(answerShape),
    constraint: text,
    default: text,
  })
  .transform(({ required: isRequired, value, default: defaultAnswer, ...rest }) => ({
    ...rest,
    isRequired,
    text: value,
    defaultAnswer,
  }));

/** Questions in their sequence; what is no list of questions is none. */
const questionsShape = z
  .object({ questions: list(questionShape) })
  .catch({ questions: [] })
  .transform(({ questions }) => questions.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0)));

const markerShape = z
  .object({
    id,
    name: text,
    slug: text,
    description: text,
    lab_id: integer,
    provider_id: text,
    type: text,
    unit: text,
    price: text,
    aoe: questionsShape,
    expected_results: list(expectedResultShape),
  })
  .transform(
    ({ lab_id: labId, provider_id: providerId, expected_results: expectedResults, aoe, ...rest }) => ({
      ...rest,
      labId,
      providerId,
      expectedResults,
      questions: aoe,
    }),
  );

const readMarkerPage = pageReader('markers', markerShape);

export interface OrderSet {
  readonly labTestIds: readonly string[];
  readonly addOnProviderIds: readonly string[];
}

/** What an order set measures (`POST /v3/lab_tests/list_order_set_markers`: a POST that only reads). */
export function listOrderSetMarkers(
  service: Service,
  set: OrderSet,
  request: PageRequest,
): Promise<Page<Marker>> {
  return service.readPage({
    operation: 'marker.of-order-set',
    method: 'POST',
    path: '/v3/lab_tests/list_order_set_markers',
    query: { page: request.page, size: request.size },
    body: {
      lab_test_ids: set.labTestIds,
      ...(set.addOnProviderIds.length === 0 ? {} : { add_on: { provider_ids: set.addOnProviderIds } }),
    },
    reader: readMarkerPage,
    keeping: 'for-a-time',
    scope: 'read:orders',
    owner: 'anyone',
  });
}

export interface MarkerFilter {
  readonly labSlug: string | null;
  readonly name: string | null;
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
    query: { lab_slug: filter.labSlug, name: filter.name, page: request.page, size: request.size },
    reader: readMarkerPage,
    keeping: 'for-a-time',
    scope: 'read:catalogue',
    owner: 'anyone',
  });
}
