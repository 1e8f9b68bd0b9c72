import { type Finding, findingOf, type Range, rangeOf } from '../world/biomarkers.ts';
import { seededNumber } from '../world/ids.ts';

/** How a value compares with its range. */
export type Interpretation = 'normal' | 'abnormal' | 'critical';

/** The biomarker, the person and the wanted outcome. */
interface Measuring {
  readonly seed: number;
  readonly ordinal: number;
  readonly loinc: string;
  readonly gender: string;
  readonly interpretation: Interpretation;
}

/** One measured value with everything that follows from its range. */
export interface Measurement {
  /** As a lab writes it, in the decimals of its range. */
  readonly result: string;
  readonly type: 'numeric' | Finding['type'];
  /** -1 for everything that is not a number (public service). */
  readonly value: number;
  readonly range: string | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly isAbove: boolean;
  readonly isBelow: boolean;
  readonly interpretation: Interpretation;
}

function valueIn(
  { low, high, decimals, printed, critical }: Range,
  interpretation: Interpretation,
  fraction: number,
): number {
  const span = high - low;
  if (interpretation === 'critical') return critical ?? high + span * 1.5;
  if (interpretation === 'normal') return low + span * (0.15 + 0.7 * fraction);
  // One step of the last decimal beyond the bound at least, so that rounding cannot bring it back.
  const beyond = 1 / 10 ** decimals + span * (0.1 + 0.3 * fraction);
  const isLow = printed === 'low' || (printed === 'both' && fraction < 0.4 && low > beyond);
  // Below a wide range `low - beyond` could be negative, which no concentration is.
  return isLow ? Math.max(low - beyond, low * 0.4) : high + beyond;
}

/** The range as a lab prints it: `70-99`, `<200` or `>39`, in the decimals of its values. */
function printRange({ low, high, decimals, printed }: Range): string {
  const step = 1 / 10 ** decimals;
  if (printed === 'high') return `<${(high + step).toFixed(decimals)}`;
  if (printed === 'low') return `>${(low - step).toFixed(decimals)}`;
  return `${low.toFixed(decimals)}-${high.toFixed(decimals)}`;
}

function find({ type, expected, unexpected, range }: Finding, interpretation: Interpretation): Measurement {
  const result = interpretation === 'normal' ? expected : unexpected;
  const isBelow = type === 'range' && interpretation !== 'normal';
  return { result, type, value: -1, range, min: null, max: null, isAbove: false, isBelow, interpretation };
}

/** A value that is always the same for one seed, order and biomarker. No value is derived from another. */
export function measure({ seed, ordinal, loinc, gender, interpretation }: Measuring): Measurement {
  const finding = findingOf(loinc);
  if (finding) return find(finding, interpretation);
  const range = rangeOf(loinc, gender);
  const fraction = seededNumber(seed, `result ${loinc}`, ordinal) / 2 ** 32;
  const result = valueIn(range, interpretation, fraction).toFixed(range.decimals);
  const value = Number(result);
  const min = range.printed === 'high' ? null : range.low;
  const max = range.printed === 'low' ? null : range.high;
  return {
    result,
    type: 'numeric',
    value,
    range: printRange(range),
    min,
    max,
    isAbove: max !== null && value > max,
    isBelow: min !== null && value < min,
    interpretation,
  };
}
