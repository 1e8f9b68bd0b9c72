import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  mapSourceToResponseEvent,
  validateSubscriptionArgs,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { z } from 'zod';
import type { GraphContext } from '../graph/context.ts';

/** What the edge needs to know of the item that a result was made of. */
export interface StreamItem {
  readonly cursor: string;
  /** When the gateway received it; null for events from before the stream began. */
  readonly waitingSince: Date | null;
}

/** A symbol, so that it stays beside the result through every plugin and is never part of its JSON. */
const itemKey = Symbol('stream item');

/** What a subscription's result bears beside what GraphQL knows. */
interface Bearing {
  readonly [itemKey]?: StreamItem | null;
}

/** The item that a result of a subscription was made of; null when it is of none (an error of the stream). */
export function readStreamItem(result: object): StreamItem | null {
  const { [itemKey]: item }: Bearing = result;
  return item ?? null;
}

/**
 * Runs a subscription so that each result bears the item it was made of. The two are paired where the result is
 * made, by the item that is its root value, and not by what was pulled last: a reader may be slow, and the next
 * item may be on its way before this one is sent.
 */
export async function subscribe(
  args: ExecutionArgs,
): Promise<AsyncGenerator<ExecutionResult> | ExecutionResult> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const source = await createSourceEventStream(validated);
  if (!isAsyncIterable(source)) return source;
  const beganAt = new Date();
  return mapSourceToResponseEvent(validated, source, async (event): Promise<ExecutionResult & Bearing> => {
    const { work } = event.contextValue as GraphContext;
    const result = await work.run(async () => await executeSubscriptionEvent(event));
    return { ...result, [itemKey]: describeItem(event.rootValue, beganAt) };
  });
}

/** Items of every stream have these two; what a stream yields else has no cursor to resume from. */
const itemShape = z.object({ cursor: z.string(), receivedAt: z.date().nullable() });

function describeItem(item: unknown, beganAt: Date): StreamItem | null {
  const read = itemShape.safeParse(item).data;
  if (read === undefined) return null;
  const { cursor, receivedAt } = read;
  return { cursor, waitingSince: receivedAt !== null && receivedAt >= beganAt ? receivedAt : null };
}
