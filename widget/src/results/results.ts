import { type Fields, readFields, readText } from '../gateway/fields.ts';
import { type Flag, readFlag } from './flag.ts';

/** The most that is shown of one order: a page must stay quick, whatever the service sends. */
export const MOST_RESULTS = 500;
/** And of results that will not come. */
export const MOST_MISSING = 100;
const MOST_LABORATORIES = 10;
const LONGEST_LINE = 300;
const LONGEST_NOTE = 2000;

/** A date as the gateway gives it: an instant, a day, and the lab's own text, each only where it is known. */
export interface LabDate {
  readonly at: string | null;
  readonly on: string | null;
  readonly raw: string | null;
}

/** One measured value. */
export interface Biomarker {
  readonly name: string | null;
  /** As the lab wrote it, not always a number. */
  readonly value: string | null;
  readonly unit: string | null;
  /** The expected range as the lab wrote it, and its bounds where they are numbers. */
  readonly range: string | null;
  readonly min: number | null;
  readonly max: number | null;
  readonly flag: Flag | null;
  readonly notes: string | null;
  readonly laboratory: string | null;
  /** Name of the ordered panel that it belongs to; null where it was ordered by itself. */
  readonly panel: string | null;
}

/** A result that will not come. */
export interface MissingResult {
  readonly name: string | null;
  /** Why, as a name of `MissingResultReason` in the schema. */
  readonly reason: string | null;
  readonly note: string | null;
}

/** A laboratory that worked on a sample, with the lines of its address. */
export interface Laboratory {
  readonly name: string;
  readonly address: readonly string[];
  readonly phone: string | null;
  readonly director: string | null;
  readonly clia: string | null;
}

/** What the lab says about the results as a whole. */
export interface ResultsHead {
  /** Null where nobody says whether more will come. */
  readonly completeness: 'partial' | 'final' | null;
  readonly isCorrected: boolean;
  readonly overall: string | null;
  readonly collected: LabDate;
  readonly reported: LabDate;
  readonly provider: string | null;
}

/** The values of an order, and everything that belongs to them. */
export interface ResultsDetails {
  readonly biomarkers: readonly Biomarker[];
  readonly missing: readonly MissingResult[];
  readonly laboratories: readonly Laboratory[];
  /** There are more results than are shown. */
  readonly isCut: boolean;
  /** There are more missing ones than are shown. */
  readonly isMissingCut: boolean;
}

/** The results of one order; `details` is null where only their head was asked for. */
export interface Results {
  readonly head: ResultsHead;
  readonly details: ResultsDetails | null;
}

/** The results out of the `order` of an untrusted answer to READ_RESULTS; null before there are any. */
export function readResults(order: unknown): Results | null {
  const { status, results, resultMetadata } = readFields(order);
  if (!results && !resultMetadata) return null;
  const fields = readFields(results);
  const metadata = readFields(results ? fields.metadata : resultMetadata);
  return {
    head: readHead(metadata, readFields(status).step),
    details: results ? readDetails(fields, metadata) : null,
  };
}

function readHead(metadata: Fields, step: unknown): ResultsHead {
  const status = (readText(metadata.statusRaw) ?? '').toLowerCase();
  return {
    completeness: readCompleteness(status, step),
    isCorrected: step === 'CORRECTED' || /correct|amend/.test(status),
    overall: readText(metadata.interpretation),
    collected: readDate(metadata, 'collected'),
    reported: readDate(metadata, 'reported'),
    provider: readLine(metadata.provider),
  };
}

/**
 * A partial report is never called complete. Only the order's step can say that all is here: the service fills the lab's
 * status with `final` where the lab says nothing, and the first values can be corrected before the others come.
 */
function readCompleteness(status: string, step: unknown): ResultsHead['completeness'] {
  if (step === 'PARTIAL_RESULTS' || /partial|prelim|incomplete/.test(status)) return 'partial';
  return step === 'COMPLETED' || step === 'CORRECTED' ? 'final' : null;
}

function readDetails(fields: Fields, metadata: Fields): ResultsDetails {
  const [results, missing] = [readList(fields.biomarkers), readList(fields.missing)];
  const biomarkers = results.slice(0, MOST_RESULTS).map(readBiomarker);
  return {
    biomarkers,
    missing: missing.slice(0, MOST_MISSING).map(readMissing),
    laboratories: readLaboratories(fields, metadata, biomarkers),
    isCut: results.length > MOST_RESULTS,
    isMissingCut: missing.length > MOST_MISSING,
  };
}

function readBiomarker(value: unknown): Biomarker {
  const fields = readFields(value);
  const name = readLine(fields.name);
  const markers = readList(fields.sourceMarkers).map((marker) => readLine(readFields(marker).name));
  return {
    name,
    value: readLine(fields.value),
    unit: readLine(fields.unit),
    range: readLine(fields.referenceRange),
    min: readNumber(fields.minRange),
    max: readNumber(fields.maxRange),
    flag: readFlag(fields),
    notes: readLine(fields.notes, LONGEST_NOTE),
    laboratory: readLine(fields.performingLaboratory),
    // What was ordered by itself has itself as its marker.
    panel: markers.find((marker) => marker && marker !== name) ?? null,
  };
}

function readMissing(value: unknown): MissingResult {
  const { name, reason, note } = readFields(value);
  return { name: readLine(name), reason: readText(reason), note: readLine(note, LONGEST_NOTE) };
}

/** Each laboratory once: those of the samples with their addresses, then those that are only named. */
function readLaboratories(
  { samples }: Fields,
  metadata: Fields,
  biomarkers: readonly Biomarker[],
): readonly Laboratory[] {
  const known = new Map<string, Laboratory>();
  const listed = readList(samples).flatMap((sample) => readList(readFields(sample).performingLaboratories));
  for (const laboratory of listed.map(readLaboratory)) {
    if (laboratory.name) known.set(laboratory.name + laboratory.address, laboratory);
  }
  const reporting = readLine(metadata.laboratory);
  const named = new Set([...known.values()].map(({ name }) => name));
  for (const name of [reporting, ...biomarkers.map(({ laboratory }) => laboratory)]) {
    if (!name || named.has(name)) continue;
    named.add(name);
    known.set(name, { name, address: [], phone: null, director: null, clia: null });
  }
  const clia = readLine(metadata.cliaNumber);
  return [...known.values()]
    .slice(0, MOST_LABORATORIES)
    .map((laboratory) => (laboratory.name === reporting ? { ...laboratory, clia } : laboratory));
}

function readLaboratory(value: unknown): Laboratory {
  const { name, address, phoneNumber, medicalDirector } = readFields(value);
  const { firstLine, secondLine, city, state, zip, country } = readFields(address);
  const place = [[readLine(city), readLine(state)].filter(Boolean).join(', '), readLine(zip)];
  const lines = [
    readLine(firstLine),
    readLine(secondLine),
    place.filter(Boolean).join(' '),
    readLine(country),
  ];
  return {
    name: readLine(name) ?? '',
    address: lines.flatMap((line) => line || []),
    phone: readLine(phoneNumber),
    director: readLine(medicalDirector),
    clia: null,
  };
}

function readDate(fields: Fields, name: 'collected' | 'reported'): LabDate {
  return {
    at: readText(fields[`${name}At`]),
    on: readText(fields[`${name}On`]),
    raw: readLine(fields[`${name}AtRaw`]),
  };
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A text without spaces around it, at most this long; null where there is none. */
function readLine(value: unknown, longest = LONGEST_LINE): string | null {
  const text = readText(value)?.trim();
  if (!text || text.length <= longest) return text || null;
  // Half of a pair of surrogates is no character.
  return `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}
