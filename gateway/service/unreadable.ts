import { GatewayError } from '../errors.ts';
import { readOnce } from './read-once.ts';

/**
 * What readers could not read, for `unreadable_total`. A reader is synchronous and knows neither call nor
 * place, so what it leaves out is noted here while it runs; only `readNoting` knows whose it was.
 *
 * Where nothing is left out this costs nothing to speak of; what cannot be read is searched for in one walk.
 */

/** What a reader throws when a part is missing without which there is nothing to show. Says where, never what stood there. */
export class Unreadable extends Error {
  /** From the answer to the missing part; grows on the way out, as only the outer reader knows where the inner one stood. */
  readonly path: string[] = [];

  constructor() {
    super('JSON without its required parts.');
    this.name = 'Unreadable';
  }
}

/** What one run of a reader leaves out. */
interface Run {
  /** How many rows, by the list or map they stood in; null while there are none. */
  leftOut: Map<object, number> | null;
}

/** Of the reader that runs now; null while none runs. */
let current: Run | null = null;

/** Answers whose rows are counted already: a shared answer is read by each caller, and counted once. */
const counted = new WeakSet<object>();

/** Told where rows stood, as a path without indexes or values such as `$.orders.*`, and how many they were. */
export type OnUnreadable = (path: string, rows: number) => void;

/** Notes a row of `container` (as sent, not a copy) that the reader under way leaves out. */
export function noteLeftOut(container: object): void {
  if (current === null) return;
  current.leftOut ??= new Map();
  current.leftOut.set(container, (current.leftOut.get(container) ?? 0) + 1);
}

/**
 * Runs a reader, once for each answer, and tells what it left out or refused.
 * @throws GatewayError the reader's own, else UPSTREAM_UNREADABLE for whatever the reader throws
 */
export function readNoting<T>(reader: (json: unknown) => T, json: unknown, tell: OnUnreadable): T {
  const outer = current;
  const run: Run = { leftOut: null };
  current = run;
  try {
    return readOnce(reader, json);
  } catch (error) {
    const refusal = toRefusal(error);
    // The reader rethrows a refusal by the service: that answer was readable.
    const isUnreadable = refusal.code === 'UPSTREAM_UNREADABLE';
    if (isUnreadable && isFirstTime(json)) tell(toPath(placeOfRefusal(error)), 1);
    run.leftOut = null;
    throw refusal;
  } finally {
    current = outer;
    if (run.leftOut !== null && isFirstTime(json)) tellLeftOut(json, run.leftOut, tell);
  }
}

function isFirstTime(json: unknown): boolean {
  if (typeof json !== 'object' || json === null) return true;
  if (counted.has(json)) return false;
  counted.add(json);
  return true;
}

/** Readers go no deeper; answers may, without end. */
const maxDepth = 16;

/** Finds the places by walking the answer once: readers do not know them, and drift is rare. */
function tellLeftOut(json: unknown, noted: ReadonlyMap<object, number>, tell: OnUnreadable): void {
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
  for (const [path, count] of rows) tell(path, count);
  // In a copy that a reader made: counted all the same.
  if (unplaced > 0) tell('$', unplaced);
}

function placeOfRefusal(error: unknown): readonly string[] {
  return error instanceof Unreadable ? error.path : [];
}

/** Indexes, and keys that are no plain names (ids of a map), become `*`: a path never holds data. */
function toPath(keys: readonly PropertyKey[]): string {
  const names = keys.map((key) => (typeof key === 'string' && /^[a-z][a-z_]{0,39}$/.test(key) ? key : '*'));
  return ['$', ...names].join('.');
}

/** The reader's own error can quote what it could not read, so it is not kept as cause. */
function toRefusal(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered in a shape that cannot be read.', {
    status: 200,
  });
}
