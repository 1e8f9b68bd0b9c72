/** Why a report could not be read (public service: ParsingJobFailureReason). */
export const failureReasons = [
  'invalid_input',
  'low_quality',
  'not_english',
  'too_many_pages',
  'processing_error',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** One uploaded report on its way to structured data. The file itself is not stored. */
export interface LabReportJob {
  readonly id: string;
  readonly ordinal: number;
  readonly userId: string;
  status: 'started' | 'completed' | 'failed';
  /** How it will end; null when it will be read. */
  readonly willFail: FailureReason | null;
  readonly needsHumanReview: boolean;
  isReviewed: boolean;
  readonly createdAt: number;
}
