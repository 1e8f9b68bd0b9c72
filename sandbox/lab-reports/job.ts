import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { measure } from '../results/measure.ts';
import type { Service } from '../service.ts';
import { biomarkers } from '../world/biomarkers.ts';
import { seededNumber, seededUuid } from '../world/ids.ts';
import { type FailureReason, failureReasons, type LabReportJob } from '../world/state.ts';
import { findUser, type World } from '../world/world.ts';

interface NewJob {
  readonly userId: string;
  readonly needsHumanReview: boolean;
  readonly createdAt: number;
  readonly files: readonly Buffer[];
}

/** The sandbox's own rule: a file that contains `sandbox:low_quality`, or another reason so marked, fails with it. */
function readFailure(files: readonly Buffer[]): FailureReason | null {
  return failureReasons.find((reason) => files.some((file) => file.includes(`sandbox:${reason}`))) ?? null;
}

/** Adds a started job to the world. */
export function startJob({ state }: World, from: NewJob): LabReportJob {
  const ordinal = state.labReports.length;
  const job = createJob(seededUuid(state.seed, 'lab-report', ordinal), ordinal, from);
  state.labReports.push(job);
  return job;
}

function createJob(id: string, ordinal: number, from: NewJob): LabReportJob {
  return {
    id,
    ordinal,
    userId: from.userId,
    status: 'started',
    willFail: readFailure(from.files),
    needsHumanReview: from.needsHumanReview,
    isReviewed: false,
    createdAt: from.createdAt,
  };
}

/** A plausible started job of the user, for a sample; it is not stored. */
export function sampleJob({ state }: World, userId: string, createdAt: number): LabReportJob {
  const id = seededUuid(state.seed, `sample-lab-report ${userId}`, 0);
  return createJob(id, 0, { userId, needsHumanReview: false, createdAt, files: [] });
}

/** The job with this id, if there is one. */
export function findJob({ state }: World, jobId: string): LabReportJob | undefined {
  return state.labReports.find((job) => job.id === jobId.toLowerCase());
}

/** Takes the job one step on: read or failed, then reviewed where a review was requested. False at its end. */
function advance(job: LabReportJob): boolean {
  if (job.status === 'started') {
    job.status = job.willFail === null ? 'completed' : 'failed';
    return true;
  }
  if (job.status === 'failed' || !job.needsHumanReview || job.isReviewed) return false;
  job.isReviewed = true;
  return true;
}

function presentResult(world: World, job: LabReportJob, index: number) {
  const [name, loinc, unit] = biomarkers[index] ?? ['Unknown', '0-0', null];
  const gender = findUser(world, job.userId)?.demographics?.gender ?? 'unknown';
  const place = { seed: world.state.seed, ordinal: 10_000 + job.ordinal };
  const interpretation = index % 5 === 0 ? 'abnormal' : 'normal';
  const measured = measure({ ...place, loinc, gender, interpretation });
  const isSure = index % 3 !== 0;
  return {
    test_name: name.toUpperCase(),
    value: measured.result,
    sample_type: 'serum_plasma_blood',
    measurement_kind: name.includes('Calculated') ? 'calculated' : 'direct',
    type: 'numeric',
    units: unit,
    max_reference_range: measured.max,
    min_reference_range: measured.min,
    source_panel_name: null,
    sensitivity: 'unknown',
    loinc_matches: [
      {
        loinc_code: loinc,
        loinc_name: name,
        display_name: name,
        aliases: [],
        confidence_score: isSure ? 0.98 : 0.61,
      },
    ],
    loinc_match_status: isSure ? 'auto_match' : 'needs_review',
    interpretation: measured.interpretation,
    is_above_max_range: measured.isAbove,
    is_below_min_range: measured.isBelow,
  };
}

function presentData(world: World, job: LabReportJob) {
  const known = findUser(world, job.userId)?.demographics;
  const first = seededNumber(world.state.seed, 'lab-report first', job.ordinal) % (biomarkers.length - 6);
  const day = new Date(job.createdAt).toISOString().slice(0, 10);
  return {
    metadata: {
      patient_first_name: known?.first_name ?? null,
      patient_last_name: known?.last_name ?? null,
      dob: known?.dob ?? null,
      gender: known?.gender === 'female' || known?.gender === 'male' ? known.gender : 'other',
      lab_name: 'Pretend Pathology (invented)',
      date_reported: day,
      date_collected: day,
      specimen_number: createHash('sha256').update(job.id).digest('hex').slice(0, 10).toUpperCase(),
    },
    results: Array.from({ length: 6 }, (_, place) => presentResult(world, job, first + place)),
  };
}

/** The job as the service shows it, in answers and in webhooks (public service: ParsingJob). */
export function presentJob(world: World, job: LabReportJob) {
  return {
    id: job.id,
    status: job.status,
    failure_reason: job.status === 'failed' ? job.willFail : null,
    data: job.status === 'completed' ? presentData(world, job) : null,
    needs_human_review: job.needsHumanReview,
    is_reviewed: job.isReviewed,
  };
}

/** The duration of reading and of reviewing a report, in real time. */
const stepMs = 2000;

/** Sends `lab_report.parsing_job.created` or `.updated` for the job as it is now. */
export function announceJob({ world, announcer }: Service, job: LabReportJob): void {
  const eventType = `lab_report.parsing_job.${job.status === 'started' ? 'created' : 'updated'}`;
  announcer.send(eventType, presentJob(world, job), { userId: job.userId });
}

/** Takes the job to its end, step by step, with a webhook for each. */
export async function runToEnd(service: Service, job: LabReportJob): Promise<void> {
  const { closing, speed, save } = service;
  for (;;) {
    await sleep(stepMs / speed, undefined, { signal: closing, ref: false }).catch(() => undefined);
    if (closing.aborted || !advance(job)) return;
    announceJob(service, job);
    await save();
  }
}
