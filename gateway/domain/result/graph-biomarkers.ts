import { builder, type Fields } from '../../graph/builder.ts';
import { openEnum, openEnumFields } from '../../graph/open-enum.ts';
import { interpretation } from '../order/read/graph.ts';
import type { BiomarkerResult, SourceMarker, WrittenDate } from './rest.ts';

/** The dates of a sample, which labs write as text. */
interface SampleDates {
  readonly collected: WrittenDate;
  readonly received: WrittenDate;
  readonly reported: WrittenDate;
}

/** Fields for the dates of a sample: an instant, a day and the text of each. */
export function sampleDateFields<Parent extends SampleDates>(t: Fields<Parent>) {
  const taken = dateFields(t, 'When the sample was taken', ({ collected }: Parent) => collected);
  const received = dateFields(t, 'When the lab received it', (parent: Parent) => parent.received);
  return {
    collectedAt: taken.at,
    collectedOn: taken.on,
    collectedAtRaw: taken.raw,
    receivedAt: received.at,
    receivedOn: received.on,
    receivedAtRaw: received.raw,
    ...reportDateFields(t, 'When the lab reported'),
  };
}

/** The same for a type with only the date of its report. */
function reportDateFields<Parent extends Pick<SampleDates, 'reported'>>(t: Fields<Parent>, what: string) {
  const { at, on, raw } = dateFields(t, what, ({ reported }: Parent) => reported);
  return { reportedAt: at, reportedOn: on, reportedAtRaw: raw };
}

function dateFields<Parent>(t: Fields<Parent>, what: string, read: (parent: Parent) => WrittenDate) {
  return {
    at: t.field({
      type: 'DateTime',
      description: `${what}; null unless the service sent an ISO 8601 date with a time.`,
      resolve: (parent) => read(parent).at,
    }),
    on: t.field({
      type: 'Date',
      description: `${what}, as a day; null unless the service sent an ISO 8601 date, with or without a time.`,
      resolve: (parent) => read(parent).on,
    }),
    raw: t.string({
      description: `${what}, as the service sent it.`,
      resolve: (parent) => read(parent).raw,
    }),
  };
}

const resultType = openEnum('ResultType', 'What kind of value a result has.', {
  NUMERIC: 'A number, as text.',
  RANGE: 'A bound or a range, such as <0.3.',
  COMMENT: 'A remark of the lab.',
  CODED_VALUE: 'A word of a fixed list, such as Negative.',
});

export const sourceMarkerRef = builder.objectRef<SourceMarker>('SourceMarker').implement({
  description: 'An ordered marker that a result belongs to.',
  fields: (t) => ({
    markerId: t.exposeID('markerId', { description: "The service's id of the marker." }),
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
    minRange: t.exposeFloat('minRange', {
      description: 'The lowest expected value; null where there is none.',
    }),
    maxRange: t.exposeFloat('maxRange', {
      description: 'The highest expected value; null where there is none.',
    }),
    isAboveRange: t.exposeBoolean('isAboveRange', {
      description: 'Whether it is above the highest expected value.',
    }),
    isBelowRange: t.exposeBoolean('isBelowRange', {
      description: 'Whether it is below the lowest expected value.',
    }),
    ...openEnumFields(t, interpretation, {
      name: 'interpretation',
      description: 'What the value means; null when the interpretation is not one of these.',
      raw: 'The interpretation as the service sent it.',
    }),
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
    notes: t.exposeString('notes', { description: 'What the lab noted about it.' }),
    performingLaboratory: t.exposeString('performingLaboratory', {
      description: 'The lab that measured it.',
    }),
    sampleId: t.exposeString('sampleId', { description: 'The number of the sample it was measured in.' }),
    ...reportDateFields(t, 'When it was reported'),
  }),
});
