import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { upstreamCallCost } from '../../graph/cost.ts';
import { idempotencyConflictRef, mutationResult, usualRefusals } from '../../graph/mutation-result.ts';
import { defineNode } from '../../graph/node.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import type { ServiceEvent } from '../service-event/actions.ts';
import { serviceEventType } from '../service-event/graph.ts';
import { loadUser, userRef } from '../user/graph.ts';
import { type LabReportCreated, submitLabReport } from './actions.ts';
import { labReportResultRef } from './graph-results.ts';
import { getLabReport, type LabReport, type LabReportData, readLabReport } from './rest.ts';

const reportStatus = openEnum('LabReportStatus', 'How far the reading of a lab report has come.', {
  UPLOAD_PENDING: 'The upload is not complete.',
  STARTED: 'It is being read.',
  COMPLETED: 'It was read; its results are there.',
  FAILED: 'It could not be read; the failure reason says why.',
  PENDING_REVIEW: 'It was read and waits for a person to look at it.',
});

const failureReason = openEnum('LabReportFailureReason', 'Why a lab report could not be read.', {
  INVALID_INPUT: 'It is no readable lab report.',
  LOW_QUALITY: 'The image is too poor.',
  NOT_ENGLISH: 'It is not in English.',
  TOO_MANY_PAGES: 'It has too many pages.',
  PROCESSING_ERROR: 'The reading itself failed.',
});

const reviewState = builder.enumType('LabReportReview', {
  description: 'Whether a person has looked at what was read.',
  values: {
    NOT_REQUESTED: { description: 'Nobody was asked to look at it.' },
    PENDING: { description: 'A person was asked to look at it and has not done so yet.' },
    DONE: { description: 'A person has looked at it.' },
  } as const,
});

/** The service's two flags as one state; null when it sent neither. */
function reviewOf({
  status,
  needsHumanReview,
  isReviewed,
}: LabReport): 'NOT_REQUESTED' | 'PENDING' | 'DONE' | null {
  if (isReviewed) return 'DONE';
  if (needsHumanReview || reportStatus.known(status) === 'PENDING_REVIEW') return 'PENDING';
  return needsHumanReview === null ? null : 'NOT_REQUESTED';
}

/**
 * The report as the caller may see it, or null. The service names no owner: it is known from the upload through this
 * gateway or from the report's webhook, and without either only the team sees it.
 */
async function loadLabReport({ service, events }: GraphContext, id: string): Promise<LabReport | null> {
  const known = await events.latest(id);
  return await getLabReport(service, id, known?.userId ?? null);
}

const metadataRef = builder.objectRef<NonNullable<LabReportData['metadata']>>('LabReportMetadata').implement({
  description: 'The head of a lab report, as far as it could be read.',
  fields: (t) => ({
    patientFirstName: t.exposeString('patientFirstName', {
      extensions: needs('read:profile'),
      description: 'First name of the patient.',
    }),
    patientLastName: t.exposeString('patientLastName', {
      extensions: needs('read:profile'),
      description: 'Last name of the patient.',
    }),
    dob: t.field({
      type: 'Date',
      extensions: needs('read:profile'),
      description: 'Date of birth of the patient; null when the text is not an ISO 8601 date.',
      resolve: ({ born }) => born.on,
    }),
    dobRaw: t.string({
      extensions: needs('read:profile'),
      description: 'Date of birth of the patient, as written in the report.',
      resolve: ({ born }) => born.raw,
    }),
    gender: t.exposeString('gender', {
      extensions: needs('read:profile'),
      description: 'Gender of the patient, as the service has it.',
    }),
    labName: t.exposeString('labName', { description: 'The lab that wrote the report.' }),
    reportedOn: t.field({
      type: 'Date',
      description: 'The day of the report; null when the text is not an ISO 8601 date.',
      resolve: ({ reported }) => reported.on,
    }),
    reportedOnRaw: t.string({
      description: 'The day of the report, as written in the report.',
      resolve: ({ reported }) => reported.raw,
    }),
    collectedOn: t.field({
      type: 'Date',
      description: 'The day the sample was taken; null when the text is not an ISO 8601 date.',
      resolve: ({ collected }) => collected.on,
    }),
    collectedOnRaw: t.string({
      description: 'The day the sample was taken, as written in the report.',
      resolve: ({ collected }) => collected.raw,
    }),
    specimenNumber: t.exposeString('specimenNumber', { description: "The lab's number of the sample." }),
  }),
});

const labReportRef = builder.objectRef<LabReport>('LabReport').implement({
  description: 'An uploaded lab report, and what was read from it.',
  fields: (t) => ({
    id: t.exposeID('id', { nullable: false, description: "The service's id of the report (uuid)." }),
    userId: t.exposeID('userId', {
      description:
        'Id of the user it is about; null where neither the upload nor a webhook came through this gateway.',
    }),
    user: t.field({
      complexity: upstreamCallCost,
      type: userRef,
      extensions: needs('read:orders'),
      description: 'The user it is about, where known.',
      resolve: (report, _args, context, info) =>
        report.userId === null ? null : loadUser(context, report.userId, info),
    }),
    ...openEnumFields(t, reportStatus, {
      name: 'status',
      ...usualTexts('How far its reading has come', 'status'),
    }),
    ...openEnumFields(t, failureReason, {
      name: 'failureReason',
      description: 'Why it could not be read; null when it was, or when the reason is not one of these.',
      raw: 'The failure reason as the service sent it.',
    }),
    review: t.field({
      type: reviewState,
      description: 'Whether a person has looked at it; null when the service does not say.',
      resolve: reviewOf,
    }),
    needsHumanReview: t.exposeBoolean('needsHumanReview', {
      description: 'Whether a person was asked to look at it.',
    }),
    isReviewed: t.exposeBoolean('isReviewed', { description: 'Whether a person has looked at it.' }),
    metadata: t.field({
      type: metadataRef,
      description: 'The head of the report; null until it was read.',
      resolve: (report) => report.data?.metadata ?? null,
    }),
    results: t.field({
      type: [labReportResultRef],
      description: 'The results read from it; null until it was read.',
      resolve: (report) => report.data?.results ?? null,
    }),
  }),
});

defineNode(labReportRef, {
  idOf: (report) => report.id,
  ids: 'uuid',
  needs: 'read:results',
  load: loadLabReport,
});

builder.queryField('labReport', (t) =>
  t.field({
    type: labReportRef,
    extensions: needs('read:results'),
    description: 'One lab report by id; null when there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: "The report's id (uuid)." }) },
    resolve: (_root, args, context) => loadLabReport(context, readUuid('id', args.id)),
  }),
);

const createLabReportInput = builder.inputType('CreateLabReportInput', {
  description: 'A lab report to be read.',
  fields: (t) => ({
    userId: t.id({ required: true, description: 'Id of the user it is about (uuid).' }),
    files: t.field({
      type: ['File'],
      required: true,
      description: 'One PDF, or up to 8 JPEG or PNG pages: 10 MB each, 31 MB together at most.',
    }),
    needsHumanReview: t.boolean({
      defaultValue: false,
      description: 'Whether a person is to look at what was read.',
    }),
    idempotencyKey: t.string({
      required: true,
      description: 'Your own key, new for each new report: repeating a call with it uploads nothing again.',
    }),
  }),
});

const labReportCreatedRef = builder.objectRef<LabReportCreated>('LabReportCreated').implement({
  description: 'The report was uploaded; its reading has begun.',
  fields: (t) => ({
    labReport: t.expose('labReport', {
      type: labReportRef,
      nullable: false,
      description: 'The report as the service answered it: not read yet.',
    }),
  }),
});

const createLabReportResult = mutationResult(
  'CreateLabReportResult',
  'The result of uploading a lab report.',
  [labReportCreatedRef, idempotencyConflictRef, ...usualRefusals],
);

builder.mutationField('createLabReport', (t) =>
  t.field({
    type: createLabReportResult,
    extensions: needs('write:lab-reports'),
    description: 'Uploads a lab report (multipart request) and starts its reading.',
    args: { input: t.arg({ type: createLabReportInput, required: true, description: 'The report.' }) },
    resolve: (_root, { input }, context) =>
      submitLabReport(context, {
        userId: readUuid('input.userId', input.userId),
        files: input.files,
        needsHumanReview: input.needsHumanReview ?? false,
        idempotencyKey: input.idempotencyKey,
      }),
  }),
);

const labReportOf = ({ type, payload, userId }: ServiceEvent) =>
  type.startsWith('lab_report.parsing_job.') ? readLabReport(payload, userId) : null;

serviceEventType('LabReportChanged', {
  description: 'A lab report was uploaded, read or reviewed.',
  read: labReportOf,
  fields: (t) => ({
    labReport: t.field({
      type: labReportRef,
      description: 'The report as the service reported it.',
      resolve: labReportOf,
    }),
  }),
});
