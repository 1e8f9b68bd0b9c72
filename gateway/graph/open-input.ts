import { GatewayError } from '../errors.ts';
import type { InputIssue } from './user-error.ts';

/** An input with open enums: each value is given as `x`, or as `xRaw`, a text that the enum does not have. */
type OpenInput<Name extends string> = Readonly<
  Partial<Record<Name | `${Name}Raw`, string | null | undefined>>
>;

/** What is asked for in the service's spelling, or null when it is left out. */
export function readOpen<Name extends string>(input: OpenInput<Name>, name: Name): string | null {
  return input[name]?.toLowerCase() ?? input[`${name}Raw`] ?? null;
}

/** A known value and a text for the same field contradict each other. */
export function findContradictions<Name extends string>(
  input: OpenInput<Name>,
  names: readonly Name[],
): readonly InputIssue[] {
  return names
    .filter((name) => input[name] && input[`${name}Raw`])
    .map((name) => ({ path: [`${name}Raw`], message: `Give either ${name} or ${name}Raw.` }));
}

/**
 * Like readOpen for the argument of a query, which has no other way to refuse.
 * @param place where the input is, such as `filter`
 * @throws GatewayError BAD_USER_INPUT for a contradiction
 */
export function requireOpen<Name extends string>(
  place: string,
  input: OpenInput<Name>,
  name: Name,
): string | null {
  if (findContradictions(input, [name]).length === 0) return readOpen(input, name);
  throw new GatewayError('BAD_USER_INPUT', `Give either ${place}.${name} or ${place}.${name}Raw.`);
}
