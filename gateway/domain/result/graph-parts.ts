import { renamedTo } from '../../graph/arguments.ts';
import { builder, type Fields } from '../../graph/builder.ts';
import type { GraphContext } from '../../graph/context.ts';
import { openEnum, openEnumFields, usualTexts } from '../../graph/open-enum.ts';
import { needs } from '../../graph/permissions.ts';
import { addressRef } from '../address/graph.ts';
import { loadMarker, markerRef } from '../marker/graph.ts';
import { interpretation, resultType } from '../order/read/graph.ts';
import type {
  BiomarkerResult,
  MissingResult,
  PerformingLaboratory,
  ResultSample,
  SourceMarker,
  WrittenDate,
} from './rest.ts';

/** Fields for a date that a lab wrote as text: an instant, a day and the text. */
function dateFields<Name extends string, Parent extends Readonly<Record<Name, WrittenDate>>>(
  t: Fields<Parent>,
  name: Name,
  what: string,
) {
  return {
    [`${name}At`]: t.field({
      type: 'DateTime',
      description: `${what}; null unless the service sent an ISO 8601 date with a time.`,
      resolve: (parent): Date | null => parent[name].at,
    }),
    [`${name}On`]: t.field({
      type: 'Date',
      description: `${what}, as a day; null unless the service sent an ISO 8601 date, with or without a time.`,
      resolve: (parent): string | null => parent[name].on,
    }),
    [`${name}AtRaw`]: t.string({
      description: `${what}, as the service sent it.`,
      resolve: (parent): string | null => parent[name].raw,
    }),
  };
}

/** Fields for the dates of a sample. */
export function sampleDateFields<
  Parent extends Readonly<Record<'collected' | 'received' | 'reported', WrittenDate>>,
>(t: Fields<Parent>) {
  return {
    ...dateFields(t, 'collected', 'When the sample was taken'),
    ...dateFields(t, 'received', 'When the lab received it'),
    ...dateFields(t, 'reported', 'When the lab reported'),
  };
}

/** A value, as far as it is judged by a range. */
interface JudgedValue {
  readonly minRange: number | null;
  readonly maxRange: number | null;
  readonly isAboveRange: boolean | null;
  readonly isBelowRange: boolean | null;
  readonly interpretation: string | null;
}

/** Fields for the expected range of a value, and what the value means. Lab reports have the same. */
export function rangeFields<Parent extends JudgedValue>(t: Fields<Parent>) {
  return {
    minRange: t.float({
      description: 'The lowest expected value; null where there is none.',
      resolve: ({ minRange }) => minRange,
    }),
    maxRange: t.float({
      description: 'The highest expected value; null where there is none.',
      resolve: ({ maxRange }) => maxRange,
    }),
    isAboveRange: t.boolean({
      description: 'Whether it is above the highest expected value.',
      resolve: ({ isAboveRange }) => isAboveRange,
    }),
    isBelowRange: t.boolean({
      description: 'Whether it is below the lowest expected value.',
      resolve: ({ isBelowRange }) => isBelowRange,
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      ...usualTexts('What the value means', 'interpretation'),
    }),
  };
}

export const sampleRef = builder.objectRef<ResultSample>('ResultSample');

const markerNeedsCatalogue = 'Null when it can no longer be ordered.';

function loadSource(context: GraphContext, { markerId }: SourceMarker) {
  return markerId === null ? null : loadMarker(context, Number(markerId));
}

const sourceMarkerRef = builder.objectRef<SourceMarker>('SourceMarker').implement({
  description: 'An ordered marker that a result belongs to.',
  fields: (t) => ({
    markerId: t.exposeID('markerId', { description: "The service's id of the marker." }),
    marker: t.field({
      type: markerRef,
      extensions: needs('read:catalogue'),
      description: `The marker itself. ${markerNeedsCatalogue}`,
      resolve: (source, _args, context) => loadSource(context, source),
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    providerId: t.exposeString('providerId', { description: "The lab's own code of it." }),
  }),
});

export const biomarkerResultRef = builder.objectRef<BiomarkerResult>('BiomarkerResult').implement({
  description: 'One measured value.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was measured.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    value: t.exposeString('value', {
      description: 'The value as the lab wrote it: never rounded, not always a number.',
    }),
    ...openEnumFields(t, resultType, {
      name: 'type',
      description: 'What kind of value it is; null when the kind is not one of these.',
      raw: 'The kind of value as the service sent it.',
    }),
    unit: t.exposeString('unit', {
      description: 'The unit of the value and its range, as the lab wrote it.',
    }),
    referenceRange: t.exposeString('referenceRange', {
      description: 'The expected range as the lab wrote it.',
    }),
    ...rangeFields(t),
    sourceInterpretation: t.exposeString('sourceInterpretation', {
      description: "The lab's own mark for it, such as H for high.",
    }),
    loincCode: t.exposeString('loincCode', { description: 'Its LOINC code.' }),
    loincSlug: t.exposeString('loincSlug', { description: 'Identifier of its LOINC entry.' }),
    providerId: t.exposeString('providerId', { description: "The lab's own code of it." }),
    sourceMarkers: t.expose('sourceMarkers', {
      type: [sourceMarkerRef],
      nullable: false,
      description: 'The ordered markers it belongs to.',
    }),
    marker: t.field({
      type: markerRef,
      extensions: needs('read:catalogue'),
      description: `The ordered marker it belongs to, the first if there are several. ${markerNeedsCatalogue}`,
      resolve: ({ sourceMarkers: [first] }, _args, context) =>
        first === undefined ? null : loadSource(context, first),
    }),
    notes: t.exposeString('notes', { description: 'What the lab noted about it.' }),
    performingLaboratory: t.exposeString('performingLaboratory', {
      description: 'The lab that measured it.',
    }),
    sampleId: t.exposeString('sampleId', { description: 'The number of the sample it was measured in.' }),
    sample: t.expose('sample', { type: sampleRef, description: 'The sample it was measured in.' }),
    ...dateFields(t, 'reported', 'When it was reported'),
  }),
});

const missingReason = openEnum('MissingResultReason', 'Why a result is missing, as far as it is known.', {
  QUANTITY_NOT_SUFFICIENT_FAILURE: 'There was too little of the sample.',
  COLLECTION_PROCESS_FAILURE: 'Something went wrong when the sample was taken.',
  DROP_OFF_FAILURE: 'Something went wrong on the way to the lab.',
  INTERNAL_LAB_FAILURE: 'Something went wrong in the lab.',
  ORDER_ENTRY_FAILURE: 'The order reached the lab wrongly.',
  NON_FAILURE: 'Nothing went wrong: the result is not given.',
  UNKNOWN_FAILURE: 'The lab does not say why.',
  PATIENT_CONDITION_FAILURE: "The patient's condition made the sample unusable.",
  MISSING_RESULT_CALC_FAILURE: 'It is calculated from a result that is missing.',
  MISSING_DEMO_AOE_CALC_FAILURE:
    'It is calculated from an answer or a detail of the patient that is missing.',
  INSUFFICIENT_VOLUME: 'The volume of the sample was too small.',
});

export const missingResultRef = builder.objectRef<MissingResult>('MissingResult').implement({
  description: 'A result that the order should have brought and did not.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What was to be measured.' }),
    slug: t.exposeString('slug', { description: 'Its stable identifier.' }),
    ...openEnumFields(t, missingReason, {
      name: 'reason',
      ...usualTexts('Why it is missing, as the service infers it', 'reason'),
    }),
    notes: t.exposeString('note', { description: 'What the lab noted about it.' }),
    note: t.exposeString('note', {
      deprecationReason: renamedTo('notes'),
      description: 'What the lab noted about it.',
    }),
    loincCode: t.exposeString('loincCode', { description: 'Its LOINC code.' }),
    loincSlug: t.exposeString('loincSlug', { description: 'Identifier of its LOINC entry.' }),
    providerId: t.exposeString('providerId', { description: "The lab's own code of it." }),
    sourceMarkers: t.expose('sourceMarkers', {
      type: [sourceMarkerRef],
      nullable: false,
      description: 'The ordered markers it belongs to.',
    }),
  }),
});

const performingLaboratoryRef = builder.objectRef<PerformingLaboratory>('PerformingLaboratory').implement({
  description: 'A laboratory that worked on a sample.',
  fields: (t) => ({
    code: t.exposeString('code', {
      nullable: false,
      description: 'Its code, as the service sent it.',
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
    phoneNumber: t.exposeString('phoneNumber', { description: 'Its phone number.' }),
    medicalDirector: t.exposeString('medicalDirector', {
      description: 'The physician who is responsible for its work.',
    }),
    address: t.expose('address', { type: addressRef, description: 'Its address.' }),
  }),
});

sampleRef.implement({
  description: 'A sample that results come from.',
  fields: (t) => ({
    sampleId: t.exposeString('sampleId', { description: 'The number on the sample.' }),
    controlNumber: t.exposeString('controlNumber', { description: "The lab's control number." }),
    ...sampleDateFields(t),
    laboratories: t.stringList({
      nullable: false,
      description: 'Names of the laboratories that worked on it.',
      resolve: (sample) => sample.laboratories.flatMap(({ name }) => name ?? []),
    }),
    performingLaboratories: t.expose('laboratories', {
      type: [performingLaboratoryRef],
      nullable: false,
      description: 'The laboratories that worked on it, with their addresses and medical directors.',
    }),
    fasting: t.exposeBoolean('fasting', { description: 'Whether the patient was fasting.' }),
    notes: t.exposeString('notes', { description: 'Clinical notes on it.' }),
    information: t.exposeString('information', {
      description: 'Clinical information that was sent with the sample.',
    }),
    totalVolume: t.exposeString('totalVolume', {
      description: 'The volume of the sample, with its unit, as the lab wrote it.',
    }),
  }),
});
