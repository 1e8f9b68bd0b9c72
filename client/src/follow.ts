import { LabgraphError, toLabgraphError } from './errors.ts';
import type { GraphQLResult, Operation } from './http.ts';
import { pause, Recovery, type RecoveryOptions } from './recovery.ts';
import { readerWasSlow, type Transport } from './transports/transport.ts';

/** The items of a subscription, one after the other. Leave the loop or abort the signal to end it. */
export interface Updates<Data> {
  readonly next: () => Promise<IteratorResult<Data, undefined>>;
  /** Ends the subscription, also while an item is waited for. */
  readonly return: () => Promise<IteratorResult<Data, undefined>>;
  readonly [Symbol.asyncIterator]: () => Updates<Data>;
}

export interface FollowSettings extends RecoveryOptions {
  readonly transport: Transport;
  readonly signal?: AbortSignal | undefined;
  /** Called each time the gateway has accepted the token. */
  readonly onOpen?: (() => void) | undefined;
}

/**
 * Follows a subscription over as many connections as necessary, resumed by the cursor of the last item that was taken.
 * Nothing is sent before the first item is asked for. The items end when the subscription is over or left. `next` rejects
 * with a LabgraphError when it cannot go on: another attempt would get the same answer.
 */
export function follow(operation: Operation, { signal, ...settings }: FollowSettings): Updates<unknown> {
  const left = new AbortController();
  // `AbortSignal.any` would do in browsers since 2024.
  if (signal?.aborted) left.abort();
  signal?.addEventListener('abort', () => left.abort(), { signal: left.signal });
  const items = iterate(operation, { ...settings, left });
  const updates: Updates<unknown> = {
    next: () => items.next(),
    return: () => {
      left.abort();
      return items.return(undefined);
    },
    [Symbol.asyncIterator]: () => updates,
  };
  return updates;
}

async function* iterate(
  { query, variables }: Operation,
  { transport, left, onOpen, ...recovering }: FollowSettings & { readonly left: AbortController },
): AsyncGenerator<unknown, undefined, undefined> {
  if (!/\$after\b/.test(query)) throw notResumable();
  const recovery = new Recovery(recovering);
  const { signal } = left;
  let resumed = variables;
  try {
    while (!signal.aborted) {
      const beganAt = performance.now();
      let isAccepted = false;
      const accepted = () => {
        isAccepted = true;
        onOpen?.();
      };
      try {
        for await (const result of transport({
          operation: { query, variables: resumed },
          signal,
          accepted,
        })) {
          resumed = { ...variables, after: readCursor(result) };
          recovery.received();
          yield result.data;
        }
        return;
      } catch (error) {
        if (signal.aborted || error === readerWasSlow) continue;
        const livedMs = performance.now() - beganAt;
        await pause(recovery.pauseAfter(error, { isAccepted, livedMs }), signal);
      }
    }
  } finally {
    left.abort();
  }
}

/** The place of an item in its stream. @throws LabgraphError if the result is a refusal, or has no cursor */
function readCursor({ data, errors }: GraphQLResult): string {
  const [item] = Object.values(data ?? {});
  // With an item, fields that failed are null in it.
  if (!item) throw toLabgraphError(errors ?? []);
  if (typeof item.cursor !== 'string') throw notResumable();
  return item.cursor;
}

function notResumable(): LabgraphError {
  const message = 'Declare `$after: EventCursor`, pass it as `after`, and select `cursor`.';
  return new LabgraphError('DOCUMENT_NOT_RESUMABLE', { errors: [{ message }] });
}
