import type { Owner } from '../../auth/rights.ts';
import type { Service } from '../../service/service.ts';
import { readAddress } from '../address/rest.ts';
import type { CurrentOrder } from '../order/read/rest-order.ts';
import {
  entries,
  flag,
  integer,
  list,
  number,
  optional,
  record,
  text,
  textOrNumber,
  timestamp,
  writtenDate,
} from '../parse.ts';

export type OrderResults = ReturnType<typeof readOrderResults>;
export type ResultMetadata = ReturnType<typeof readMetadata>;
export type BiomarkerResult = OrderResults['results'][number];
export type WrittenDate = BiomarkerResult['reported'];
export type MissingResult = OrderResults['missing'][number];
export type SourceMarker = BiomarkerResult['sourceMarkers'][number];
export type ResultSample = OrderResults['samples'][number];
export type PerformingLaboratory = ResultSample['laboratories'][number];

const readMetadata = record((raw) => ({
  patientName: text(raw.patient),
  age: textOrNumber(raw.age),
  birthDate: text(raw.dob),
  provider: text(raw.provider),
  laboratory: text(raw.laboratory),
  // The schema's key and the samples' (public service).
  cliaNumber: text(raw['clia_#']) ?? text(raw.clia_number),
  collected: writtenDate(raw.date_collected),
  received: writtenDate(raw.date_received),
  reported: writtenDate(raw.date_reported),
  specimenNumber: textOrNumber(raw.specimen_number),
  status: text(raw.status),
  interpretation: text(raw.interpretation),
}));

const readSourceMarkers = list(
  record((raw) => ({
    markerId: integer(raw.marker_id)?.toString() ?? null,
    name: text(raw.name),
    slug: text(raw.slug),
    providerId: text(raw.provider_id),
  })),
);

const readResults = list(
  record((raw) => ({
    name: text(raw.name),
    slug: text(raw.slug) || null,
    value: textOrNumber(raw.result) ?? readOlderValue(number(raw.value)),
    type: text(raw.type),
    unit: text(raw.unit),
    reported: writtenDate(raw.timestamp),
    notes: text(raw.notes),
    referenceRange: text(raw.reference_range),
    minRange: number(raw.min_range_value),
    maxRange: number(raw.max_range_value),
    isAboveRange: flag(raw.is_above_max_range),
    isBelowRange: flag(raw.is_below_min_range),
    interpretation: text(raw.interpretation),
    sourceInterpretation: text(raw.source_interpretation) || null,
    loincCode: text(raw.loinc),
    loincSlug: text(raw.loinc_slug),
    providerId: text(raw.provider_id),
    sourceMarkers: readSourceMarkers(raw.source_markers),
    performingLaboratory: text(raw.performing_laboratory),
    sampleId: text(raw.source_sample_id),
  })),
);

/** The deprecated `value` is -1 for everything that is not a number (public service). Null in that case. */
function readOlderValue(value: number | null): string | null {
  return value === null || value === -1 ? null : String(value);
}

const readMissing = list(
  record((raw) => ({
    name: text(raw.name),
    slug: text(raw.slug),
    reason: text(raw.inferred_failure_type),
    note: text(raw.note),
    loincCode: text(raw.loinc),
    loincSlug: text(raw.loinc_slug),
    providerId: text(raw.provider_id),
    sourceMarkers: readSourceMarkers(raw.source_markers),
  })),
);

const readLaboratory = record((raw) => ({
  name: text(raw.name),
  phoneNumber: text(raw.phone_number),
  medicalDirector: text(raw.medical_director),
  address: readAddress(raw.address),
}));

const readLaboratories = entries(readLaboratory);

const readClinicalInformation = optional(
  record((raw) => ({
    fasting: flag(raw.fasting),
    notes: text(raw.notes),
    information: text(raw.information),
    totalVolume: text(raw.total_volume),
  })),
);

const noClinicalInformation = { fasting: null, notes: null, information: null, totalVolume: null } as const;

const readSamples = entries(
  record((raw) => ({
    sampleId: text(raw.sample_id),
    controlNumber: text(raw.control_number),
    collected: writtenDate(raw.date_collected),
    received: writtenDate(raw.date_received),
    reported: writtenDate(raw.date_reported),
    laboratories: readLaboratories(raw.performing_laboratories).map(([code, lab]) => ({ code, ...lab })),
    ...(readClinicalInformation(raw.clinical_information) ?? noClinicalInformation),
  })),
);

const readMetadataOfResults = optional(readMetadata);

/** The results in the service's answer. @throws Unreadable when it is no object at all */
export const readOrderResults = record((raw) => {
  const samples = readSamples(raw.sample_information);
  // The key of a sample may be the only place of its number (public service: `sample_id` is optional).
  const sampleOf = (sampleId: string | null) =>
    samples.find(([key, sample]) => (sample.sampleId ?? key) === sampleId)?.[1] ?? null;
  return {
    metadata: readMetadataOfResults(raw.metadata),
    // Typed as a list or an untyped object (public service); only the list can be read.
    results: readResults(raw.results).map((result) => ({ ...result, sample: sampleOf(result.sampleId) })),
    missing: readMissing(raw.missing_results),
    samples: samples.map(([, sample]) => sample),
  };
});

/** The service's answer names no owner: it is the one of the order. */
function ownerOf(order: CurrentOrder): Owner {
  return { userId: order.userId, orderId: order.id };
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

/** The lab's statements about the results as a whole, or null (`GET /v3/order/{order_id}/result/metadata`). */
export function getResultMetadata(service: Service, order: CurrentOrder): Promise<ResultMetadata | null> {
  return service.readOne({
    operation: 'result.metadata',
    method: 'GET',
    path: `/v3/order/${encodeURIComponent(order.id)}/result/metadata`,
    reader: readMetadata,
    scope: 'read:results',
    owner: () => ownerOf(order),
    about: ownerOf(order),
  });
}

/** Documents of an order: their paths, and the scopes that a viewer token needs in addition to read:orders. */
const documents = {
  RESULT: { operation: 'result.pdf', path: 'result/pdf', scope: 'read:results' },
  REQUISITION: { operation: 'result.requisition-pdf', path: 'requisition/pdf', scope: 'read:profile' },
} as const;

export type DocumentKind = keyof typeof documents;

/** The scope that a viewer token needs for a document, in addition to read:orders. */
export function scopeOfDocument(kind: DocumentKind): 'read:results' | 'read:profile' {
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

/** The order's id if it is a uuid, because the order is read by it; else null. */
function uuid(json: unknown): string | null {
  const value = text(json);
  return value !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? value : null;
}

/** The payload of a `labtest.result.critical` webhook, or null when it cannot be read. It carries no values. */
export const readCriticalResult = optional(
  record((raw) => ({
    orderId: uuid(raw.order_id),
    sampleId: text(raw.sample_id),
    status: text(raw.status),
    interpretation: text(raw.interpretation),
    createdAt: timestamp(raw.created_at),
    updatedAt: timestamp(raw.updated_at),
  })),
);
