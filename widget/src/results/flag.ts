import { type Fields, readText } from '../gateway/fields.ts';

/** How a value compares with what is expected. */
export type Flag = 'normal' | 'high' | 'low' | 'abnormal' | 'critical' | 'critical-high' | 'critical-low';

/** The marks that labs print beside a value (HL7 table 0078, and the words that some labs write instead). */
const MARKS = {
  high: /^(h|hh|>|high)$/,
  low: /^(l|ll|<|low)$/,
  critical: /^(hh|ll|aa|critical|panic)$/,
  abnormal: /^(a|aa|abnormal)$/,
  normal: /^(n|normal)$/,
} as const;

/**
 * The flag of a result; null where nobody says how it compares. The gravest statement counts: a value is normal only if
 * nothing says otherwise.
 */
export function readFlag(fields: Fields): Flag | null {
  const { interpretation, isAboveRange, isBelowRange } = fields;
  const mark = (readText(fields.sourceInterpretation) ?? '').trim().toLowerCase();
  const isHigh = isAboveRange === true || MARKS.high.test(mark);
  const isLow = isBelowRange === true || MARKS.low.test(mark);
  const direction = readDirection(isHigh, isLow);
  if (interpretation === 'CRITICAL' || MARKS.critical.test(mark)) {
    return direction ? `critical-${direction}` : 'critical';
  }
  if (direction) return direction;
  if (isHigh || interpretation === 'ABNORMAL' || MARKS.abnormal.test(mark)) return 'abnormal';
  return isNormal(fields, mark) ? 'normal' : null;
}

/** Null where neither is said, and where both are. */
function readDirection(isHigh: boolean, isLow: boolean): 'high' | 'low' | null {
  if (isHigh === isLow) return null;
  return isHigh ? 'high' : 'low';
}

function isNormal(
  { interpretation, interpretationRaw, isAboveRange, isBelowRange, type }: Fields,
  mark: string,
) {
  // The service says `normal` of every remark.
  if (type === 'COMMENT') return false;
  if (interpretation === 'NORMAL' || MARKS.normal.test(mark)) return true;
  // An interpretation that nobody knows may be anything.
  return !interpretationRaw && isAboveRange === false && isBelowRange === false;
}
