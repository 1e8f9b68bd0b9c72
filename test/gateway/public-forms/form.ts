import type { Lab } from '../../support/lab.ts';
import { casesFor } from '../../support/runs.ts';

/** An answer in the form of the public service, and the one place of our answer in which each of its parts is shown. */
export interface PublicForm {
  readonly name: string;
  /** Where the service answers it: the beginning of its path. */
  readonly path: (lab: Lab) => string;
  /** Asks for everything that shows the form. */
  readonly query: (lab: Lab) => string;
  /** What the paths of `shows` start from. */
  readonly at: string;
  readonly body: unknown;
  /** Path in the form to the paths in our answer; every leaf of the form has a row, and so has a key that is shown. */
  readonly shows: Readonly<Record<string, readonly string[]>>;
  /** Without these there is nothing to show. */
  readonly required: readonly string[];
}

/** One part of a form changed. */
export interface Variation {
  readonly path: string;
  readonly change: string;
  readonly body: unknown;
}

type Path = readonly (string | number)[];

const isBranch = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === 'object' &&
  value !== null &&
  !(Array.isArray(value) && value.every((item) => typeof item !== 'object'));

/** Every part of a value: its leaves, lists of texts among them, and what holds them. */
function partsOf(value: unknown, path: Path = []): readonly Path[] {
  const inner = isBranch(value)
    ? Object.entries(value).flatMap(([key, part]) => partsOf(part, [...path, key]))
    : [];
  return path.length === 0 ? inner : [path, ...inner];
}

/** The fields of a form that have no row, and the rows without a field; a row of what holds fields is as good. */
export function findRowFaults({ body, shows }: PublicForm): readonly string[] {
  const paths = partsOf(body).map((path) => path.join('/'));
  const leaves = paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`)));
  const rows = Object.keys(shows);
  return [...leaves.filter((path) => !rows.includes(path)), ...rows.filter((path) => !paths.includes(path))];
}

const wrong = [
  ['null', null],
  ['object', { unheard: 'of' }],
  ['list', [7, null]],
  ['number', 7],
] as const;

function replace(value: unknown, [key, ...rest]: Path, part: { readonly by: unknown } | null): unknown {
  if (key === undefined) return part?.by;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (String(index) !== String(key)) return [item];
      return rest.length === 0 && part === null ? [] : [replace(item, rest, part)];
    });
  }
  const { [key]: old, ...others } = value as Record<string, unknown>;
  return rest.length === 0 && part === null ? others : { ...others, [key]: replace(old, rest, part) };
}

/** The form with one part at a time missing, null or of another type: by `npm test` missing, a text, and one of the others in turn. */
export function variationsOf({ body, required }: PublicForm): readonly Variation[] {
  const paths = partsOf(body).filter((path) => !required.includes(path.join('/')));
  return paths.flatMap((parts, row) => {
    const path = parts.join('/');
    return [
      { path, change: 'missing', body: replace(body, parts, null) },
      { path, change: 'text', body: replace(body, parts, { by: 'unheard_of' }) },
      ...casesFor(row, wrong).map(([change, by]) => ({ path, change, body: replace(body, parts, { by }) })),
    ];
  });
}

/** Our answer as paths and the values at their ends; what is null or empty shows nothing. */
function flatten(value: unknown, path: readonly string[] = []): readonly (readonly [string, string])[] {
  if (isBranch(value)) {
    return Object.entries(value).flatMap(([key, part]) => flatten(part, [...path, key]));
  }
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
  return isEmpty ? [] : [[path.join('/'), JSON.stringify(value)]];
}

/** The paths at which two answers differ. */
export function differencesOf(before: unknown, after: unknown): readonly string[] {
  const [one, other] = [new Map(flatten(before)), new Map(flatten(after))];
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path));
}

/** What a change of this part may change in our answer: what shows it, or shows what it holds. */
export function shownBy({ shows }: PublicForm, path: string): readonly string[] {
  return Object.entries(shows).flatMap(([each, shown]) =>
    each === path || each.startsWith(`${path}/`) ? shown : [],
  );
}

/** Whether a path of our answer is one of these, or within one. */
export function isWithin(path: string, shown: readonly string[]): boolean {
  return shown.some((each) => path === each || path.startsWith(`${each}/`));
}
