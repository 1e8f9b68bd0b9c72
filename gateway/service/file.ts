import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';
import { decodeStream, isEncoded, textOf } from './exchange.ts';
import { describeEnd, describeFault, describeTooLong, readAnswer } from './failure.ts';

/** A file that the service is sending. */
export interface UpstreamFile {
  /** Its length, when the service says it. */
  readonly bytes: number | null;
  /** Its bytes as they come; leaving the iteration ends the transfer. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the transfer of a file that nobody reads. */
  readonly cancel: () => void;
}

export interface OpenOptions {
  /** The media type that the file must have. */
  readonly accept: string;
  /** Ends the transfer, also half-way. */
  readonly signal?: AbortSignal | undefined;
}

/** The limits of one attempt. */
export interface FileLimits {
  /** The timeout for the head of the answer. */
  readonly headMs: number;
  /** The longest pause between two pieces of the file. */
  readonly pauseMs: number;
  /** The most bytes that are read of an answer that is not a file. */
  readonly maxBytes: number;
  /** Whose values a refusal may quote. */
  readonly call: UpstreamCall;
}

/**
 * Resolves with the file when the head of the answer has arrived, or with `undefined` for 404. The timeout is for a
 * pause and not for the whole file, which may take longer than any call.
 * @throws GatewayError as every call (failure.ts), and UPSTREAM_UNREADABLE for another media type
 */
export async function openFile(
  dispatcher: Dispatcher,
  request: Dispatcher.RequestOptions,
  { accept, signal = new AbortController().signal, ...limits }: OpenOptions & FileLimits,
): Promise<UpstreamFile | undefined> {
  const slow = new AbortController();
  const timer = setTimeout(() => slow.abort(new DOMException('', 'TimeoutError')), limits.headMs);
  const ended = AbortSignal.any([signal, slow.signal]);
  try {
    const { statusCode, headers, ...answer } = await dispatcher.request({
      ...request,
      bodyTimeout: limits.pauseMs,
      signal: ended,
    });
    const encoding = textOf(headers['content-encoding']);
    const body = isEncoded(encoding) ? decodeStream(answer.body, encoding) : answer.body;
    if (statusCode < 200 || statusCode > 299) {
      const retryAfter = textOf(headers['retry-after']);
      const text = await readText(body, limits.maxBytes);
      readAnswer({ status: statusCode, retryAfter, body: text }, limits.call);
      return undefined;
    }
    // A body that is destroyed before anybody reads it emits an error, which has no other listener.
    const cancel = () => void body.on('error', () => {}).destroy();
    if (statusCode === 200 && mediaTypeOf(textOf(headers['content-type'])) === accept) {
      const length = isEncoded(encoding) ? null : textOf(headers['content-length']);
      return { bytes: Number(length) || null, body, cancel };
    }
    cancel();
    throw new GatewayError(
      'UPSTREAM_UNREADABLE',
      'The service answered with something that is not the file.',
    );
  } catch (error) {
    throw ended.aborted && !(error instanceof GatewayError) ? describeEnd(ended) : describeFault(error);
  } finally {
    clearTimeout(timer);
  }
}

async function readText(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw describeTooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

/** The media type of an answer without its parameters, in lower case. */
function mediaTypeOf(contentType: string | null): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
}
