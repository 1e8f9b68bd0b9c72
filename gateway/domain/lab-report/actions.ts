import { createHash, hash } from 'node:crypto';
import { GatewayError, isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
import { findKeyIssues } from '../../graph/input-rules.ts';
import {
  type FeatureNotEnabled,
  type IdempotencyConflict,
  type InputIssue,
  type InputRejected,
  idempotencyConflict,
  inputRejected,
  type NotFound,
  notFound,
  toRefusal,
} from '../../graph/user-error.ts';
import { afterWrite } from '../settle.ts';
import {
  createLabReport,
  type LabReport,
  type LabReportFile,
  labReportLimits,
  type NewLabReport,
  readLabReport,
} from './rest.ts';

export interface LabReportCreated {
  readonly kind: 'LabReportCreated';
  readonly labReport: LabReport;
}

export type CreateLabReportResult =
  | LabReportCreated
  | InputRejected
  | IdempotencyConflict
  | NotFound
  | FeatureNotEnabled;

export interface LabReportUpload {
  readonly userId: string;
  readonly files: readonly File[];
  readonly needsHumanReview: boolean;
  readonly idempotencyKey: string;
}

/**
 * Uploads a report, at most once per idempotency key of this caller if the answer arrives. The service has no
 * idempotency here and lists no reports, so after a lost answer the key stays unsettled for a minute, and then it is
 * unknown whether the report arrived (decision 0003).
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitLabReport(
  context: GraphContext,
  upload: LabReportUpload,
): Promise<CreateLabReportResult> {
  const { service, idempotency, events } = context;
  const { userId, needsHumanReview, idempotencyKey } = upload;
  const { files, issues } = await checkFiles(upload.files);
  const message = 'Give 1 to 255 characters, new for each new report.';
  const faults = [...issues, ...findKeyIssues(idempotencyKey, message)];
  if (faults.length > 0) return inputRejected(faults);
  const kind = 'write lab-report.create';
  if (!service.rights.owns({ userId }, kind)) return notFound('user');

  const report: NewLabReport = { userId, needsHumanReview, files };
  try {
    const outcome = await idempotency.run({
      key: hash('sha256', JSON.stringify([`${service.rights.key} lab-report`, idempotencyKey]), 'base64url'),
      fingerprint: await fingerprintOf(report),
      perform: () => createLabReport(service, report),
      recover: null,
      unreadable: null,
    });
    if (outcome.kind === 'conflict') return idempotencyConflict();
    if (outcome.kind === 'nothing' || !service.rights.mayShow({ userId }, kind)) return notFound('user');
    const labReport = readCreated(outcome.answer, userId);
    // Stored before the caller gets the id, because the owner must be known when the report is read.
    await afterWrite(() => events.claim(labReport.id.toLowerCase(), { userId, version: 0 }));
    return { kind: 'LabReportCreated', labReport };
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_REJECTED') && error.status === 413) {
      return inputRejected([
        { path: ['files'], code: 'TOO_LONG', message: 'The service does not take files as large.' },
      ]);
    }
    return toRefusal(error, { file: 'files' });
  }
}

/** @throws GatewayError UPSTREAM_UNREADABLE when the answer to a successful upload cannot be read */
function readCreated(answer: unknown, userId: string): LabReport {
  const created = readLabReport(answer, userId);
  if (created !== null) return created;
  throw new GatewayError(
    'UPSTREAM_UNREADABLE',
    'The service reported success, but its answer cannot be read. A webhook will report the result.',
    { mayBeDone: true },
  );
}

/** A different text for every different upload. Files are hashed as they are read and not held in memory. */
async function fingerprintOf({ userId, needsHumanReview, files }: NewLabReport): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify([userId, needsHumanReview]));
  for (const { content } of files) {
    digest.update(`|${content.size}|`);
    for await (const chunk of content.stream()) digest.update(chunk);
  }
  return digest.digest('hex');
}

/** The first bytes of each type of file; the name and type that the sender gives are not trusted. */
const signatures = [
  { extension: 'pdf', type: 'application/pdf', start: Buffer.from('%PDF-') },
  { extension: 'jpeg', type: 'image/jpeg', start: Buffer.from([0xff, 0xd8, 0xff]) },
  {
    extension: 'png',
    type: 'image/png',
    start: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  },
] as const;

export interface CheckedFiles {
  readonly files: readonly LabReportFile[];
  readonly issues: readonly InputIssue[];
}

/** Finds the types of the files by their first bytes, and all their faults at once. */
async function checkFiles(given: readonly File[]): Promise<CheckedFiles> {
  const found = await Promise.all(given.map(readFile));
  const files = found.filter((file) => file !== null);
  const issues = given.flatMap((file, index) => {
    const fault = findFault(file, found[index] ?? null);
    return fault === null ? [] : [{ path: ['files', String(index)], ...fault }];
  });
  const together = findFaultOfAll(given, files);
  return { files, issues: together === null ? issues : [{ path: ['files'], ...together }, ...issues] };
}

/** The file under its true type; its bytes are shared, not copied. */
async function readFile(file: File): Promise<LabReportFile | null> {
  const start = Buffer.from(await file.slice(0, 8).arrayBuffer());
  const known = signatures.find((signature) =>
    start.subarray(0, signature.start.length).equals(signature.start),
  );
  if (known === undefined) return null;
  return { extension: known.extension, content: file.slice(0, file.size, known.type) };
}

type Fault = Omit<InputIssue, 'path'>;

function findFault(file: File, read: LabReportFile | null): Fault | null {
  if (file.size === 0) return { code: 'REQUIRED', message: 'The file is empty.' };
  if (file.size > labReportLimits.bytesPerFile) {
    return { code: 'TOO_LONG', message: 'A file may have 10 MB at most.' };
  }
  return read === null
    ? { code: 'INVALID', message: 'The file is neither a PDF nor a JPEG nor a PNG.' }
    : null;
}

function findFaultOfAll(given: readonly File[], files: readonly LabReportFile[]): Fault | null {
  if (given.length === 0) return { code: 'REQUIRED', message: 'Give at least one file.' };
  if (given.length > labReportLimits.files) {
    return { code: 'TOO_LONG', message: `Give ${labReportLimits.files} files at most.` };
  }
  const hasPdf = files.some(({ extension }) => extension === 'pdf');
  if (given.length > 1 && hasPdf) {
    return { code: 'CONFLICT', message: 'Give a PDF alone; only images can come together.' };
  }
  const bytes = given.reduce((sum, file) => sum + file.size, 0);
  return bytes > labReportLimits.bytes
    ? { code: 'TOO_LONG', message: 'The files may have 31 MB together at most.' }
    : null;
}
