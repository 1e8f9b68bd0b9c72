import { createHash } from 'node:crypto';
import { GatewayError, isGatewayError } from '../../errors.ts';
import type { GraphContext } from '../../graph/context.ts';
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
import { checkFiles } from './actions-files.ts';
import { createLabReport, type LabReport, type NewLabReport, readLabReport } from './rest.ts';

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
 * Uploads a report, at most once per idempotency key of this caller for as long as an answer came. The service has
 * no idempotency here and lists no reports, so after a lost answer the key stays unsettled for a minute, and nobody
 * can then tell whether the report arrived (decision 0003).
 * @throws GatewayError FORBIDDEN, IDEMPOTENCY_UNSETTLED, UPSTREAM_*
 */
export async function submitLabReport(
  context: GraphContext,
  upload: LabReportUpload,
): Promise<CreateLabReportResult> {
  const { service, idempotency, events } = context;
  const { userId, needsHumanReview, idempotencyKey } = upload;
  service.rights.require('write:lab-reports');
  const { files, issues } = await checkFiles(upload.files);
  const faults = [...issues, ...findKeyFault(idempotencyKey)];
  if (faults.length > 0) return inputRejected(faults);
  const kind = 'write lab-report.create';
  if (!service.rights.owns({ userId }, kind)) return notFound('user');

  const report: NewLabReport = { userId, needsHumanReview, files };
  const perform = async () => {
    const answer = await createLabReport(service, report);
    const created = readLabReport(answer, userId);
    // Before the caller hears of it: the owner must be known by the time the report is asked for.
    if (created !== null) await events.claim(created.id.toLowerCase(), { userId, version: 0 });
    return answer;
  };
  try {
    const outcome = await idempotency.run({
      key: hash(`${service.rights.key} lab-report`, idempotencyKey),
      fingerprint: await fingerprintOf(report),
      perform,
      recover: null,
      unreadable: null,
    });
    if (outcome.kind === 'conflict') return idempotencyConflict();
    if (outcome.kind === 'nothing' || !service.rights.mayShow({ userId }, kind)) return notFound('user');
    return { kind: 'LabReportCreated', labReport: readCreated(outcome.answer, userId) };
  } catch (error) {
    if (isGatewayError(error, 'UPSTREAM_REJECTED') && error.status === 413) {
      return inputRejected([{ path: ['files'], message: 'The service does not take files as large.' }]);
    }
    return toRefusal(error, { file: 'files' });
  }
}

/** @throws GatewayError UPSTREAM_UNREADABLE when the service said yes in a way that cannot be read */
function readCreated(answer: unknown, userId: string): LabReport {
  const created = readLabReport(answer, userId);
  if (created !== null) return created;
  throw new GatewayError(
    'UPSTREAM_UNREADABLE',
    'The service said yes in an answer that cannot be read. Its webhook will tell of the report.',
    { mayBeDone: true },
  );
}

function findKeyFault(idempotencyKey: string): readonly InputIssue[] {
  if (idempotencyKey.trim() !== '' && idempotencyKey.length <= 255) return [];
  return [{ path: ['idempotencyKey'], message: 'Give 1 to 255 characters, new for each new report.' }];
}

/** Different for every different upload; the files are read through, not gathered. */
async function fingerprintOf({ userId, needsHumanReview, files }: NewLabReport): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify([userId, needsHumanReview]));
  for (const { content } of files) {
    digest.update(`|${content.size}|`);
    for await (const chunk of content.stream()) digest.update(chunk);
  }
  return digest.digest('hex');
}

function hash(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
