import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
} from 'node:zlib';
import type { Dispatcher, FormData } from 'undici';
import { GatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';
import { type Answer, describeEnd, describeFault, describeLate, describeTooLong } from './failure.ts';

export interface ExchangeLimits {
  /** The timeout of the whole exchange, up to the last byte of the answer. */
  readonly ms: number;
  /** Limit of the decompressed answer. */
  readonly maxBytes: number;
  /** Aborts when nobody waits for the answer any more; null for a request that must not be aborted. */
  readonly left: AbortSignal | null;
}

/**
 * One request, and the whole answer to it as text. It uses undici's `dispatch` and not `request`, because a body that is read
 * to its end needs neither a stream nor a signal (decision 0075).
 * @throws GatewayError UPSTREAM_UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_UNREADABLE (longer than `maxBytes`), ABANDONED
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: ExchangeLimits,
): Promise<Answer> {
  const receiver = new Receiver(limits);
  if (limits.left?.aborted !== true) dispatcher.dispatch(request, receiver);
  return receiver.answer;
}

/** Receives one answer from undici, within its limits. */
class Receiver implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number;
  readonly #left: AbortSignal | null;
  readonly #timer: NodeJS.Timeout;
  readonly #result = Promise.withResolvers<Answer>();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #retryAfter: string | null = null;
  #encoding: string | null = null;
  /** Null until the request has a connection, and when there is nothing left to abort. */
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;

  constructor({ ms, maxBytes, left }: ExchangeLimits) {
    this.#maxBytes = maxBytes;
    this.#left = left;
    this.#timer = setTimeout(() => this.#fail(describeLate()), ms);
    left?.addEventListener('abort', this.#leave, { once: true });
    if (left?.aborted) this.#leave();
  }

  get answer(): Promise<Answer> {
    return this.#result.promise;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('Nobody waits for the answer any more.'));
  }

  /** Also called for informational answers (1xx), before the final one. */
  onResponseStart(_: unknown, status: number, headers: Readonly<Record<string, HeaderValue>>): void {
    this.#status = status;
    this.#retryAfter = textOf(headers['retry-after']);
    this.#encoding = textOf(headers['content-encoding']);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) this.#fail(describeTooLong());
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#controller = null;
    const [first = empty, ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks, this.#bytes);
    if (this.#bytes === 0 || !isEncoded(this.#encoding)) this.#succeed(body);
    else
      decode(body, this.#encoding, this.#maxBytes).then(
        (decoded) => this.#succeed(decoded),
        // A refusal is recognized by its status even if its body cannot be read.
        (error) => (this.#status >= 200 && this.#status < 300 ? this.#fail(error) : this.#succeed(empty)),
      );
  }

  onResponseError(_: unknown, error: Error): void {
    this.#fail(describeFault(error));
  }

  readonly #leave = () => {
    if (this.#left !== null) this.#fail(describeEnd(this.#left));
  };

  #succeed(body: Buffer): void {
    if (this.#isOver) return;
    this.#finish();
    this.#result.resolve({ status: this.#status, retryAfter: this.#retryAfter, body: body.toString('utf8') });
  }

  #fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.#finish();
    this.#result.reject(error);
    this.#controller?.abort(error);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#left?.removeEventListener('abort', this.#leave);
  }
}

const empty = Buffer.alloc(0);

type HeaderValue = string | readonly string[] | undefined;

/** The value of a header; the first one if the header was sent twice. */
export function textOf(value: HeaderValue): string | null {
  if (value === undefined) return null;
  return typeof value === 'string' ? value : (value[0] ?? null);
}

/** The cache key of a call: equal for equal calls with the same rights. */
export function toKey(call: UpstreamCall, rights: string): string {
  const body = call.body === undefined ? '' : JSON.stringify(call.body);
  const headers = call.headers === undefined ? '' : JSON.stringify(call.headers);
  return `${call.operation} ${rights} ${call.method} ${toPath('', call)} ${headers} ${body}`;
}

export function toPath(prefix: string, call: UpstreamCall): string {
  const base = prefix.endsWith('/') ? prefix.replace(/(?<!\/)\/+$/, '') : prefix;
  const query = call.query === undefined ? '' : toQuery(call.query);
  return query === '' ? base + call.path : `${base}${call.path}?${query}`;
}

/**
 * The longest query, in characters before encoding. Servers refuse longer ones, and every call encodes its query again.
 */
const maxQueryCharacters = 16_000;

/** @throws GatewayError BAD_USER_INPUT when it is too long */
function toQuery(query: NonNullable<UpstreamCall['query']>): string {
  let text = '';
  let characters = 0;
  const add = (name: string, value: string | number | boolean) => {
    characters += name.length + String(value).length;
    if (characters > maxQueryCharacters) throw new GatewayError('BAD_USER_INPUT', 'The filter is too long.');
    text += `${text === '' ? '' : '&'}${encode(name)}=${encode(String(value))}`;
  };
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'object') for (const item of value) add(name, item);
    else add(name, value);
  }
  return text;
}

/** Texts that form encoding leaves as they are: names, ids, numbers and days. */
const plain = /^[\w.*-]*$/;

/** Form encoding; a text without special characters skips the slow encoder. */
function encode(text: string): string {
  return plain.test(text) ? text : new URLSearchParams([['', text]]).toString().slice(1);
}

export function toHeaders(call: UpstreamCall, key: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {};
  if (call.headers !== undefined) addLower(headers, call.headers);
  headers.accept = 'application/json';
  headers['accept-encoding'] = acceptEncoding;
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  // Last and in lower case, so that no call can replace or double it.
  addLower(headers, key);
  return headers;
}

function addLower(headers: Record<string, string>, more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = value;
}

/** A form needs undici's own class, because its client accepts no other. Files are read while they are sent, not before. */
export function toBody({ body, form }: UpstreamCall, FormDataOfClient: typeof FormData) {
  if (form === undefined) return body === undefined ? {} : { body: JSON.stringify(body) };
  const made = new FormDataOfClient();
  for (const part of form) {
    if ('file' in part) made.append(part.name, part.file, part.fileName);
    else made.append(part.name, part.value);
  }
  return { body: made };
}

/** Encodings that the gateway accepts. */
const acceptEncoding = 'gzip, br';

const gzip = { whole: promisify(gunzip), stream: createGunzip };
const decoders = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['br', { whole: promisify(brotliDecompress), stream: createBrotliDecompress }],
  ['deflate', { whole: promisify(inflate), stream: createInflate }],
]);

/** Whether a `content-encoding` names a compression. */
export function isEncoded(encoding: string | null): encoding is string {
  return encoding !== null && !/^\s*(identity\s*)?$/i.test(encoding);
}

/**
 * Decompresses a body into at most `maxBytes`, so that a small compressed body cannot fill the memory.
 * @throws GatewayError UPSTREAM_UNREADABLE
 */
async function decode(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const decoder = decoders.get(toName(encoding));
  if (decoder === undefined) throw describeUndecodable();
  try {
    return await decoder.whole(body, { maxOutputLength: maxBytes });
  } catch (error) {
    throw isTooLarge(error) ? describeTooLong() : describeUndecodable();
  }
}

/** Decompresses a stream. An error of the body destroys the result, and destroying the result ends the body. */
export function decodeStream(body: Readable, encoding: string): Readable {
  const decoded = decoders.get(toName(encoding))?.stream();
  if (decoded === undefined) {
    body.on('error', () => {}).destroy();
    throw describeUndecodable();
  }
  body.on('error', (error) => decoded.destroy(error));
  decoded.on('close', () => body.destroy());
  return body.pipe(decoded);
}

/** The name of a single encoding; nested encodings were never requested. */
function toName(encoding: string): string {
  return encoding.trim().toLowerCase();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

/** Its status is 200, so that the read is retried: the next body may be readable. */
function describeUndecodable(): GatewayError {
  const message = 'The service answered in an encoding that cannot be read.';
  return new GatewayError('UPSTREAM_UNREADABLE', message, { status: 200 });
}
