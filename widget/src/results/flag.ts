import { type Fields, readText } from '../gateway/fields.ts';

/** How a value compares with what is expected. `unknown`: it is rated in words that are not known here, and no flag is shown. */
export type Flag =
  | 'normal'
  | 'high'
  | 'low'
  | 'abnormal'
  | 'critical'
  | 'critical-high'
  | 'critical-low'
  | 'unknown';

/** What a word of the mark beside a value says: the codes of HL7 table 0078, and the words that some labs write instead. */
const WORDS = {
  high: /^(h[hiux]?|>|high)$/,
  low: /^(l[loux]?|<|low)$/,
  critical: /^(hh|ll|aa|crit|critical|critically|panic|alert)$/,
  abnormal: /^(aa?|abnl?|abnormal)$/,
  /** What may stand beside another word, and does not compare the value with its range. */
  others: /^(n|normal|[udbw]|borderline|slightly|very|above|below|hl70078)$/,
} as const;

/**
 * The flag of a result; null where nobody says how it compares. The gravest statement counts: a value is normal only if
 * nothing says otherwise. The service fills in `normal` by itself, so a mark of the lab counts more.
 */
export function readFlag(fields: Fields): Flag | null {
  const { interpretation, isAboveRange, isBelowRange } = fields;
  const mark = (readText(fields.sourceInterpretation) ?? '').trim().toLowerCase();
  const says = readWords(mark);
  const isHigh = isAboveRange === true || says('high');
  const isLow = isBelowRange === true || says('low');
  const direction = readDirection(isHigh, isLow);
  if (interpretation === 'CRITICAL' || says('critical')) {
    return direction ? `critical-${direction}` : 'critical';
  }
  if (direction) return direction;
  if (isHigh || interpretation === 'ABNORMAL' || says('abnormal')) return 'abnormal';
  return readHarmless(fields, mark);
}

function readWords(mark: string): (kind: keyof typeof WORDS) => boolean {
  const words = mark.match(/[\p{L}\p{N}]+|[<>]/gu) ?? [];
  const areKnown = words.every((word) => Object.values(WORDS).some((pattern) => pattern.test(word)));
  // In a text with other words, "low" may be said of anything ("low risk"), and a letter is no code ("H. pylori"). An alarm counts.
  return (kind) =>
    words.some((word) => WORDS[kind].test(word) && (areKnown || (kind === 'critical' && word.length > 2)));
}

/** Null where neither is said, and where both are. */
function readDirection(isHigh: boolean, isLow: boolean): 'high' | 'low' | null {
  if (isHigh === isLow) return null;
  return isHigh ? 'high' : 'low';
}

/** The flag where nothing that is known here says that the value is not as expected. */
function readHarmless(
  { interpretation, interpretationRaw, isAboveRange, isBelowRange, type }: Fields,
  mark: string,
): Flag | null {
  const isNormal = mark === 'n' || mark === 'normal';
  // Another mark, and an interpretation that nobody knows, may be anything.
  if ((mark && !isNormal) || (interpretationRaw && !interpretation)) return 'unknown';
  // The service says `normal` of every remark.
  if (type === 'COMMENT') return null;
  const isInside = isAboveRange === false && isBelowRange === false;
  return isNormal || isInside || interpretation === 'NORMAL' ? 'normal' : null;
}
