import { z } from 'zod';
import { GatewayError, isGatewayError } from '../errors.ts';
import { startOfDay } from '../parse/dates.ts';

const uuid = z.guid();
const dayMs = 24 * 60 * 60 * 1000;

/** How long a text is, as people and the service count: an emoji is one character, though two UTF-16 units. */
export function countCharacters(text: string | null): number {
  let count = 0;
  for (const _character of text ?? '') count += 1;
  return count;
}

/**
 * Checks an id argument before anything is asked of the service.
 * @returns the id in lower case
 * @throws GatewayError BAD_USER_INPUT
 */
export function readUuid(name: string, value: string): string {
  if (!uuid.safeParse(value).success) throw malformed(name, 'must be a uuid.');
  return value.toLowerCase();
}

/**
 * An argument that is not what its description asks for. Mutations return its issue as data where their result has a
 * place for that (mutation-result.ts).
 * @param kind the fault, in the service's words (`toInputIssues`)
 */
function malformed(name: string, message: string, kind: string | null = null): GatewayError {
  const location = name.split('.').filter((part, index) => index > 0 || part !== 'input');
  return new GatewayError('BAD_USER_INPUT', `${name} ${message}`, {
    issues: [{ location, message: `It ${message}`, kind }],
  });
}

/** The arguments of a mutation that has an `input` and, from earlier versions, its fields as arguments. */
type EitherForm<Input> = { readonly input?: Input | null | undefined } & {
  readonly [Name in keyof Input]?: Input[Name] | null | undefined;
};

export const useInput = 'Use `input`. Removed after 2027-05-31.';

/** The reason of the deprecation of a field or argument that has another name now. */
export function renamedTo(name: string): string {
  return `Use \`${name}\`. Removed after 2027-05-31.`;
}

/**
 * The value of an argument that has an older name.
 * @param named the value under each of its names
 * @throws GatewayError BAD_USER_INPUT where both are given
 */
export function readRenamed<Value>(named: Readonly<Record<string, Value | null | undefined>>): Value | null {
  const given = Object.values(named).filter((value) => value !== null && value !== undefined);
  if (given.length <= 1) return given[0] ?? null;
  throw new GatewayError('BAD_USER_INPUT', `Give either ${Object.keys(named).join(' or ')}.`);
}

/**
 * The input of a mutation, in one of the two forms.
 * @param required the field without which the older form is not complete
 * @throws GatewayError BAD_USER_INPUT for both forms, and for none
 */
export function readInput<Input extends object>(
  { input, ...older }: EitherForm<Input>,
  required: keyof Input & string,
): Input {
  const given = Object.entries(older).filter(([, value]) => value !== null && value !== undefined);
  if (input && given.length === 0) return input;
  // The schema has checked the type of each; only the required one may be missing.
  if (!input && given.some(([name]) => name === required)) return Object.fromEntries(given) as Input;
  throw malformed(
    'input',
    'must be given, and no argument beside it.',
    given.length > 0 && input ? 'conflict' : 'missing',
  );
}

/** An id or name of the service that is no uuid: letters, digits, - and _. @throws GatewayError BAD_USER_INPUT */
export function readWord(name: string, value: string): string {
  if (/^[\w-]{1,100}$/.test(value)) return value;
  throw malformed(name, 'must be 1 to 100 letters, digits, - and _.');
}

/** Like readUuid, for an argument that may be left out. */
export function readOptionalUuid(name: string, value: string | null | undefined): string | null {
  return value === null || value === undefined ? null : readUuid(name, value);
}

/** Like readUuid, for a list; null stays null. At most 100 ids. */
export function readUuids(
  name: string,
  values: readonly string[] | null | undefined,
): readonly string[] | null {
  if (values === null || values === undefined) return null;
  return readIds(name, values).map((value) => readUuid(name, value));
}

/** A list of ids or codes; empty when left out. @throws GatewayError BAD_USER_INPUT for more than 100 */
export function readIds(name: string, values: readonly string[] | null | undefined): readonly string[] {
  if (values && values.length > 100) throw malformed(name, 'takes 100 ids at most.', 'too_long');
  return values ?? [];
}

/** The input with null for those of the named fields that were left out. */
export function withNulls<Input extends object, Name extends keyof Input>(input: Input, ...names: Name[]) {
  const nulls = Object.fromEntries(names.map((name) => [name, input[name] ?? null]));
  return { ...input, ...nulls } as Omit<Input, Name> & { [Key in Name]-?: Exclude<Input[Key], undefined> };
}

/** An id that the service writes as a number. @throws GatewayError BAD_USER_INPUT */
export function readIntegerId(name: string, value: string): number {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw malformed(name, 'must be a whole number.');
}

/** Whether a day is over everywhere on earth, because the service's time zone is not known. */
export function isOver(day: string): boolean {
  const farthestWestMs = 12 * 60 * 60 * 1000;
  return startOfDay(day).getTime() + dayMs + farthestWestMs <= Date.now();
}

/** A day that is not over yet. @throws GatewayError BAD_USER_INPUT */
export function requireDayToCome(name: string, day: string | null): string | null {
  if (day === null || !isOver(day)) return day;
  throw malformed(name, 'must be a day that is not over yet.');
}

/**
 * Reads for a query. The service's refusal becomes an error with the argument names of this schema, without the service's own
 * text, which may quote the value.
 * @param names the arguments' names in this schema, by the service's name
 * @throws GatewayError BAD_USER_INPUT where the service refuses one of them; otherwise what the read throws
 */
export async function nameRefusedArguments<Answer>(
  names: Readonly<Record<string, string>>,
  read: Promise<Answer>,
): Promise<Answer> {
  try {
    return await read;
  } catch (error) {
    if (!isGatewayError(error, 'UPSTREAM_REJECTED')) throw error;
    const known = new Map(Object.entries(names));
    const refused = error.issues.flatMap(({ location }) => location.flatMap((part) => known.get(part) ?? []));
    if (refused.length === 0) throw error;
    const list = [...new Set(refused)].join(', ');
    throw new GatewayError('BAD_USER_INPUT', `The service does not accept the value of ${list}.`);
  }
}
