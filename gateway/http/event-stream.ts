import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import { formatForStream } from '../execution/mask.ts';
import { readStreamItem } from '../execution/streams.ts';

/** Some proxies close a connection after 15 s of silence. */
const pingMs = 10_000;
/** How long an EventSource waits before it reconnects. */
const retryMs = 2000;

/** The parts of an operation's request that its stream needs. */
interface Streaming {
  /** Aborts when the stream must end. After it only `complete` is sent. */
  readonly over: AbortSignal;
}

export interface EventStreamOptions {
  /** Called with each result just before it is sent. */
  readonly onSend: (result: ExecutionResult) => void;
}

/**
 * Answers subscriptions over SSE for EventSource clients. The `id` is the cursor of the item, so that `Last-Event-ID`
 * resumes. `retry` sets the pause before a reconnect. Comments prevent proxies from closing the connection. `complete`
 * and the end of the connection mark the end of the stream. Yoga answers everything that is not a stream.
 */
export function useEventStream(options: EventStreamOptions): Plugin<object, Streaming> {
  return {
    onResultProcess: ({ result, resultProcessor, setResultProcessor, serverContext }) => {
      // Without a processor the client accepts no stream, and Yoga answers so. Any processor here is for streams.
      if (!isAsyncIterable(result) || resultProcessor === undefined) return;
      const body = writeEvents(result, { ...options, over: serverContext.over });
      setResultProcessor(() => new Response(body, { headers }), 'text/event-stream');
    },
  };
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  // The client sends nothing more over this connection once the stream has ended.
  connection: 'close',
  // For proxies that buffer answers before they pass them on.
  'x-accel-buffering': 'no',
} as const;

/** Pulls a result when the client has taken the one before: nothing is queued for a slow reader. */
function writeEvents(
  results: AsyncIterable<ExecutionResult>,
  { over, onSend }: EventStreamOptions & Streaming,
): ReadableStream<Uint8Array> {
  const iterator = results[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const ended = endOf(over);
  let pings: NodeJS.Timeout | undefined;

  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // Sent at once: some clients do not see an answer before its first byte.
      controller.enqueue(encoder.encode(`retry: ${retryMs}\n\n`));
      pings = setInterval(() => {
        // A client that does not read needs no ping, and pings must not queue up for it.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(':\n\n'));
      }, pingMs);
    },
    pull: async (controller) => {
      const next = await Promise.race([iterator.next(), ended]);
      // Also drops items that became ready at the same moment, so that an expired token gets nothing more.
      if (next === 'over' || next.done || over.aborted) {
        clearInterval(pings);
        controller.enqueue(encoder.encode('event: complete\ndata:\n\n'));
        controller.close();
        await iterator.return?.();
        return;
      }
      onSend(next.value);
      controller.enqueue(encoder.encode(describeEvent(next.value)));
    },
    cancel: async () => {
      clearInterval(pings);
      await iterator.return?.();
    },
  });
}

function endOf(over: AbortSignal): Promise<'over'> {
  return new Promise((resolve) => {
    if (over.aborted) resolve('over');
    over.addEventListener('abort', () => resolve('over'), { once: true });
  });
}

function describeEvent(result: ExecutionResult): string {
  const item = readStreamItem(result);
  const { errors, ...rest } = result;
  const json = JSON.stringify(errors === undefined ? rest : { ...rest, errors: errors.map(formatForStream) });
  return `${item === null ? '' : `id: ${item.cursor}\n`}event: next\ndata: ${json}\n\n`;
}
