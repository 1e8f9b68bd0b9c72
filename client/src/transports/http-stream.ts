import { LabgraphError } from '../errors.ts';
import { type Endpoint, failNetwork, type GraphQLResult, post, readRefusal } from '../http.ts';
import type { Attempt, Transport } from './transport.ts';

/** Three heartbeats of the gateway. */
const silenceMs = 35_000;
/** Far more than the gateway puts into one item. */
const maxFrameLength = 2 ** 25;

/** How results are written into the body of an answer. */
export interface Framing {
  readonly accept: string;
  /** The content type of a stream; every other answer is a refusal. */
  readonly type: string;
  /** Stands after each frame, with `\n` for every end of a line. */
  readonly delimiter: string;
  /** Begins the frame that says that the subscription is over. */
  readonly ending: string;
  /** The result in a frame; null in a heartbeat. */
  readonly read: (frame: string) => GraphQLResult | null;
}

/** Follows over one request whose answer is a stream. */
export function createHttpTransport(endpoint: Endpoint, framing: Framing): Transport {
  return async function* (attempt) {
    const connection = new AbortController();
    const stop = () => connection.abort(new LabgraphError('NETWORK_FAILED'));
    attempt.signal.addEventListener('abort', stop, { signal: connection.signal });
    const opening = setTimeout(stop, silenceMs);
    try {
      const chunks = await open(endpoint, framing, { attempt, signal: connection.signal });
      clearTimeout(opening);
      for await (const frame of readFrames(chunks, framing, stop)) {
        if (frame.startsWith(framing.ending)) return;
        const result = framing.read(frame);
        if (result !== null) yield result;
      }
      throw new LabgraphError('NETWORK_FAILED');
    } finally {
      clearTimeout(opening);
      stop();
    }
  };
}

/** The chunks of an accepted stream as text. @throws LabgraphError what the gateway answers in its place */
async function open(
  endpoint: Endpoint,
  { accept, type }: Framing,
  { attempt, signal }: { readonly attempt: Attempt; readonly signal: AbortSignal },
): Promise<ReadableStreamDefaultReader<string>> {
  const response = await post(endpoint, attempt.operation, { accept, signal });
  const isStream = response.headers.get('content-type')?.startsWith(type);
  if (!isStream || response.body === null) throw await readRefusal(response);
  attempt.accepted();
  return response.body.pipeThrough(new TextDecoderStream()).getReader();
}

/**
 * The frames of a stream, each when it is asked for: a slow reader slows the gateway.
 * @param stop called when the gateway is silent for too long
 */
async function* readFrames(
  chunks: ReadableStreamDefaultReader<string>,
  { delimiter, ending }: Framing,
  stop: () => void,
): AsyncGenerator<string, void, undefined> {
  let text = '';
  for (;;) {
    const silence = setTimeout(stop, silenceMs);
    const { value, done } = await chunks
      .read()
      .catch(failNetwork)
      .finally(() => clearTimeout(silence));
    if (done) break;
    const frames = (text + value.replaceAll('\r', '')).split(delimiter);
    text = frames.pop() ?? '';
    if (text.length > maxFrameLength) throw new LabgraphError('ANSWER_UNREADABLE');
    yield* frames;
    // It may lack the delimiter.
    if (text.startsWith(ending)) yield text;
  }
}
