import { parseDay, parseInstant } from '../parse/dates.ts';
import { isRecord } from '../parse/json.ts';
import type { Page } from '../service/calls.ts';
import { noteLeftOut, Unreadable } from '../service/unreadable.ts';

/**
 * Tolerant readers of untrusted JSON: a field of the wrong type becomes null, a row without
 * its required parts is left out of its list, an unknown enum value stays text. New fields and values are normal
 * (specification, Versioning 3). A reader is a plain function that is composed once, at load (decision 0074).
 */
export type Reader<T> = (json: unknown) => T;

/** A JSON object as sent. */
export type Raw = Readonly<Record<string, unknown>>;

/** Text, or null. */
export function text(json: unknown): string | null {
  return typeof json === 'string' ? json : null;
}

/** A finite number, or null: JSON's `1e999` is none. */
export function number(json: unknown): number | null {
  return typeof json === 'number' && Number.isFinite(json) ? json : null;
}

/** A whole number that fits in GraphQL's Int (32 bits), or null. */
export function integer(json: unknown): number | null {
  return typeof json === 'number' && (json | 0) === json ? json : null;
}

export function flag(json: unknown): boolean | null {
  return typeof json === 'boolean' ? json : null;
}

/** An id: uuid text or integer, always given as text. */
export function id(json: unknown): string | null {
  if (typeof json === 'string') return json === '' ? null : json;
  return typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : null;
}

/** Text that some samples of the service write as a number. */
export function textOrNumber(json: unknown): string | null {
  const value = number(json);
  return value === null ? text(json) : String(value);
}

/** An ISO 8601 instant; a time without an offset is UTC (public service, data rules). A day alone gives null: see `day`. */
export function timestamp(json: unknown): Date | null {
  return typeof json === 'string' ? parseInstant(json) : null;
}

/** A calendar day as `YYYY-MM-DD`; a timestamp in its place is cut to its day. */
export function day(json: unknown): string | null {
  return typeof json === 'string' ? parseDay(json) : null;
}

/**
 * A date as a lab wrote it: the instant if it has a time, the day if it is ISO 8601, and the text as sent. An object with
 * an instant and a local offset (public service) gives the local day.
 */
export function writtenDate(json: unknown): WrittenDate {
  const { stamp, offsetSeconds } = readStamp(json) ?? { stamp: json, offsetSeconds: null };
  const at = timestamp(stamp);
  const isShifted = at !== null && offsetSeconds !== null && Math.abs(offsetSeconds) < 86_400;
  const placed = isShifted ? new Date(at.getTime() + offsetSeconds * 1000).toISOString() : stamp;
  return { at, on: day(placed), raw: textOrNumber(stamp) };
}

/** A date of the service in three forms; each is null where the service did not send it. */
interface WrittenDate {
  readonly at: Date | null;
  readonly on: string | null;
  readonly raw: string | null;
}

/** An http(s) address without credentials; anything else, `javascript:` included, is null. */
export function link(json: unknown): string | null {
  return typeof json === 'string' && isWebAddress(json) ? json : null;
}

function isWebAddress(value: string): boolean {
  const url = URL.parse(value);
  if (url === null) return false;
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/**
 * Reads an object into the gateway's own shape.
 * @throws Unreadable from the reader for anything but an object, or if a required field is missing
 */
export function record<T>(build: (raw: Raw) => T): Reader<T> {
  return (json) => {
    if (!isRecord(json)) throw new Unreadable();
    return build(json);
  };
}

/**
 * A field without which there is nothing to show.
 * @throws Unreadable, with its place, where the reader refuses or reads null
 */
export function required<T>(raw: Raw, key: string, reader: Reader<T | null>): T {
  try {
    return present(reader(raw[key]));
  } catch (error) {
    if (error instanceof Unreadable) error.path.unshift(key);
    throw error;
  }
}

/** The value read, unless it is null. @throws Unreadable */
export function present<T>(read: T | null): T {
  if (read === null) throw new Unreadable();
  return read;
}

/** The same reader for an optional part: null where it refuses. */
export function optional<T>(reader: Reader<T>): Reader<T | null> {
  // A missing part is usual, and a refusal costs a stack trace.
  return (json) => (json === null || json === undefined ? null : attempt(reader, json));
}

function attempt<T>(reader: Reader<T>, json: unknown): T | null {
  try {
    return reader(json);
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

const readStamp = optional(
  record((raw) => ({ stamp: raw.timestamp, offsetSeconds: integer(raw.timezone_offset) })),
);

/** The same reader, which refuses values that do not hold. */
export function where<T>(reader: Reader<T>, holds: (read: T) => boolean): Reader<T> {
  return (json) => {
    const read = reader(json);
    if (!holds(read)) throw new Unreadable();
    return read;
  };
}

/** The rows of a list with null for those that cannot be read. @throws Unreadable from the reader for anything but a list */
function rowsWithHoles<Row>(row: Reader<Row | null>): Reader<readonly (Row | null)[]> {
  return (json) => {
    if (!Array.isArray(json)) throw new Unreadable();
    return json.map((item) => {
      const read = attempt(row, item);
      if (read === null) noteLeftOut(json);
      return read;
    });
  };
}

/** A list whose unreadable rows are left out. @throws Unreadable from the reader for anything but a list */
export function requiredList<Row>(row: Reader<Row | null>): Reader<readonly Row[]> {
  const readRows = rowsWithHoles(row);
  return (json) => readRows(json).filter((read) => read !== null);
}

/** The same; anything that is no list, a missing one included, is empty. */
export function list<Row>(row: Reader<Row | null>): Reader<readonly Row[]> {
  const readList = requiredList(row);
  return (json) => (Array.isArray(json) ? readList(json) : []);
}

/** A list of texts. */
export const texts = list(text);

/** The entries of a map whose values can be read; anything that is no map has none. */
export function entries<Value>(
  value: Reader<Value | null>,
): Reader<readonly (readonly [key: string, value: Value])[]> {
  return (json) => {
    if (!isRecord(json)) return [];
    return Object.entries(json).flatMap(([key, item]) => {
      const read = attempt(value, item);
      if (read === null) noteLeftOut(json);
      return read === null ? [] : [[key, read] as const];
    });
  };
}

/**
 * Makes a reader of one page: its rows under `key`, with the totals of whichever paging style. An unreadable row
 * leaves a hole; an answer without the list itself is unreadable as a whole.
 */
export function pageReader<Row>(key: string, row: Reader<Row>): Reader<Page<Row>> {
  const readRows = rowsWithHoles(row);
  return record((raw) => ({
    rows: required(raw, key, readRows),
    total: integer(raw.total),
    pages: integer(raw.pages),
    // Some services write the end of a list as an empty text.
    nextCursor: text(raw.next_cursor) || null,
    from: readPlace(raw),
  }));
}

/** `offset`, or what `page` and `size` come to. */
function readPlace(raw: Raw): number | null {
  const [offset, page, size] = [integer(raw.offset), integer(raw.page), integer(raw.size)];
  if (offset !== null) return offset;
  return page === null || size === null || page < 1 ? null : (page - 1) * size;
}

/**
 * The answer to a write that has nothing to show: empty, a text, or an object such as `{ "success": true }`.
 * @throws Unreadable for anything else, and for `{ "success": false }`
 */
export function readDone(json: unknown): true {
  const isDone = isRecord(json) ? json.success !== false : json === null || typeof json === 'string';
  if (!isDone) throw new Unreadable();
  return true;
}
