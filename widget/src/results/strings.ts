/** Every text of `<portal-results>`. `{min}`, `{max}` and `{count}` are replaced. */
export interface ResultStrings {
  readonly title: string;
  readonly loading: string;
  readonly none: string;
  readonly ended: string;
  readonly here: string;
  readonly partlyHere: string;
  readonly complete: string;
  readonly partial: string;
  readonly corrected: string;
  readonly changed: string;
  readonly overallNormal: string;
  readonly overallAbnormal: string;
  readonly overallCritical: string;
  readonly test: string;
  readonly result: string;
  readonly range: string;
  readonly noRange: string;
  readonly noValue: string;
  readonly between: string;
  readonly below: string;
  readonly above: string;
  readonly upTo: string;
  readonly from: string;
  /** Between a name and its value. */
  readonly colon: string;
  readonly others: string;
  readonly note: string;
  readonly normal: string;
  readonly high: string;
  readonly low: string;
  readonly abnormal: string;
  readonly critical: string;
  readonly criticalHigh: string;
  readonly criticalLow: string;
  readonly missing: string;
  readonly missingSample: string;
  readonly missingTransport: string;
  readonly missingLab: string;
  readonly missingSource: string;
  readonly missingUnknown: string;
  readonly collected: string;
  readonly reported: string;
  readonly provider: string;
  readonly laboratory: string;
  readonly director: string;
  readonly phone: string;
  readonly clia: string;
  readonly document: string;
  readonly documentOpening: string;
  readonly documentOpened: string;
  readonly documentNotReady: string;
  readonly documentFailed: string;
  readonly cut: string;
  readonly notAllowed: string;
}

/** The texts of `<portal-results>` that a language or a host may replace: any of them, alone. */
export type PartialResultStrings = Partial<ResultStrings>;

export const english: ResultStrings = {
  title: 'Your results',
  loading: 'Loading your results',
  none: 'There are no results yet.',
  ended: 'This order has ended without results.',
  here: 'Your results are here.',
  partlyHere: 'The first of your results are here.',
  complete: 'All results are here.',
  partial: 'More results are still to come.',
  corrected: 'The laboratory has corrected these results.',
  changed: 'Your results have changed.',
  overallNormal: 'The laboratory rates them as normal.',
  overallAbnormal: 'At least one result is outside its expected range.',
  overallCritical: 'At least one result needs attention at once. Please contact your care team.',
  test: 'Test',
  result: 'Result',
  range: 'Expected range',
  noRange: 'none given',
  noValue: 'no value',
  between: '{min} to {max}',
  below: 'below {max}',
  above: 'above {min}',
  upTo: 'up to {max}',
  from: '{min} or more',
  colon: ': ',
  others: 'Single tests',
  note: 'Note of the laboratory',
  normal: 'Normal',
  high: 'High',
  low: 'Low',
  abnormal: 'Abnormal',
  critical: 'Critical',
  criticalHigh: 'Critically high',
  criticalLow: 'Critically low',
  missing: 'Not available',
  missingSample: 'The sample could not be used or was too small.',
  missingTransport: 'Something went wrong on the way to the laboratory.',
  missingLab: 'Something went wrong in the laboratory.',
  missingSource: 'A value that it is calculated from is missing.',
  missingUnknown: 'The laboratory gives no reason.',
  collected: 'Sample taken',
  reported: 'Reported',
  provider: 'Ordered by',
  laboratory: 'Laboratory',
  director: 'Medical director',
  phone: 'Phone',
  clia: 'CLIA number',
  document: 'Download the report (PDF)',
  documentOpening: 'Fetching the report…',
  documentOpened: 'The report is being downloaded.',
  documentNotReady: 'The report is not ready yet.',
  documentFailed: 'The report could not be fetched. Please try again.',
  cut: 'Only the first {count} results are shown. The report has all of them.',
  notAllowed: 'This page has no permission to show your results.',
};
