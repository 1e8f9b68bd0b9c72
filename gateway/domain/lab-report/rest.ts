import { z } from 'zod';
import type { Service } from '../../upstream/service.ts';
import { day, flag, id, list, text } from '../reading.ts';

/** A report as the service describes it, and whose it is as far as the gateway knows. */
export interface LabReport extends z.infer<typeof labReportShape> {
  readonly userId: string | null;
}
export type LabReportData = NonNullable<LabReport['data']>;
export type LabReportResult = LabReportData['results'][number];
export type LoincMatch = LabReportResult['loincMatches'][number];

const number = z.number().nullable().catch(null);

const loincMatchShape = z
  .object({
    loinc_code: text,
    loinc_name: text,
    display_name: text,
    aliases: list(z.string()),
    confidence_score: number,
  })
  .transform((raw) => ({
    code: raw.loinc_code,
    name: raw.loinc_name,
    displayName: raw.display_name || null,
    aliases: raw.aliases,
    confidence: raw.confidence_score,
  }));

const resultShape = z
  .object({
    test_name: text,
    value: z
      .union([z.string(), z.number().transform(String)])
      .nullable()
      .catch(null),
    type: text,
    units: text,
    sample_type: text,
    measurement_kind: text,
    sensitivity: text,
    min_reference_range: number,
    max_reference_range: number,
    is_above_max_range: flag,
    is_below_min_range: flag,
    interpretation: text,
    source_panel_name: text,
    loinc_matches: list(loincMatchShape),
    loinc_match_status: text,
  })
  .transform((raw) => ({
    name: raw.test_name,
    value: raw.value,
    type: raw.type,
    unit: raw.units,
    sampleType: raw.sample_type,
    measurementKind: raw.measurement_kind,
    sensitivity: raw.sensitivity,
    minRange: raw.min_reference_range,
    maxRange: raw.max_reference_range,
    isAboveRange: raw.is_above_max_range,
    isBelowRange: raw.is_below_min_range,
    interpretation: raw.interpretation,
    panelName: raw.source_panel_name,
    loincMatches: raw.loinc_matches,
    loincMatchStatus: raw.loinc_match_status,
  }));

const dataShape = z
  .object({
    metadata: z
      .object({
        patient_first_name: text,
        patient_last_name: text,
        dob: day,
        gender: text,
        lab_name: text,
        date_reported: day,
        date_collected: day,
        specimen_number: text,
      })
      .transform((raw) => ({
        patientFirstName: raw.patient_first_name,
        patientLastName: raw.patient_last_name,
        dob: raw.dob,
        gender: raw.gender,
        labName: raw.lab_name,
        reportedOn: raw.date_reported,
        collectedOn: raw.date_collected,
        specimenNumber: raw.specimen_number,
      }))
      .nullable()
      .catch(null),
    results: list(resultShape),
  })
  .nullable()
  .catch(null);

const labReportShape = z
  .object({
    id: id.optional().catch(undefined),
    job_id: id.optional().catch(undefined),
    status: text,
    failure_reason: text,
    data: dataShape,
    needs_human_review: flag,
    is_reviewed: flag,
  })
  .transform((raw, context) => {
    // Older samples of the public service say `job_id`.
    const reportId = raw.id ?? raw.job_id;
    if (reportId === undefined) {
      context.addIssue({ code: 'custom', message: 'A report without an id.' });
      return z.NEVER;
    }
    return {
      id: reportId,
      status: raw.status,
      failureReason: raw.failure_reason,
      data: raw.data,
      needsHumanReview: raw.needs_human_review,
      isReviewed: raw.is_reviewed,
    };
  });

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
 * Uploads a report and starts its reading (`POST /lab_report/v1/parser/job`); gives back the service's answer as
 * sent, or null when it knows no such user. Sent once. The file names of the sender can name people, so they are not
 * handed on.
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

/** The answer as it is, to be kept; one that cannot be read is a fault now and not when it is shown. */
function checkLabReport(json: unknown): unknown {
  labReportShape.parse(json);
  return json;
}

/**
 * A report, or null (`GET /lab_report/v1/parser/job/{job_id}`). The service names no owner.
 * @param userId whose it is as the gateway knows; null = unknown, then only the team may see it
 */
export async function getLabReport(
  service: Service,
  reportId: string,
  userId: string | null,
): Promise<LabReport | null> {
  // A token that is limited to some orders sees nothing else of its user.
  if (service.rights.orderIds !== null) return null;
  return await service.readOne({
    operation: 'lab-report.get',
    method: 'GET',
    path: `/lab_report/v1/parser/job/${encodeURIComponent(reportId)}`,
    reader: (json) => ({ ...labReportShape.parse(json), userId }),
    scope: 'read:results',
    owner: () => ({ userId }),
    about: { userId },
  });
}

/** The report in an answer or a webhook's payload, or null when it cannot be read as one. */
export function readLabReport(payload: unknown, userId: string | null): LabReport | null {
  const report = labReportShape.safeParse(payload).data;
  return report === undefined ? null : { ...report, userId };
}

/** How far a job has come; what is not known stands between the start and the end. */
const progress: ReadonlyMap<string, number> = new Map([
  ['upload_pending', 1],
  ['started', 2],
  ['pending_review', 3],
  ['completed', 4],
  ['failed', 4],
]);

/**
 * What a webhook of a parsing job is a new version of: the job, which only ever goes on; a review comes last. The
 * service gives no version, and the envelope says whose it is. Null for other events.
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
