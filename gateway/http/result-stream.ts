import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { HttpTransport, Transport } from '../execution/run-operation.ts';
import { type Framing, framings } from './stream-framings.ts';

/** Some proxies close a connection after 15 s of silence. */
const heartbeatMs = 10_000;

/** The parts of an operation's request that its stream needs. */
interface Streaming {
  readonly transport?: Transport;
  /** Aborts when the stream must end early. After it nothing more is sent. */
  readonly over: AbortSignal;
}

export interface ResultStreamOptions {
  /** Called with each result just before it is sent. */
  readonly onSend: (transport: HttpTransport, result: ExecutionResult) => void;
}

/**
 * Answers subscriptions over HTTP, as server-sent events or as parts of a multipart answer. Yoga answers everything that
 * is not a stream.
 */
export function useResultStream({ onSend }: ResultStreamOptions): Plugin<object, Streaming> {
  return {
    onResultProcess: ({ result, resultProcessor, setResultProcessor, serverContext }) => {
      if (Array.isArray(result)) return;
      const transport = serverContext.transport === 'multipart' ? 'multipart' : 'sse';
      const isStream = isAsyncIterable(result);
      // Yoga's processor is one for SSE if the result is a stream. Without one Yoga answers 406. It does not know the
      // parts: they are also for a refusal, if the client accepts no JSON.
      const isAccepted = resultProcessor !== undefined;
      if (transport === 'multipart' ? !isStream && isAccepted : !isStream || !isAccepted) return;
      const framing = framings[transport];
      const body = writeResults(isStream ? result : yieldOnce(result), {
        framing,
        over: serverContext.over,
        onSend: (sent) => onSend(transport, sent),
      });
      setResultProcessor(() => new Response(body, { headers: framing.headers }), framing.mediaType);
    },
  };
}

interface WriteOptions {
  readonly framing: Framing;
  readonly over: AbortSignal;
  readonly onSend: (result: ExecutionResult) => void;
}

/**
 * Pulls a result when the client has taken the one before: nothing is queued for a slow reader. The end of the
 * subscription is marked. A stream that ends early, because its token ends or the gateway stops, ends without the mark,
 * like one that lost its connection: clients come back after that and resume.
 */
function writeResults(
  results: AsyncIterable<ExecutionResult>,
  { framing, over, onSend }: WriteOptions,
): ReadableStream<Uint8Array> {
  const iterator = results[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let heartbeats: NodeJS.Timeout | undefined;

  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      // Sent at once: some clients do not see an answer before its first byte.
      controller.enqueue(encoder.encode(framing.opening));
      heartbeats = setInterval(() => {
        // A client that does not read needs no heartbeat, and heartbeats must not queue up for it.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(framing.heartbeat));
      }, heartbeatMs);
    },
    pull: async (controller) => {
      const next = await unlessOver(iterator.next(), over);
      // Also drops items that became ready at the same moment, so that an expired token gets nothing more.
      const isCut = next === 'over' || over.aborted;
      if (isCut || next.done) {
        clearInterval(heartbeats);
        if (!isCut) controller.enqueue(encoder.encode(framing.ending));
        controller.close();
        await iterator.return?.();
        return;
      }
      onSend(next.value);
      controller.enqueue(encoder.encode(framing.describe(next.value)));
    },
    cancel: async () => {
      clearInterval(heartbeats);
      await iterator.return?.();
    },
  });
}

async function* yieldOnce(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}

/** A promise for each result: one that lasts as long as the stream would hold all results that were raced against it. */
function unlessOver<Result>(result: Promise<Result>, over: AbortSignal): Promise<Result | 'over'> {
  return new Promise((resolve, reject) => {
    const end = () => resolve('over');
    if (over.aborted) end();
    over.addEventListener('abort', end);
    result.then(resolve, reject).finally(() => over.removeEventListener('abort', end));
  });
}
