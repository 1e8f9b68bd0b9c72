import { GatewayError } from '../errors.ts';

/**
 * The parts of answers that readers could not read, for `unreadable_total`. A reader is synchronous and knows neither the
 * call nor the place, so it notes here which rows it leaves out; `readNoting` knows which reader runs.
 *
 * It costs nothing where every row is readable; unreadable rows are found by one walk through the answer.
 */

/** Thrown by a reader when a required part is missing. It has the part's place, never a value. */
export class Unreadable extends Error {
  /**
   * The path from the answer to the missing part. It grows on the way out, because only an outer reader knows the place
   * of an inner one.
   */
  readonly path: string[] = [];

  constructor() {
    super('JSON without its required parts.');
    this.name = 'Unreadable';
  }
}

/** The rows that one run of a reader leaves out. */
interface Run {
  /** How many rows, by their list or map; null while there are none. */
  leftOut: Map<object, number> | null;
}

/** Of the reader that runs now; null while none runs. */
let current: Run | null = null;

/** Receives the place of rows, as a path without indexes or values such as `$.orders.*`, and how many they were. */
export type OnUnreadable = (path: string, rows: number) => void;

/** Notes a row of `container` (as sent, not a copy) that the reader under way leaves out. */
export function noteLeftOut(container: object): void {
  if (current === null) return;
  current.leftOut ??= new Map();
  current.leftOut.set(container, (current.leftOut.get(container) ?? 0) + 1);
}

/**
 * Runs a reader and reports the rows that it left out or refused.
 * @throws GatewayError the reader's own, else UPSTREAM_UNREADABLE for any error of the reader
 */
export function readNoting<T>(reader: (json: unknown) => T, json: unknown, report?: OnUnreadable): T {
  const outer = current;
  const run: Run = { leftOut: null };
  current = run;
  try {
    const value = reader(json);
    if (run.leftOut !== null) reportLeftOut(json, run.leftOut, report);
    return value;
  } catch (error) {
    const refusal = toRefusal(error);
    // The reader rethrows a refusal by the service: that answer was readable.
    if (refusal.code === 'UPSTREAM_UNREADABLE') report?.(toPath(placeOfRefusal(error)), 1);
    throw refusal;
  } finally {
    current = outer;
  }
}

/** No reader reads deeper levels. An answer may have any number of them. */
const maxDepth = 16;

/** Finds the places by walking the answer once: readers do not know them, and drift is rare. */
function reportLeftOut(json: unknown, noted: ReadonlyMap<object, number>, report?: OnUnreadable): void {
  const rows = new Map<string, number>();
  let unplaced = [...noted.values()].reduce((sum, count) => sum + count, 0);
  const walk = (value: unknown, path: readonly PropertyKey[]) => {
    if (typeof value !== 'object' || value === null || path.length > maxDepth) return;
    const here = noted.get(value);
    if (here !== undefined) {
      const place = toPath([...path, 0]);
      rows.set(place, (rows.get(place) ?? 0) + here);
      unplaced -= here;
    }
    for (const [key, part] of Object.entries(value)) walk(part, [...path, Array.isArray(value) ? 0 : key]);
  };
  walk(json, []);
  for (const [path, count] of rows) report?.(path, count);
  // These rows are in a copy that a reader made, so their place is unknown. They are counted all the same.
  if (unplaced > 0) report?.('$', unplaced);
}

function placeOfRefusal(error: unknown): readonly string[] {
  return error instanceof Unreadable ? error.path : [];
}

/** Indexes, and keys that are no plain names (ids of a map), become `*`: a path never holds data. */
function toPath(keys: readonly PropertyKey[]): string {
  const names = keys.map((key) => (typeof key === 'string' && /^[a-z][a-z_]{0,39}$/.test(key) ? key : '*'));
  return ['$', ...names].join('.');
}

/** The reader's own error can quote what it could not read, so it is not the cause. */
function toRefusal(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = 'The service answered in a shape that cannot be read.';
  return new GatewayError('UPSTREAM_UNREADABLE', message, { status: 200 });
}
