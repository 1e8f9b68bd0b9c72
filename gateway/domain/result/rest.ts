import { z } from 'zod';
import type { Service, Subject } from '../../upstream/service.ts';
import type { CurrentOrder } from '../order/rest.ts';
import { flag, integer, list, text, timestamp } from '../reading.ts';

export type OrderResults = z.infer<typeof resultsShape>;
export type ResultMetadata = z.infer<typeof metadataShape>;
export type BiomarkerResult = OrderResults['results'][number];
export type MissingResult = OrderResults['missing'][number];
export type SourceMarker = BiomarkerResult['sourceMarkers'][number];
export type ResultSample = OrderResults['samples'][number];

const number = z.number().nullable().catch(null);
/** Text that some samples of the service write as a number. */
const textOrNumber = z
  .union([z.string(), z.number().transform(String)])
  .nullable()
  .catch(null);

/** What stands in an object whose keys say nothing that the values do not. */
const valuesOf = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((record): unknown => Object.values(record));

/** An instant as text, or as an object with the instant and the place's offset (public service). */
const instant = z.preprocess(
  (value) => z.object({ timestamp: z.string() }).safeParse(value).data?.timestamp ?? value,
  timestamp,
);

const metadataShape = z
  .object({
    patient: text,
    age: textOrNumber,
    dob: text,
    provider: text,
    laboratory: text,
    'clia_#': text,
    clia_number: text,
    date_collected: instant,
    date_received: instant,
    date_reported: instant,
    specimen_number: textOrNumber,
    status: text,
    interpretation: text,
  })
  .transform((raw) => ({
    patientName: raw.patient,
    age: raw.age,
    birthDate: raw.dob,
    provider: raw.provider,
    laboratory: raw.laboratory,
    // The schema's key and the samples' (public service).
    cliaNumber: raw['clia_#'] ?? raw.clia_number,
    collectedAt: raw.date_collected,
    receivedAt: raw.date_received,
    reportedAt: raw.date_reported,
    specimenNumber: raw.specimen_number,
    status: raw.status,
    interpretation: raw.interpretation,
  }));

const sourceMarkersShape = list(
  z.object({ marker_id: integer, name: text, slug: text, provider_id: text }).transform((raw) => ({
    markerId: raw.marker_id === null ? null : String(raw.marker_id),
    name: raw.name,
    slug: raw.slug,
    providerId: raw.provider_id,
  })),
);

const resultShape = z
  .object({
    name: text,
    slug: text,
    result: textOrNumber,
    value: number,
    type: text,
    unit: text,
    timestamp,
    notes: text,
    reference_range: text,
    min_range_value: number,
    max_range_value: number,
    is_above_max_range: flag,
    is_below_min_range: flag,
    interpretation: text,
    source_interpretation: text,
    loinc: text,
    loinc_slug: text,
    provider_id: text,
    source_markers: sourceMarkersShape,
    performing_laboratory: text,
    source_sample_id: text,
  })
  .transform((raw) => ({
    name: raw.name,
    slug: raw.slug,
    value: raw.result ?? readOlderValue(raw.value),
    type: raw.type,
    unit: raw.unit,
    reportedAt: raw.timestamp,
    notes: raw.notes,
    referenceRange: raw.reference_range,
    minRange: raw.min_range_value,
    maxRange: raw.max_range_value,
    isAboveRange: raw.is_above_max_range,
    isBelowRange: raw.is_below_min_range,
    interpretation: raw.interpretation,
    sourceInterpretation: raw.source_interpretation || null,
    loincCode: raw.loinc,
    loincSlug: raw.loinc_slug,
    providerId: raw.provider_id,
    sourceMarkers: raw.source_markers,
    performingLaboratory: raw.performing_laboratory,
    sampleId: raw.source_sample_id,
  }));

/** The deprecated `value` is -1 for everything that is no number (public service): then nothing is said. */
function readOlderValue(value: number | null): string | null {
  return value === null || value === -1 ? null : String(value);
}

const missingShape = z
  .object({
    name: text,
    slug: text,
    inferred_failure_type: text,
    note: text,
    loinc: text,
    loinc_slug: text,
    provider_id: text,
    source_markers: sourceMarkersShape,
  })
  .transform((raw) => ({
    name: raw.name,
    slug: raw.slug,
    reason: raw.inferred_failure_type,
    note: raw.note,
    loincCode: raw.loinc,
    loincSlug: raw.loinc_slug,
    providerId: raw.provider_id,
    sourceMarkers: raw.source_markers,
  }));

const sampleShape = z
  .object({
    sample_id: text,
    control_number: text,
    date_collected: instant,
    date_received: instant,
    date_reported: instant,
    performing_laboratories: valuesOf.pipe(
      list(z.object({ name: z.string() }).transform(({ name }) => name)),
    ),
    clinical_information: z.object({ fasting: flag, notes: text }).nullable().catch(null),
  })
  .transform((raw) => ({
    sampleId: raw.sample_id,
    controlNumber: raw.control_number,
    collectedAt: raw.date_collected,
    receivedAt: raw.date_received,
    reportedAt: raw.date_reported,
    laboratories: raw.performing_laboratories,
    fasting: raw.clinical_information?.fasting ?? null,
    notes: raw.clinical_information?.notes ?? null,
  }));

const resultsShape = z
  .object({
    metadata: metadataShape.nullable().catch(null),
    // Typed as a list or an untyped object (public service); only the list can be read.
    results: list(resultShape),
    missing_results: list(missingShape),
    sample_information: valuesOf.pipe(list(sampleShape)),
  })
  .transform((raw) => ({
    metadata: raw.metadata,
    results: raw.results,
    missing: raw.missing_results,
    samples: raw.sample_information,
  }));

/** The service's answer names no owner: it is the one of the order. */
function ownerOf(order: CurrentOrder): Subject {
  return { userId: order.userId, orderId: order.id };
}

/** The results in the service's answer. @throws ZodError when it is no object at all */
export function readOrderResults(json: unknown): OrderResults {
  return resultsShape.parse(json);
}

/** The results of an order, or null before there are any (`GET /v3/order/{order_id}/result`). */
export function getResults(service: Service, order: CurrentOrder): Promise<OrderResults | null> {
  return service.readOne({
    operation: 'result.get',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/result`,
    reader: readOrderResults,
    scope: 'read:results',
    owner: () => ownerOf(order),
    about: ownerOf(order),
  });
}

/** What the lab says about the results as a whole, or null (`GET /v3/order/{order_id}/result/metadata`). */
export function getResultMetadata(service: Service, order: CurrentOrder): Promise<ResultMetadata | null> {
  return service.readOne({
    operation: 'result.metadata',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/result/metadata`,
    reader: (json) => metadataShape.parse(json),
    scope: 'read:results',
    owner: () => ownerOf(order),
    about: ownerOf(order),
  });
}

/** Documents of an order: where they are, and what a viewer token needs for them. */
const documents = {
  RESULT: { operation: 'result.pdf', path: 'result/pdf', scope: 'read:results' },
  REQUISITION: { operation: 'result.requisition-pdf', path: 'requisition/pdf', scope: 'read:orders' },
} as const;

export type DocumentKind = keyof typeof documents;

/** The scope a viewer token needs for a document. */
export function scopeOfDocument(kind: DocumentKind): 'read:results' | 'read:orders' {
  return documents[kind].scope;
}

/**
 * A document of an order as a stream of PDF bytes, or null while the service has none
 * (`GET /v3/order/{order_id}/result/pdf`, `.../requisition/pdf`).
 */
export function openDocument(service: Service, order: CurrentOrder, kind: DocumentKind) {
  const { operation, path, scope } = documents[kind];
  return service.readFile({
    operation,
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/${path}`,
    accept: 'application/pdf',
    scope,
    about: ownerOf(order),
  });
}

const criticalShape = z
  .object({
    order_id: z.guid().nullable().catch(null),
    sample_id: text,
    status: text,
    interpretation: text,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .transform((raw) => ({
    orderId: raw.order_id,
    sampleId: raw.sample_id,
    status: raw.status,
    interpretation: raw.interpretation,
    createdAt: raw.created_at,
    updatedAt: raw.updated_at,
  }));
export type CriticalResult = z.infer<typeof criticalShape>;

/** What a `labtest.result.critical` webhook tells, or null when it cannot be read. It carries no values. */
export function readCriticalResult(payload: unknown): CriticalResult | null {
  return criticalShape.safeParse(payload).data ?? null;
}
