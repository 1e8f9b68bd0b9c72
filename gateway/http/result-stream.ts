import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { isAsyncIterable, type Plugin, processRegularResult } from 'graphql-yoga';
import type { HttpTransport, Transport } from '../execution/run-operation.ts';
import { type Framing, framings } from './stream-framings.ts';

/** Some proxies close a connection after 15 s of silence. */
const heartbeatMs = 10_000;

/** The parts of an operation's request that its stream needs. */
interface Streaming {
  readonly transport?: Transport | null;
  /** Aborts when the stream must end early. After it nothing more is sent. */
  readonly over: AbortSignal;
  /** Where the answer is written; left out without a connection. */
  readonly outgoing?: ServerResponse | undefined;
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
      const isStream = isAsyncIterable(result);
      if (!isStream && resultProcessor !== undefined) return;
      const transport = serverContext.transport === 'multipart' ? 'multipart' : 'sse';
      // Yoga knows no form that the client accepts, and would answer with an empty 406. A client of the parts gets a refusal
      // in them, any other in JSON.
      if (!isStream && transport !== 'multipart') {
        setResultProcessor(processRegularResult, 'application/json');
        return;
      }
      const framing = framings[transport];
      const body = writeResults(isStream ? result : yieldOnce(result), {
        framing,
        over: serverContext.over,
        outgoing: serverContext.outgoing,
        onSend: (sent) => onSend(transport, sent),
      });
      setResultProcessor(() => new Response(body, { headers: framing.headers }), framing.mediaType);
    },
  };
}

interface WriteOptions extends Pick<Streaming, 'over' | 'outgoing'> {
  readonly framing: Framing;
  readonly onSend: (result: ExecutionResult) => void;
}

/**
 * Pulls a result when the client has taken the one before: nothing is queued for a slow reader. The end of the
 * subscription is marked. A stream that ends early, because its token or key ends or the gateway stops, ends without the mark,
 * like one that lost its connection: clients come back after that and resume.
 */
function writeResults(
  results: AsyncIterable<ExecutionResult>,
  options: WriteOptions,
): ReadableStream<Uint8Array> {
  return new ReadableStream(new ResultSource(results[Symbol.asyncIterator](), options));
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

const encoder = new TextEncoder();

class ResultSource implements UnderlyingDefaultSource<Uint8Array> {
  readonly #results: AsyncIterator<ExecutionResult>;
  readonly #options: WriteOptions;
  #heartbeats: NodeJS.Timeout | undefined;
  #cut = () => {};
  #hasEnded = false;

  constructor(results: AsyncIterator<ExecutionResult>, options: WriteOptions) {
    this.#results = results;
    this.#options = options;
  }

  start(controller: Controller): void {
    const { framing, over, outgoing } = this.#options;
    // Sent at once: some clients do not see an answer before its first byte.
    controller.enqueue(encoder.encode(framing.opening));
    this.#heartbeats = setInterval(() => {
      // A client that does not read needs no heartbeat, and heartbeats must not queue up for it.
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(framing.heartbeat));
    }, heartbeatMs);
    const cut = () => {
      // Nobody waits for what the subscription says at its end, and a rejection here would end the process.
      this.#end().catch(() => {});
      controller.close();
      // Otherwise a client that does not read would hold the answer, for as long as slow readers have.
      if ((outgoing?.writableLength ?? 0) > 0) outgoing?.destroy();
    };
    this.#cut = cut;
    over.addEventListener('abort', cut);
    if (over.aborted) cut();
  }

  async pull(controller: Controller): Promise<void> {
    const next = await this.#results.next().catch(async (error: unknown) => {
      await this.#end();
      throw error;
    });
    // Also drops a result that became ready at the end, so that an expired token gets nothing more.
    if (this.#hasEnded) return;
    const { framing, onSend } = this.#options;
    if (next.done) {
      controller.enqueue(encoder.encode(framing.ending));
      controller.close();
      await this.#end();
      return;
    }
    onSend(next.value);
    controller.enqueue(encoder.encode(framing.describe(next.value)));
  }

  async cancel(): Promise<void> {
    await this.#end();
  }

  async #end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#heartbeats);
    this.#options.over.removeEventListener('abort', this.#cut);
    await this.#results.return?.();
  }
}

async function* yieldOnce(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result;
}
