import { seededNumber } from '../world/ids.ts';
import { printRange, type Range, rangeOf } from './ranges.ts';

/** How a value lies to its range. */
export type Lie = 'normal' | 'abnormal' | 'critical';

/** What is measured, of whom, and how it is to turn out. */
interface Measuring {
  readonly seed: number;
  readonly ordinal: number;
  readonly loinc: string;
  readonly gender: string;
  readonly lie: Lie;
}

/** One measured value with everything that follows from its range. */
export interface Measurement {
  /** As a lab writes it, in the decimals of its range. */
  readonly result: string;
  readonly value: number;
  readonly range: string;
  readonly min: number | null;
  readonly max: number | null;
  readonly isAbove: boolean;
  readonly isBelow: boolean;
  readonly lie: Lie;
}

function valueIn({ low, high, decimals, printed, critical }: Range, lie: Lie, fraction: number): number {
  const span = high - low;
  if (lie === 'critical') return critical ?? high + span * 1.5;
  if (lie === 'normal') return low + span * (0.15 + 0.7 * fraction);
  // One step of the last decimal beyond the bound at least, so that rounding cannot bring it back.
  const beyond = 1 / 10 ** decimals + span * (0.1 + 0.3 * fraction);
  return printed === 'low' ? low - beyond : high + beyond;
}

/** A value that is always the same for one seed, order and biomarker. No value is derived from another. */
export function measure({ seed, ordinal, loinc, gender, lie }: Measuring): Measurement {
  const range = rangeOf(loinc, gender);
  const fraction = seededNumber(seed, `result ${loinc}`, ordinal) / 2 ** 32;
  const result = valueIn(range, lie, fraction).toFixed(range.decimals);
  const value = Number(result);
  const min = range.printed === 'high' ? null : range.low;
  const max = range.printed === 'low' ? null : range.high;
  return {
    result,
    value,
    range: printRange(range),
    min,
    max,
    isAbove: max !== null && value > max,
    isBelow: min !== null && value < min,
    lie,
  };
}
