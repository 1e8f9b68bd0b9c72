import { z } from 'zod';
import { GatewayError } from '../errors.ts';

const uuid = z.guid();

/** How long a text is, as people and the service count: an emoji is one character, though two UTF-16 units. */
export function countCharacters(text: string | null): number {
  return [...(text ?? '')].length;
}

/**
 * Checks an id argument before anything is asked of the service.
 * @returns the id in lower case
 * @throws GatewayError BAD_USER_INPUT
 */
export function readUuid(name: string, value: string): string {
  if (!uuid.safeParse(value).success) throw new GatewayError('BAD_USER_INPUT', `${name} must be a uuid.`);
  return value.toLowerCase();
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
  if (values.length > 100) throw new GatewayError('BAD_USER_INPUT', `${name} takes 100 ids at most.`);
  return values.map((value) => readUuid(name, value));
}
