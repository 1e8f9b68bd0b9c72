import { z } from 'zod';
import type { Page } from '../upstream/service.ts';
import { noteLeftOut } from '../upstream/unreadable.ts';

/**
 * Readers of untrusted JSON that bend and do not break: a field of the wrong type becomes null, a row without
 * a readable id is left out of its list, an unknown enum value stays text. New fields and values are normal
 * (specification, Versioning 3).
 */

/** Text, or null. */
export const text = z.string().nullable().catch(null);

/** A whole number that fits in GraphQL's Int (32 bits), or null. */
export const integer = z.int32().nullable().catch(null);

export const flag = z.boolean().nullable().catch(null);

/** An id: uuid text or integer, always handed on as text. The only field whose absence makes a row unreadable. */
export const id = z.union([z.string().min(1), z.number().int().transform(String)]);

export const optionalId = id.nullable().catch(null);

/** ISO 8601 instant; one without an offset is UTC (public service, data rules). */
export const timestamp = z
  .string()
  .transform(
    (value) => new Date(/(Z|[+-]\d{2}:?\d{2})$/i.test(value) || !value.includes('T') ? value : `${value}Z`),
  )
  .refine((date) => !Number.isNaN(date.getTime()))
  .nullable()
  .catch(null);

/** A calendar day as `YYYY-MM-DD`; a timestamp in its place is cut to its day. */
export const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}/)
  .transform((value) => value.slice(0, 10))
  .refine(isDayOfCalendar)
  .nullable()
  .catch(null);

/** `2026-02-30` is none: Date would roll it over into March. */
function isDayOfCalendar(value: string): boolean {
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

/** An http(s) address without credentials; anything else, `javascript:` included, is null. */
export const link = z.string().refine(isWebAddress).nullable().catch(null);

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** A list whose unreadable rows are left out; anything that is no list, a missing one included, is empty. */
export function list<Row>(row: z.ZodType<Row>) {
  // Not z.array: it copies, and what is noted must be the list as sent.
  return z
    .unknown()
    .optional()
    .transform((items): readonly Row[] => {
      if (!Array.isArray(items)) return [];
      return items.flatMap((item) => {
        const parsed = row.safeParse(item);
        if (!parsed.success) noteLeftOut(items);
        return parsed.success ? [parsed.data] : [];
      });
    });
}

/** The same of an answer that is unreadable without the list itself. */
export function requiredList<Row>(row: z.ZodType<Row>) {
  return z.custom<unknown>(Array.isArray).pipe(list(row));
}

/** The entries of a map whose values can be read; anything that is no map has none. */
export function entries<Value>(value: z.ZodType<Value>) {
  return z
    .unknown()
    .optional()
    .transform((map): readonly (readonly [key: string, value: Value])[] => {
      if (typeof map !== 'object' || map === null || Array.isArray(map)) return [];
      return Object.entries(map).flatMap(([key, item]) => {
        const parsed = value.safeParse(item);
        if (!parsed.success) noteLeftOut(map);
        return parsed.success ? [[key, parsed.data] as const] : [];
      });
    });
}

/**
 * Makes a reader of one page: its rows under `key`, with the totals of whichever paging style. An unreadable row
 * leaves a hole; an answer without the list itself is unreadable as a whole.
 */
export function pageReader<Row>(key: string, row: z.ZodType<Row>): (json: unknown) => Page<Row> {
  const shape = z.looseObject({
    [key]: z.custom<unknown>(Array.isArray),
    total: integer,
    pages: integer,
    next_cursor: text,
    offset: integer,
    page: integer,
    size: integer,
  });
  const readRows = (items: unknown): readonly (Row | null)[] => {
    if (!Array.isArray(items)) return [];
    return items.map((item) => {
      const parsed = row.safeParse(item);
      if (!parsed.success) noteLeftOut(items);
      return parsed.success ? parsed.data : null;
    });
  };
  return (json) => {
    const page = shape.parse(json);
    return {
      rows: readRows(page[key]),
      total: readNumber(page.total),
      pages: readNumber(page.pages),
      nextCursor: typeof page.next_cursor === 'string' ? page.next_cursor : null,
      from: readPlace(page),
    };
  };
}

/** `offset`, or what `page` and `size` come to. */
function readPlace(page: Readonly<Record<string, unknown>>): number | null {
  const [offset, number, size] = [readNumber(page.offset), readNumber(page.page), readNumber(page.size)];
  if (offset !== null) return offset;
  return number === null || size === null || number < 1 ? null : (number - 1) * size;
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

const fault = z.union([
  z.object({ success: z.literal(false) }),
  z.object({ detail: z.unknown() }),
  z.object({ error: z.unknown() }),
]);

/**
 * The answer to a write that has nothing to show: empty, a text, or an object such as `{ "success": true }`.
 * @throws ZodError for anything else, and for an object that speaks of a fault
 */
export function readDone(json: unknown): true {
  z.union([z.null(), z.string(), z.looseObject({})])
    .refine((answer) => !fault.safeParse(answer).success)
    .parse(json);
  return true;
}
