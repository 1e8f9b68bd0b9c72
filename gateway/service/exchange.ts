import type { Dispatcher } from 'undici';
import type { GatewayError } from '../errors.ts';
import { decode, isEncoded } from './encoding.ts';
import { type Answer, describeEnd, describeFault, describeLate, describeTooLong } from './failure.ts';

export interface ExchangeLimits {
  /** From asking to the last byte of the answer. */
  readonly ms: number;
  /** Limit of the decompressed answer. */
  readonly maxBytes: number;
  /** Aborts when nobody waits for it any more; null where it is not to be ended half-way. */
  readonly left: AbortSignal | null;
}

/**
 * One request, and the whole answer to it as text. Asked of undici by its `dispatch`: a body that is read to its end
 * needs no stream, and an end that comes from here no signal. With `request`, a policy for retries, and a signal and a timer
 * for each, a read of 2.7 kB took 52 µs of the processor; now it takes 32.
 * @throws GatewayError UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_UNREADABLE (longer than `maxBytes`), ABANDONED
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { ms, maxBytes, left }: ExchangeLimits,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [bytes, status] = [0, 0];
    let retryAfter: string | null = null;
    let encoding: string | null = null;
    /** Null until the request has a connection. */
    let controller: Dispatcher.DispatchController | null = null;
    let isOver = false;
    const finish = () => {
      isOver = true;
      clearTimeout(timer);
      left?.removeEventListener('abort', leave);
    };
    const fail = (error: GatewayError) => {
      if (isOver) return;
      finish();
      reject(error);
      controller?.abort(error);
    };
    const leave = () => left !== null && fail(describeEnd(left));
    const timer = setTimeout(() => fail(describeLate()), ms);
    left?.addEventListener('abort', leave, { once: true });
    if (left?.aborted) return void leave();
    dispatcher.dispatch(request, {
      onRequestStart: (started) => {
        controller = started;
        if (isOver) started.abort(new Error('Nobody waits for it any more.'));
      },
      // Also of an answer that says that the true one is still to come (1xx).
      onResponseStart: (_controller, statusCode, headers) => {
        status = statusCode;
        retryAfter = textOf(headers['retry-after']);
        encoding = textOf(headers['content-encoding']);
      },
      onResponseData: (_controller, chunk) => {
        bytes += chunk.length;
        if (bytes > maxBytes) fail(describeTooLong());
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        // The exchange is complete: nothing is left to abort.
        controller = null;
        const succeed = (body: Buffer) => {
          if (isOver) return;
          finish();
          resolve({ status, retryAfter, body: body.toString('utf8') });
        };
        const body = join(chunks, bytes);
        if (bytes === 0 || !isEncoded(encoding)) succeed(body);
        else
          decode(body, encoding, maxBytes).then(succeed, (error) =>
            isDone(status) ? fail(error) : succeed(nothing),
          );
      },
      onResponseError: (_controller, error) => fail(describeFault(error)),
    });
  });
}

/** A refusal is recognized by its status even if its body cannot be read. */
const nothing = Buffer.alloc(0);

function isDone(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Of a header that came twice, the first. */
export function textOf(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : (value[0] ?? null);
}

function join(chunks: readonly Buffer[], bytes: number): Buffer {
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, bytes);
}
