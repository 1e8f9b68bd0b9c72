import { inLanguage } from '../words/language.ts';
import type { Biomarker, LabDate } from './results.ts';
import type { ResultStrings } from './strings.ts';

/** A number of a lab, which may have its thousands in groups. */
const PLAIN = /^[-−]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;
const BETWEEN =
  /^([-−]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?)\s*(?:-|–|to)\s*([-−]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?)$/;
const BOUND = /^(<=|>=|<|>|≤|≥)\s*([-−]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?)$/;

/** The pattern of a bound by the lab's sign. */
const BOUNDS: Readonly<Record<string, 'below' | 'above' | 'upTo' | 'from'>> = {
  '<': 'below',
  '>': 'above',
  '<=': 'upTo',
  '≤': 'upTo',
  '>=': 'from',
  '≥': 'from',
};

/**
 * A value of the lab in the reader's way to write numbers: only the signs between its digits may change. Digits are never
 * rounded, grouped or replaced, because a value must be the same in every language. A text that is no number stays as it is.
 */
export function formatValue(text: string, language: string): string {
  const [, sign = '', bound] = BOUND.exec(text) ?? [];
  if (bound) return sign + formatNumber(bound, language);
  return PLAIN.test(text) ? formatNumber(text, language) : text;
}

/** The expected range in words; the lab's own text where it is not of numbers, null where there is none. */
export function formatRange(
  { range, min, max }: Pick<Biomarker, 'range' | 'min' | 'max'>,
  texts: ResultStrings,
  language: string,
): string | null {
  const fill = (pattern: string, low: string, high: string) =>
    pattern
      .replace('{min}', () => formatNumber(low, language))
      .replace('{max}', () => formatNumber(high, language));
  const [, low, high] = BETWEEN.exec(range ?? '') ?? [];
  if (low && high) return fill(texts.between, low, high);
  const [, sign = '', bound] = BOUND.exec(range ?? '') ?? [];
  const kind = BOUNDS[sign];
  if (kind && bound) return fill(texts[kind], bound, bound);
  if (range) return range;
  if (min !== null && max !== null) return fill(texts.between, String(min), String(max));
  if (max !== null) return fill(texts.upTo, '', String(max));
  return min === null ? null : fill(texts.from, String(min), '');
}

function formatNumber(text: string, language: string): string {
  const sign = readDecimalSign(language);
  // Where the comma is the decimal sign, "1,200" would be read as 1.2.
  return sign === ',' ? text.replaceAll(',', '').replace('.', sign) : text;
}

function readDecimalSign(language: string): string {
  const parts = inLanguage(language, (locales) =>
    new Intl.NumberFormat(locales, { numberingSystem: 'latn' }).formatToParts(1.5),
  );
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
}

/** A unit as people write it: without the brackets of UCUM, which hold remarks, and with powers of ten raised. */
export function formatUnit(unit: string): string {
  return unit
    .replace(/\/\{([^{}]*)\}/g, (_, remark: string) => `/${remark.replaceAll('_', ' ')}`)
    .replace(/\{[^{}]*\}/g, '')
    .replace(/\[([^[\]]*)\]/g, '$1')
    .replace(
      /\b10[*^](\d+)/g,
      (_, power: string) => `10${[...power].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('')}`,
    )
    .trim();
}

/** A date of the lab with its form for machines: an instant in the reader's zone, a day as it is, or the lab's text. */
export function formatDate(
  { at, on, raw }: LabDate,
  language: string,
): { readonly text: string; readonly machine: string | null } | null {
  const time = new Date(at ?? on ?? '');
  if (Number.isNaN(+time)) return raw === null ? null : { text: raw, machine: null };
  // A day has no zone: in the reader's it could become the day before.
  const form: Intl.DateTimeFormatOptions = at ? { timeStyle: 'short' } : { timeZone: 'UTC' };
  const text = inLanguage(language, (locales) =>
    time.toLocaleString(locales, { dateStyle: 'long', ...form }),
  );
  return { text, machine: at ?? on };
}
