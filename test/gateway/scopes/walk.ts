import type { Scope } from '../../../gateway/auth/rights.ts';
import type { GraphQLAnswer } from '../../support/lab.ts';
import type { Asked } from './questions.ts';
import { type Need, needOf, scopesOfUser } from './table.ts';

/** The kinds of callers in the table. */
export interface Asker {
  readonly title: string;
  /** Null for a gateway key. */
  readonly scopes: readonly Scope[] | null;
  readonly isLimited: boolean;
}

/** Whether the asker is refused what needs this. */
export function isRefused(
  { scopes, isLimited }: Asker,
  { ofUser, isForTeam, scopes: needed }: Need,
): boolean {
  if (scopes === null) return false;
  if (isForTeam || (isLimited && ofUser === 'refused')) return true;
  return needed.some((scope) => !scopes.includes(scope) || (isLimited && scopesOfUser.includes(scope)));
}

type Fields = Readonly<Record<string, unknown>>;

/** An object of the answer, and the same object of the answer to a gateway key. */
interface Visited {
  readonly path: string;
  readonly result: Fields;
  readonly all: Fields;
}

/** What a field has in the answer, and in that to a gateway key. */
interface Values {
  readonly value: unknown;
  readonly whole: unknown;
}

/** What the table says of a field of this object. */
function expectedOf(asker: Asker, coordinate: string, object: Fields): 'shown' | 'FORBIDDEN' {
  const need = needOf(coordinate);
  return !need.isOpen(object) && isRefused(asker, need) ? 'FORBIDDEN' : 'shown';
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** A fault where a field that is hidden from the caller has a value. */
function findShown({ coordinate }: Asked, { value }: Values): readonly string[] {
  return isEmpty(value) ? [] : [`${coordinate} is there`];
}

/** A fault where the caller does not get a value that a gateway key gets. */
function findGone({ coordinate, fields }: Asked, { value, whole }: Values): readonly string[] {
  const isGone = whole !== null && isEmpty(value) && (value === null || fields.length > 0);
  return isGone ? [`${coordinate} is empty, unlike the team's`] : [];
}

/**
 * What differs between an answer and what the table says of it, field by field.
 * @param whole the same question's answer to a gateway key
 * @param onShown called with each field whose object was there
 */
export function findFaults(
  question: Asked,
  {
    asker,
    answer,
    whole,
  }: { readonly asker: Asker; readonly answer: GraphQLAnswer; readonly whole: GraphQLAnswer },
  onShown: (coordinate: string) => void = () => {},
): readonly string[] {
  const codes = new Map(
    (answer.errors ?? []).map(({ path = [], extensions }) => [path.join('.'), String(extensions.code)]),
  );
  const faults: string[] = [];
  const visit = (asked: Asked, { path, result, all }: Visited) => {
    const { coordinate, name } = asked;
    const here = path === '' ? name : `${path}.${name}`;
    onShown(coordinate);
    const expected = expectedOf(asker, coordinate, all);
    const found = codes.get(here) ?? 'shown';
    codes.delete(here);
    if (found !== expected) faults.push(`${coordinate} is ${found}, not ${expected}`);
    if (found !== 'shown') return;
    const values = { value: result[name] ?? null, whole: firstOf(all[name] ?? null, here).value };
    const isHidden = asker.isLimited && needOf(coordinate).ofUser === 'hidden';
    faults.push(...(isHidden ? findShown(asked, values) : findGone(asked, values)));
    if (!isHidden) visitFields(asked, values, here);
  };
  const visitFields = ({ fields }: Asked, { value, whole: all }: Values, path: string) => {
    const first = firstOf(value, path);
    const allFields = fieldsOf(all);
    if (allFields === null) return;
    const result = fieldsOf(first.value) ?? {};
    for (const field of fields) visit(field, { path: first.path, result, all: allFields });
  };
  visit(question, { path: '', result: fieldsOf(answer.data) ?? {}, all: fieldsOf(whole.data) ?? {} });
  // Of a list the first row is looked at.
  const others = [...codes].filter(([path]) => !/\.[1-9]/.test(path));
  return [...faults, ...others.map(([path, code]) => `${path} is ${code}, and the table does not say so`)];
}

/** The value, or the first row of a list. */
function firstOf(value: unknown, path: string): { readonly value: unknown; readonly path: string } {
  if (Array.isArray(value)) return firstOf(value[0], `${path}.0`);
  return { value: value ?? null, path };
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : null;
}
