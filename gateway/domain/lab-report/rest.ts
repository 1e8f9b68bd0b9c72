import type { Service } from '../../service/service.ts';
import {
  flag,
  id,
  list,
  number,
  optional,
  present,
  record,
  text,
  textOrNumber,
  texts,
  writtenDate,
} from '../parse.ts';

/** A report as the service describes it, and its owner as far as the gateway knows. */
export interface LabReport extends ReturnType<typeof parseLabReport> {
  readonly userId: string | null;
}
export type LabReportData = NonNullable<LabReport['data']>;
export type LabReportResult = LabReportData['results'][number];
export type LoincMatch = LabReportResult['loincMatches'][number];

const readLoincMatches = list(
  record((raw) => ({
    code: text(raw.loinc_code),
    name: text(raw.loinc_name),
    displayName: text(raw.display_name) || null,
    aliases: texts(raw.aliases),
    confidence: number(raw.confidence_score),
  })),
);

const readResults = list(
  record((raw) => ({
    name: text(raw.test_name),
    value: textOrNumber(raw.value),
    type: text(raw.type),
    unit: text(raw.units),
    sampleType: text(raw.sample_type),
    measurementKind: text(raw.measurement_kind),
    sensitivity: text(raw.sensitivity),
    minRange: number(raw.min_reference_range),
    maxRange: number(raw.max_reference_range),
    isAboveRange: flag(raw.is_above_max_range),
    isBelowRange: flag(raw.is_below_min_range),
    interpretation: text(raw.interpretation),
    panelName: text(raw.source_panel_name),
    loincMatches: readLoincMatches(raw.loinc_matches),
    loincMatchStatus: text(raw.loinc_match_status),
  })),
);

const readMetadata = optional(
  record((raw) => ({
    patientFirstName: text(raw.patient_first_name),
    patientLastName: text(raw.patient_last_name),
    born: writtenDate(raw.dob),
    gender: text(raw.gender),
    labName: text(raw.lab_name),
    reported: writtenDate(raw.date_reported),
    collected: writtenDate(raw.date_collected),
    specimenNumber: text(raw.specimen_number),
  })),
);

const readReportData = optional(
  record((raw) => ({ metadata: readMetadata(raw.metadata), results: readResults(raw.results) })),
);

const parseLabReport = record((raw) => ({
  // Older samples of the public service say `job_id`.
  id: present(id(raw.id) ?? id(raw.job_id)),
  status: text(raw.status),
  failureReason: text(raw.failure_reason),
  data: readReportData(raw.data),
  needsHumanReview: flag(raw.needs_human_review),
  isReviewed: flag(raw.is_reviewed),
}));

const readOwnReport = optional(parseLabReport);

/** The most files and bytes of one report (specification, Limits; several images: public service). */
export const labReportLimits = { files: 8, bytesPerFile: 10 * 1024 * 1024, bytes: 31_000_000 } as const;

/** One file of a report: its bytes, and their true media type. */
export interface LabReportFile {
  readonly content: Blob;
  readonly extension: 'pdf' | 'jpeg' | 'png';
}

export interface NewLabReport {
  readonly userId: string;
  readonly needsHumanReview: boolean;
  readonly files: readonly LabReportFile[];
}

/**
 * Uploads a report and starts its reading (`POST /lab_report/v1/parser/job`). Resolves to the service's answer as sent,
 * or to null when the service knows no such user. Sent once. The sender's file names can name people, so they are not
 * sent.
 */
export function createLabReport(service: Service, report: NewLabReport): Promise<unknown> {
  return service.write({
    operation: 'lab-report.create',
    method: 'POST',
    path: '/lab_report/v1/parser/job',
    form: [
      { name: 'user_id', value: report.userId },
      { name: 'needs_human_review', value: String(report.needsHumanReview) },
      ...report.files.map(({ content, extension }, index) => ({
        name: 'file',
        file: content,
        fileName: `report-${index + 1}.${extension}`,
      })),
    ],
    reader: checkLabReport,
    owner: 'anyone',
    scope: 'write:lab-reports',
    about: { userId: report.userId },
  });
}

/**
 * The answer as sent, to be stored. It is parsed now, so that an unreadable answer fails now and not when it is shown.
 */
function checkLabReport(json: unknown): unknown {
  parseLabReport(json);
  return json;
}

/**
 * A report, or null (`GET /lab_report/v1/parser/job/{job_id}`). The service names no owner.
 * @param userId the owner as the gateway knows it; null = unknown, then only the team may see it
 */
export async function getLabReport(
  service: Service,
  reportId: string,
  userId: string | null,
): Promise<LabReport | null> {
  // A token that is limited to some orders sees nothing else of its user.
  if (service.rights.orderIds !== null) return null;
  const report = await service.readOne({
    operation: 'lab-report.get',
    method: 'GET',
    path: `/lab_report/v1/parser/job/${encodeURIComponent(reportId)}`,
    reader: parseLabReport,
    scope: 'read:results',
    owner: () => ({ userId }),
    about: { userId },
  });
  return report && { ...report, userId };
}

/** The report in an answer or a webhook's payload, or null when it cannot be read as one. */
export function readLabReport(payload: unknown, userId: string | null): LabReport | null {
  const report = readOwnReport(payload);
  return report === null ? null : { ...report, userId };
}

/** How far a job has come; an unknown status is between the start and the end. */
const progress: ReadonlyMap<string, number> = new Map([
  ['upload_pending', 1],
  ['started', 2],
  ['pending_review', 3],
  ['completed', 4],
  ['failed', 4],
]);

/**
 * The job and the version that a webhook of a parsing job reports. A job only moves forward, and a review comes last. The
 * service gives no version, and the envelope names the owner. Null for other events.
 */
export function versionOfLabReport(
  eventType: string,
  payload: unknown,
): { readonly id: string; readonly version: number; readonly userId: null } | null {
  if (!eventType.startsWith('lab_report.parsing_job.')) return null;
  const report = readLabReport(payload, null);
  if (report === null) return null;
  const version = (progress.get(report.status ?? '') ?? 3) + (report.isReviewed === true ? 4 : 0);
  return { id: report.id.toLowerCase(), version, userId: null };
}
