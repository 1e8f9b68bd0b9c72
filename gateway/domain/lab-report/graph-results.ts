import { builder } from '../../graph/builder.ts';
import { openEnum, openEnumFields } from '../../graph/open-enum.ts';
import { rangeFields } from '../result/graph-parts.ts';
import type { LabReportResult, LoincMatch } from './rest.ts';

const resultType = openEnum('LabReportResultType', 'What kind of value was read.', {
  NUMERIC: 'A number, as text.',
  RANGE: 'A bound or a range.',
  COMMENT: 'A remark.',
  BOOLEAN: 'Yes or no.',
  DURATION: 'A length of time.',
  PERCENTAGE: 'A percentage.',
  RATIO: 'A ratio.',
});

const sampleType = openEnum('LabReportSampleType', 'What a value was measured in.', {
  URINE: 'It was urine.',
  SERUM_PLASMA_BLOOD: 'It was serum, plasma or blood.',
  CAPILLARY_BLOOD: 'It was blood from a finger.',
  STOOL: 'It was stool.',
  SALIVA: 'It was saliva.',
  OTHER: 'It was something else.',
  UNKNOWN: 'The report does not say.',
});

const measurementKind = openEnum('LabReportMeasurementKind', 'How a value came about.', {
  DIRECT: 'It was measured.',
  CALCULATED: 'It was calculated from others.',
  RATIO: 'It is the ratio of others.',
  UNKNOWN: 'The report does not say.',
});

const sensitivity = openEnum('LabReportSensitivity', 'Whether a test was of the sensitive kind.', {
  SENSITIVE: 'The test was of the sensitive kind.',
  INSENSITIVE: 'The test was not of the sensitive kind.',
  UNKNOWN: 'The report does not say.',
});

const matchStatus = openEnum('LoincMatchStatus', 'How sure the match with a LOINC code is.', {
  AUTO_MATCH: 'Sure enough to be used.',
  NEEDS_REVIEW: 'A person should look at it.',
  NO_MATCH: 'No code was found.',
});

const loincMatchRef = builder.objectRef<LoincMatch>('LoincMatch').implement({
  description: 'A LOINC code that a result may stand for.',
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The LOINC code.' }),
    name: t.exposeString('name', { description: 'Its LOINC name.' }),
    displayName: t.exposeString('displayName', { description: 'Its name for people.' }),
    aliases: t.exposeStringList('aliases', { nullable: false, description: 'Other names of it.' }),
    confidence: t.exposeFloat('confidence', {
      description: 'How sure the match is, as the service scores it.',
    }),
  }),
});

export const labReportResultRef = builder.objectRef<LabReportResult>('LabReportResult').implement({
  description: 'One value read from a lab report.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the test, as the report has it.' }),
    value: t.exposeString('value', { description: 'The value as text, not always a number.' }),
    ...openEnumFields(t, resultType, {
      name: 'type',
      description: 'What kind of value it is; null when the kind is not one of these.',
      raw: 'The kind of value as the service sent it.',
    }),
    unit: t.exposeString('unit', { description: 'The unit of the value and its range.' }),
    ...rangeFields(t),
    ...openEnumFields(t, sampleType, {
      name: 'sampleType',
      description: 'What it was measured in; null when that is not one of these.',
      raw: 'What it was measured in, as the service sent it.',
    }),
    ...openEnumFields(t, measurementKind, {
      name: 'measurementKind',
      description: 'How it came about; null when that is not one of these.',
      raw: 'How it came about, as the service sent it.',
    }),
    ...openEnumFields(t, sensitivity, {
      name: 'sensitivity',
      description: 'Whether the test was of the sensitive kind; null when that is not one of these.',
      raw: 'The sensitivity as the service sent it.',
    }),
    panelName: t.exposeString('panelName', { description: 'The panel it stood under in the report.' }),
    ...openEnumFields(t, matchStatus, {
      name: 'loincMatchStatus',
      description: 'How sure its LOINC code is; null when that is not one of these.',
      raw: 'How sure its LOINC code is, as the service sent it.',
    }),
    loincMatches: t.expose('loincMatches', {
      type: [loincMatchRef],
      nullable: false,
      description: 'The LOINC codes it may stand for, as the service lists them.',
    }),
  }),
});
