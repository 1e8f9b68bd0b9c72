import { Pool } from 'undici';
import { GatewayError, isGatewayError } from '../errors.ts';
import { createCoalescer } from './coalesce.ts';
import { type Answer, readAnswer } from './failure.ts';
import { mediaTypeOf, notThatFile, type OpenOptions, type UpstreamFile } from './file.ts';
import { type Form, toFormData } from './form.ts';
import { withRetries } from './retry.ts';

/** One call to the service. Knows paths and JSON, but no concept of the service. */
export interface UpstreamCall {
  /** A short name for logs and metrics, such as `order.list`. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Lists become repeated keys; null and undefined are left out. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  /** Whether each answer is good for one caller only, such as single-use keys: then no two reads share one. */
  readonly isSingleUse?: boolean;
  /** Statuses of refusals whose JSON says something that the caller branches on: given back, not thrown. */
  readonly readsRefusals?: readonly number[];
  /** More request headers, such as the service's idempotency key. The key header cannot be set here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as multipart/form-data in place of `body`. */
  readonly form?: Form;
}

/** The process has 10 s to end: 4 for requests in hand, these for calls under way, the rest for the event log. */
const closeMs = 3000;

type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[];

export interface Upstream {
  /**
   * The service's JSON answer to a call that changes nothing, or `undefined` when it says that there is none
   * (404). Equal reads of one `rights` key share one call, unless its answer is single-use; passing faults are tried again until the deadline.
   */
  readonly read: (call: UpstreamCall, options: ReadOptions) => Promise<unknown>;
  /** Like `read` for a call that changes something. Sent exactly once; never aborted half-way. */
  readonly write: (call: UpstreamCall) => Promise<unknown>;
  /**
   * A file, as soon as it begins to come, or `undefined` when there is none (404). Tried again like a read until then; what goes wrong later breaks the
   * stream. Never shared.
   */
  readonly open: (call: UpstreamCall, options: OpenOptions) => Promise<UpstreamFile | undefined>;
  /** Marks an operation, for the sharing of reads (see coalesce.ts). */
  readonly begin: () => () => void;
  /** From now on no read is answered with an older answer. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

export interface ReadOptions {
  /** What the caller may see, as a key: answers are never shared between different keys. */
  readonly rights: string;
  /** Ends the wait when the client has left. */
  readonly signal?: AbortSignal | undefined;
  /** Told when an equal read answers this one as well. */
  readonly onShared?: () => void;
}

export interface UpstreamOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly apiKeyHeader: string;
  /** The whole call, retries included; at most 15,000 (service facts: the service's own limit). */
  readonly deadlineMs?: number;
  /** One attempt of a read. */
  readonly attemptMs?: number;
  readonly retryDelayMs?: number;
  readonly maxBodyBytes?: number;
  readonly connections?: number;
  readonly onCall?: (operation: string, outcome: string, seconds: number) => void;
  readonly onShared?: (operation: string) => void;
}

/** The service behind one pool of keep-alive connections to one origin. The key goes nowhere else. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { url, apiKey, apiKeyHeader, deadlineMs = 15_000, attemptMs = 6000, retryDelayMs = 100 } = options;
  const maxBodyBytes = options.maxBodyBytes ?? 16 * 1024 * 1024;
  const base = new URL(url);
  const pool = new Pool(base.origin, { connections: options.connections ?? 64, pipelining: 1 });
  const coalescer = createCoalescer({
    onShared: (key) => options.onShared?.(key.slice(0, key.indexOf(' '))),
  });

  const attempt = async (call: UpstreamCall, signal: AbortSignal): Promise<unknown> => {
    try {
      const response = await pool.request({
        method: call.method,
        path: toPath(base.pathname, call),
        headers: toHeaders(call, { [apiKeyHeader]: apiKey }),
        ...toBody(call),
        signal,
      });
      const answer: Answer = {
        status: response.statusCode,
        retryAfter: headerText(response.headers['retry-after']),
        body: await readBody(response.body, maxBodyBytes),
      };
      return readAnswer(answer, call.readsRefusals);
    } catch (error) {
      throw toGatewayError(error, signal);
    }
  };

  const attemptFile = async (
    call: UpstreamCall,
    { accept, signal = new AbortController().signal, headMs }: OpenOptions & { readonly headMs: number },
  ): Promise<UpstreamFile | undefined> => {
    // Ends with the head: a whole file may take longer than the deadline, a pause within it may not.
    const slow = new AbortController();
    const timer = setTimeout(() => slow.abort(new DOMException('', 'TimeoutError')), headMs);
    const ended = AbortSignal.any([signal, slow.signal]);
    try {
      const { statusCode, headers, body } = await pool.request({
        method: call.method,
        path: toPath(base.pathname, call),
        headers: { ...toHeaders(call, { [apiKeyHeader]: apiKey }), accept },
        bodyTimeout: deadlineMs,
        signal: ended,
      });
      if (statusCode < 200 || statusCode > 299) {
        const retryAfter = headerText(headers['retry-after']);
        readAnswer({ status: statusCode, retryAfter, body: await readBody(body, maxBodyBytes) });
        return undefined;
      }
      // A body that is ended before anybody reads it says so as an error, which is nobody's.
      const cancel = () => void body.on('error', () => {}).destroy();
      if (statusCode === 200 && mediaTypeOf(headerText(headers['content-type'])) === accept) {
        return { bytes: Number(headerText(headers['content-length'])) || null, body, cancel };
      }
      cancel();
      throw notThatFile();
    } catch (error) {
      throw toGatewayError(error, ended);
    } finally {
      clearTimeout(timer);
    }
  };

  const measured = async <Result>(call: UpstreamCall, run: () => Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const report = (outcome: string) =>
      options.onCall?.(call.operation, outcome, (performance.now() - startedAt) / 1000);
    try {
      const json = await run();
      report('ok');
      return json;
    } catch (error) {
      report(isGatewayError(error) ? error.code : 'ABORTED');
      throw error;
    }
  };

  const readOnce = (call: UpstreamCall, left: AbortSignal) => {
    const deadline = performance.now() + deadlineMs;
    return measured(call, () =>
      withRetries({ deadline, baseDelayMs: retryDelayMs }, () => {
        left.throwIfAborted();
        const remainingMs = Math.max(1, deadline - performance.now());
        const timeout = AbortSignal.timeout(Math.ceil(Math.min(attemptMs, remainingMs)));
        return attempt(call, AbortSignal.any([left, timeout]));
      }),
    );
  };

  return {
    read: (call, { rights, signal, onShared }) =>
      call.isSingleUse
        ? readOnce(call, signal ?? new AbortController().signal)
        : coalescer.share(toKey(call, rights), signal, (left) => readOnce(call, left), onShared),
    write: (call) => {
      coalescer.forget();
      return measured(call, () => attempt(call, AbortSignal.timeout(deadlineMs))).finally(coalescer.forget);
    },
    open: (call, options) => {
      const deadline = performance.now() + deadlineMs;
      return measured(call, () =>
        withRetries({ deadline, baseDelayMs: retryDelayMs }, () => {
          const headMs = Math.max(1, Math.min(attemptMs, deadline - performance.now()));
          return attemptFile(call, { ...options, headMs });
        }),
      );
    },
    begin: coalescer.begin,
    forget: coalescer.forget,
    close: () => closeWithin(pool, closeMs),
  };
}

/** Lets calls under way end; those that take longer are cut, so that the process can end in time. */
async function closeWithin(pool: Pool, ms: number): Promise<void> {
  const cut = setTimeout(() => void pool.destroy(), ms);
  await pool.close().catch(() => undefined);
  clearTimeout(cut);
}

function toKey(call: UpstreamCall, rights: string): string {
  const body = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = call.headers === undefined ? '' : JSON.stringify(call.headers);
  return `${call.operation} ${rights} ${call.method} ${toPath('', call)} ${headers} ${body}`;
}

function toPath(prefix: string, call: UpstreamCall): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === null || value === undefined) continue;
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value];
    for (const item of values) query.append(name, String(item));
  }
  const text = query.toString();
  return `${prefix.replace(/\/+$/, '')}${call.path}${text === '' ? '' : `?${text}`}`;
}

function toHeaders(call: UpstreamCall, key: Readonly<Record<string, string>>): Record<string, string> {
  const more = Object.entries(call.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const own = Object.entries(key).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    ...Object.fromEntries(more),
    accept: 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    // Last and in lower case, so that no call can replace or double it.
    ...Object.fromEntries(own),
  };
}

function toBody({ body, form }: UpstreamCall) {
  if (form !== undefined) return { body: toFormData(form) };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

function headerText(value: string | readonly string[] | undefined): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : (value[0] ?? null);
}

async function readBody(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new GatewayError('UPSTREAM_UNREADABLE', 'The service answered with more than the gateway reads.');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}

function toGatewayError(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof GatewayError) return error;
  if (!signal.aborted) {
    const notSent = isConnectFailure(error);
    const message = notSent ? 'The service could not be reached.' : 'The service gave no answer.';
    return new GatewayError('UPSTREAM_UNAVAILABLE', message, { cause: error, notSent });
  }
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  return isTimeout
    ? new GatewayError('UPSTREAM_TIMEOUT', 'The service did not answer in time.')
    : signal.reason;
}

function isConnectFailure(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'UND_ERR_CONNECT_TIMEOUT';
}
