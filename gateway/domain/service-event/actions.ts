import type { Place } from '../../events/cursor.ts';
import { createStream, follow, makeOncePerEvent } from '../../events/follow.ts';
import type { GapReason, Scope } from '../../events/log.ts';
import type { GraphContext } from '../../graph/context.ts';
import { cursorScope } from '../../graph/pagination/cursors.ts';

/** One item of the team's stream: an event, or a notice that history was lost. */
export interface ServiceEvent {
  readonly kind: 'event' | 'reset';
  readonly cursor: string;
  readonly type: string;
  readonly userId: string | null;
  readonly clientUserId: string | null;
  readonly teamId: string | null;
  readonly receivedAt: Date;
  /** The `traceparent` of its webhook's append; null where it was not traced. */
  readonly trace: string | null;
  readonly payload: unknown;
  readonly reason: GapReason | null;
}

export interface ServiceEventArguments {
  readonly userId: string | null;
  readonly types: readonly string[] | null;
  readonly after: string | null;
}

/**
 * The events of the log, each once and in log order. Without `after` from now on.
 * @throws GatewayError BAD_CURSOR
 */
export async function followServiceEvents(
  context: GraphContext,
  args: ServiceEventArguments,
): Promise<AsyncGenerator<ServiceEvent>> {
  const cursors = createCursorsOf(context, args);
  const place = args.after === null ? null : cursors.read(args.after);
  const isLost = place === 'other-epoch';
  const position = place === null || isLost ? await context.events.position() : place.position;
  return createStream(context.over, (signal) =>
    generate(context, { args, position, signal, lost: isLost ? 'other-epoch' : null }),
  );
}

/**
 * The cursor after the newest event.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE
 */
export async function cursorOfNow(
  context: GraphContext,
  args: Omit<ServiceEventArguments, 'after'>,
): Promise<string> {
  return createCursorsOf(context, args).issue(await context.events.position());
}

interface Generation {
  readonly args: ServiceEventArguments;
  readonly position: number;
  readonly signal: AbortSignal;
  readonly lost: GapReason | null;
}

async function* generate(context: GraphContext, start: Generation): AsyncGenerator<ServiceEvent> {
  const { args, position, signal, lost } = start;
  const cursors = createCursorsOf(context, args);
  const reset = (after: number, reason: GapReason) => {
    context.onResync(reason);
    return resetEvent(cursors.issue(after), reason);
  };
  if (lost !== null && !signal.aborted) yield reset(position, lost);
  for await (const item of follow(context.events, logScopeOf(args), { after: position, signal })) {
    if (item.kind === 'gap') {
      yield reset(item.position, item.reason);
      continue;
    }
    const { event, payload } = item;
    if (!context.service.rights.mayShow({ userId: event.userId }, 'stream service-event.stream')) continue;
    context.loaders.beginAnew();
    yield itemOf(event, cursors.scope, () => {
      const cursor = cursors.issue(event.position);
      return { ...event, kind: 'event', cursor, payload, reason: null };
    });
  }
}

/** Streams with equal cursors get the same item, so its result can be shared (execution/shared-results.ts). */
const itemOf = makeOncePerEvent<ServiceEvent>();

function resetEvent(cursor: string, reason: GapReason): ServiceEvent {
  return {
    kind: 'reset',
    cursor,
    type: 'stream.reset',
    userId: null,
    clientUserId: null,
    teamId: null,
    receivedAt: new Date(),
    trace: null,
    payload: null,
    reason,
  };
}

function logScopeOf({ userId, types }: ServiceEventArguments): Scope {
  return { ...(userId === null ? {} : { userId }), ...(types === null ? {} : { types }) };
}

function createCursorsOf(context: GraphContext, { userId, types }: Omit<ServiceEventArguments, 'after'>) {
  const scope = cursorScope(context, 'events', JSON.stringify([userId, types]));
  return {
    scope,
    issue: (position: number) => context.cursors.issue(scope, { position, shown: {} }),
    read: (cursor: string): Place | 'other-epoch' => context.cursors.read(scope, cursor),
  };
}
