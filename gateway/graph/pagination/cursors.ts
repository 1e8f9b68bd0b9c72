import type { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import type { GraphContext } from '../context.ts';

/** The part of a context that says whose it is. */
interface OfCaller {
  readonly service: Pick<GraphContext['service'], 'rights'>;
}

/**
 * What a cursor is bound to: its stream or list, the subject of that, and the caller. A renewed token of the same
 * user can use its cursors; those of another caller are invalid.
 */
export function cursorScope({ service }: OfCaller, stream: string, of: string): string {
  const { userId, caller } = service.rights;
  return `${stream} ${of} ${userId === null ? caller.kind.toLowerCase() : `user:${userId}`}`;
}

/**
 * The cursor that a stream resumes at. An EventSource reconnects to its first address, whose `after` is as old as the
 * first connection, so the request's `Last-Event-ID` wins.
 */
export function resumeAt(
  { lastEventId }: Pick<GraphContext, 'lastEventId'>,
  after: string | null | undefined,
): string | null {
  return lastEventId ?? after ?? null;
}

/** The identity of a list: its name and everything that filters it. */
export type ListIdentity = readonly unknown[];

/** The cursors of one list for one caller. A MAC binds them to both: they are invalid elsewhere. */
export interface ListCursors {
  /** @param place a JSON value from which the list can continue */
  readonly issue: (place: unknown) => string;
  /**
   * The place of a cursor.
   * @throws GatewayError BAD_CURSOR for one of another list, filter or caller, and for any other text
   */
  readonly read: <Place>(cursor: string, shape: z.ZodType<Place>) => Place;
}

export function listCursors(
  context: OfCaller & Pick<GraphContext, 'cursors'>,
  identity: ListIdentity,
): ListCursors {
  const { cursors } = context;
  const scope = cursorScope(context, 'list', JSON.stringify(identity));
  return {
    issue: (place) => cursors.sign(scope, Buffer.from(JSON.stringify(place))),
    read: (cursor, shape) => {
      const payload = cursors.verify(scope, cursor);
      // A cursor of an earlier version may contain another kind of place.
      const place = payload === null ? null : shape.safeParse(JSON.parse(payload.toString('utf8')));
      if (place?.success) return place.data;
      throw new GatewayError(
        'BAD_CURSOR',
        'This cursor belongs to another list, filter or caller. Read the list from its start.',
      );
    },
  };
}
