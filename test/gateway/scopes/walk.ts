import { isNonNullType, isObjectType } from 'graphql';
import type { Scope } from '../../../gateway/auth/rights.ts';
import type { GraphQLAnswer } from '../../support/lab.ts';
import { schema } from '../isolation/places.ts';
import type { Asked } from './questions.ts';
import { type Need, needOf, scopesOfUser } from './table.ts';

/** Whoever asks, as the table sees them. */
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
  if (isLimited && ofUser === 'hidden') return false;
  if (isForTeam || (isLimited && ofUser === 'refused')) return true;
  return needed.some((scope) => !scopes.includes(scope) || (isLimited && scopesOfUser.includes(scope)));
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * What differs between an answer and what the table says of it, field by field.
 * @param whole the same question's answer to a gateway key
 * @param onShown told each field whose object was there
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
  const visit = (
    asked: Asked,
    at: { readonly path: string; readonly told: Fields; readonly all: Fields },
  ) => {
    const { coordinate, name } = asked;
    const path = at.path === '' ? name : `${at.path}.${name}`;
    onShown(coordinate);
    const need = needOf(coordinate);
    const isOpenHere = need.isAtHome && at.all.type === 'PATIENT_SERVICE_CENTER';
    const expected = !isOpenHere && isRefused(asker, need) ? 'FORBIDDEN' : 'shown';
    const found = codes.get(path) ?? 'shown';
    codes.delete(path);
    if (found !== expected) faults.push(`${coordinate} is ${found}, not ${expected}`);
    if (found !== 'shown') return;
    const [told, all] = [at.told[name] ?? null, firstOf(at.all[name] ?? null, path).value];
    const isEmpty = told === null || (Array.isArray(told) && told.length === 0);
    if (asker.isLimited && need.ofUser === 'hidden') {
      if (!isEmpty) faults.push(`${coordinate} is there`);
      return;
    }
    const isGone = isEmpty && (told === null || asked.fields.length > 0);
    if (isGone && all !== null && !isTakenAlong(asked, codes, path))
      faults.push(`${coordinate} is empty, unlike the team's`);
    const first = firstOf(told, path);
    const [toldFields, allFields] = [fieldsOf(first.value), fieldsOf(all)];
    if (allFields === null) return;
    for (const field of asked.fields)
      visit(field, { path: first.path, told: toldFields ?? {}, all: allFields });
  };
  visit(question, { path: '', told: fieldsOf(answer.data) ?? {}, all: fieldsOf(whole.data) ?? {} });
  // Of a list the first row is looked at.
  const others = [...codes].filter(([path]) => !/\.[1-9]/.test(path));
  return [...faults, ...others.map(([path, code]) => `${path} is ${code}, whatever the table says`)];
}

/** Whether it is null because something beneath it was refused that cannot be null. */
function isTakenAlong({ fields }: Asked, codes: ReadonlyMap<string, string>, path: string): boolean {
  return fields.some(({ coordinate, name }) => {
    const [parent = ''] = coordinate.split('.');
    const type = schema.getType(parent);
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    return isNonNullType(field?.type) && codes.has(`${path}.${name}`);
  });
}

/** The value, or the first row of a list. */
function firstOf(value: unknown, path: string): { readonly value: unknown; readonly path: string } {
  if (Array.isArray(value)) return firstOf(value[0], `${path}.0`);
  return { value: value ?? null, path };
}

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : null;
}
