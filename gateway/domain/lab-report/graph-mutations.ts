import { readUuid } from '../../graph/arguments.ts';
import { builder } from '../../graph/builder.ts';
import {
  featureNotEnabledRef,
  idempotencyConflictRef,
  inputRejectedRef,
  mutationResult,
  notFoundRef,
} from '../../graph/mutation-result.ts';
import { type LabReportCreated, submitLabReport } from './actions.ts';
import { labReportRef } from './graph.ts';

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
  'What came of uploading a lab report.',
  [labReportCreatedRef, inputRejectedRef, idempotencyConflictRef, notFoundRef, featureNotEnabledRef],
);

builder.mutationField('createLabReport', (t) =>
  t.field({
    type: createLabReportResult,
    nullable: false,
    description:
      'Uploads a lab report (multipart request) and starts its reading. Viewer tokens need the scope write:lab-reports.',
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
