import { isRecord } from '../parse/json.ts';
import type { UpstreamCall } from './calls.ts';

/** The longest reason that is passed on, in characters. */
const maxCharacters = 300;

/** Longer texts are no sentence for a person, such as a page or a stack trace. */
const maxRead = 1000;

/** Stands for each word that is left out. */
const leftOut = '…';

/**
 * Words that say nothing of a person. They are passed on in any spelling, also where the request has the same word.
 * Every other word with a capital letter may be a name.
 */
const ordinary = new Set(
  `a about above account accounts active activate add added after again all allowed already also an and another any
  aoe api appointment appointments are as at available back bad be been before below billing body book booked booking
  both but by called can cancel cancellation cancelled cannot center centers client closed code codes collection
  complete completed confirmed consent consents could country create created cursor date day days delete deleted
  demographics detail details did disabled do does document documents doesn done duplicate each either email empty
  enabled end error event events every exactly existing exists expected expired failed failure false feature field
  fields file files first following for found from getlabs given has have having hipaa hours http human icd id
  idempotency ids if import in inactive incorrect insufficient insurance internal invalid is isn it its json junction
  key keys kit kits lab labcorp labs last later length limit link list loinc longer made mail many marker markers
  maximum may medical method minimum missing more multiple must name named need needed needs neither new next no none
  nor not nothing notes now npi number of on once one only open or order ordered ordering orders other out over page
  parameter past patch patient patients pdf pending phlebfinders phlebotomy phone physician physicians please portal
  postal present problem provide provided provider providers psc pscs quest question questions quota radius read
  reason record redraw reference refused register registered registration rejected replaced report reports request
  requested requests required requires requisition reschedule resource result results review role sample sandbox
  schedule scheduled schema scope send sent service services set shipped shipping should signature simulate since site
  slot slots some sonora start state states status step still street submitted supported suspended team test testkit
  testkits tests than that the their them there these they this those time timeout times to token too true try type
  unable unauthorized under unexpected unknown unless unsupported until update updated upload uploaded url us use used
  user users uuid valid validation value values visit wait was we were what when where which while who will window
  with within without workout wrong year years yet you your zip`.split(/\s+/),
);

/** The parts of a call whose values the service may quote. */
export type QuotableCall = Pick<UpstreamCall, 'query' | 'body' | 'form'>;

/**
 * The service's own reason for a refusal, if the body states one as text: `{ detail: "..." }`, or the `error_message`
 * in it. The text may quote patient data, of the request or of what the service stores. So words of the request's
 * values, names, long numbers and whatever is in quotes are left out. The rest is one line of at most 300 characters
 * (decision 0103).
 * @returns null where nothing else was said
 */
export function readReason(body: unknown, call: QuotableCall): string | null {
  const text = findText(body);
  if (text === null || text.length > maxRead || /[<>{}]/.test(text)) return null;
  const values = collectTexts([call.query, call.body, call.form]).map(wordsOf);
  const given = new Set(values.flatMap((words) => [...words, words.join('')].map(toPlainSpelling)));
  const said = toLine(text)
    .replace(quoted, (part) => (wordsOf(part).every((word) => ordinary.has(word)) ? part : leftOut))
    .replace(longNumber, leftOut)
    .replace(wholeWord, (word) => (isHarmless(word, given) ? word : leftOut))
    .replaceAll(/…(?: …)+/g, leftOut);
  return /\p{L}{2}/u.test(said) ? shorten(said) : null;
}

function findText(body: unknown): string | null {
  const detail = isRecord(body) ? body.detail : null;
  const text = isRecord(detail) ? detail.error_message : detail;
  return typeof text === 'string' ? text : null;
}

/** Without line breaks, control characters and characters that change the direction of the text. */
function toLine(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .trim();
}

/** From a quotation mark to the one that closes it, or to the end. */
const quoted = /"[^"]*"?|“[^”]*”?|‘[^’]*’?|`[^`]*`?|(?<![\p{L}\p{N}])'(?:[^']|'(?=[\p{L}\p{N}]))*'?/gu;

/** Four digits or more, with any spacing, such as a phone number or a date. */
const longNumber = /\p{N}(?:[\s().+/-]*\p{N}){3,}/gu;

/** From its first letter or digit to its last: `walk-in`, `zip_code`, `someone@example.com`. */
const wholeWord = /[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu;

function isHarmless(word: string, given: ReadonlySet<string>): boolean {
  return word
    .split(/[-_/'’]/)
    .every(
      (part) =>
        ordinary.has(part.toLowerCase()) ||
        (/^([a-z]+|\d{1,3})$/.test(part) && !given.has(toPlainSpelling(part))),
    );
}

function shorten(line: string): string {
  const characters = Array.from(line);
  return characters.length <= maxCharacters ? line : `${characters.slice(0, maxCharacters - 1).join('')}…`;
}

/** Ignores case, accents and punctuation, because a text may quote a value in another form. */
export function wordsOf(text: string): readonly string[] {
  const plain = text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[ßøłđæœı]/gu, (letter) => plainLetters[letter] ?? letter);
  return plain.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Letters that are no letter with a mark, and their usual spelling without it. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** Müller is also written Muller and Mueller: the three are equal. */
function toPlainSpelling(word: string): string {
  return word.replaceAll(/([aou])e/g, '$1');
}

/** Every text, number and flag in a value. */
export function collectTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  return isRecord(value) ? Object.values(value).flatMap(collectTexts) : [];
}
