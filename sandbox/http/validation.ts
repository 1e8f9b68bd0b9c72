import type { Context } from 'hono';
import { z } from 'zod';
import { Refusal, refuse } from './refusal.ts';

type Place = 'body' | 'query' | 'path';

/** One fault of the input in the public service's shape; `input` repeats the value that was sent, as the service does. */
interface Fault {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

type Issue = z.core.$ZodIssue;

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

const typeFaults: Readonly<Record<string, readonly [type: string, msg: string]>> = {
  string: ['string_type', 'Input should be a valid string'],
  int: ['int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  number: ['int_parsing', 'Input should be a valid integer, unable to parse string as an integer'],
  array: ['list_type', 'Input should be a valid list'],
  object: ['dict_type', 'Input should be a valid dictionary'],
};

/** A text of so many characters at most, counted as the public service counts: in code points. */
export function textUpTo(max: number) {
  return z.string().refine((text) => [...text].length <= max, `String should have at most ${max} characters`);
}

/** The public service's name and sentence for a fault that zod found. */
function nameFault(issue: Issue): readonly [type: string, msg: string] {
  switch (issue.code) {
    case 'invalid_type':
      return typeFaults[issue.expected] ?? ['value_error', issue.message];
    case 'invalid_value':
      return ['enum', `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(' or ')}`];
    case 'invalid_format':
      if (issue.format === 'guid') return ['uuid_parsing', 'Input should be a valid UUID'];
      return ['string_pattern_mismatch', `String should match pattern '${issue.pattern ?? issue.format}'`];
    case 'too_small':
      if (issue.origin === 'string') return ['string_too_short', 'String should have at least 1 character'];
      return ['greater_than_equal', `Input should be greater than or equal to ${issue.minimum}`];
    case 'too_big':
      return ['less_than_equal', `Input should be less than or equal to ${issue.maximum}`];
    default:
      return ['value_error', `Value error, ${issue.message}`];
  }
}

function faultOf(issue: Issue, input: unknown, place: Place): Fault {
  const loc = [place, ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key))];
  const value = valueAt(input, issue.path);
  if (value === undefined) {
    const parent = valueAt(input, issue.path.slice(0, -1)) ?? null;
    return { type: 'missing', loc, msg: 'Field required', input: parent };
  }
  const [type, msg] = nameFault(issue);
  return { type, loc, msg, input: value };
}

/**
 * The input as the schema parses it.
 * @throws Refusal 422 with a list of faults (public service: HTTPValidationError as it is in practice).
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  place: Place,
): z.output<Schema> {
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  throw new Refusal(422, { detail: read.error.issues.map((issue) => faultOf(issue, input, place)) });
}

/** The JSON body as the schema parses it; a missing body is `undefined` to the schema. */
export async function readBody<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await c.req.text();
  if (text === '') return validate(schema, undefined, 'body');
  return validate(schema, parseJson(text), 'body');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = { type: 'json_invalid', loc: ['body', 0], msg: 'JSON decode error', input: {} };
    throw new Refusal(422, { detail: [{ ...fault, ctx: { error: 'Expecting value' } }] });
  }
}

/** The query as the schema parses it; a key given more than once is a list. */
export function readQuery<Schema extends z.ZodType>(c: Context, schema: Schema): z.output<Schema> {
  const entries = Object.entries(c.req.queries()).map(([key, values]) => [
    key,
    values.length === 1 ? values[0] : values,
  ]);
  return validate(schema, Object.fromEntries(entries), 'query');
}

/** The path parameter, which must be a UUID. */
export function readUuid(c: Context, name: string): string {
  return validate(z.object({ [name]: z.guid() }), { [name]: c.req.param(name) }, 'path')[name] ?? '';
}

/** `page` from 1, `size` from 1 to 100 (specification: Limits; names: public service). */
export const pageQuery = {
  page: z.coerce.number().int().min(1).default(1),
  size: z.coerce.number().int().min(1).max(100).default(50),
};

/** The page that a request asks for. */
export interface Page {
  readonly page: number;
  readonly size: number;
}

/** A repeated query key: one value or many. */
export function repeated<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).optional(),
  );
}

/** The items of one page, counted from 1. */
export function pageOf<Item>(items: readonly Item[], page: number, size: number): readonly Item[] {
  return items.slice((page - 1) * size, page * size);
}

/** Whether the text contains the part, in any case. */
export function includesText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Reads a cursor: the position of the next row, opaque to the caller. @throws Refusal 422 */
export function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const position = Number(Buffer.from(cursor, 'base64url').toString());
  if (!Number.isInteger(position) || position < 1) throw refuse(422, 'The cursor is not valid.');
  return position;
}

/** The rows from `start` on, and the cursor of the row after them; null at the end. */
export function rowsFrom<Row>(rows: readonly Row[], start: number, limit: number) {
  const end = start + limit;
  const next = end < rows.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { rows: rows.slice(start, end), next };
}
