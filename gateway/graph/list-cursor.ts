import type { z } from 'zod';
import { GatewayError } from '../errors.ts';

/** A cursor that carries more than a place: the identity of its list, then what leads back to the row. */
export function writeListCursor(identity: string, place: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([identity, ...place])).toString('base64url');
}

/**
 * What such a cursor carries.
 * @throws GatewayError BAD_CURSOR for one of another list and for any other text
 */
export function readListCursor<Place>(after: string, identity: string, shape: z.ZodType<Place>): Place {
  const [cursorIdentity, ...place] = parseList(Buffer.from(after, 'base64url').toString('utf8'));
  const read = shape.safeParse(place);
  if (cursorIdentity === identity && read.success) return read.data;
  throw badCursor();
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** Text that is none of ours is answered like a cursor of another list. */
export function badCursor(): GatewayError {
  return new GatewayError(
    'BAD_CURSOR',
    'This cursor belongs to another list or filter. Read the list from its start.',
  );
}
