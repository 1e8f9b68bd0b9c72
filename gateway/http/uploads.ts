import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { type Caller, Rights } from '../auth/rights.ts';
import { GatewayError } from '../errors.ts';
import { isObject } from '../parse/json.ts';
import { notUtf8 } from './utf8-bodies.ts';

/** The largest request with files: the service's own limit for one upload (public service: 31,981,568 bytes). */
export const maxUploadBytes = 31_981_568;
/** Limits of an upload. A text field may be as large as a request without files. */
const multipartLimits: MultipartLimits = {
  textBytes: 100_000,
  // The operation, the map, and more files than any field accepts, so that the field's own message says how many it accepts.
  parts: 32,
  // Enough for two texts and the headers of all parts.
  besideFilesBytes: 512 * 1024,
};
/** The most uploads in memory at once. The service processes ten at a time (public service). */
const maxUploadsAtOnce = 10;
/** The most uploads of one user at once, over all browsers, so that others find a place. */
const maxUploadsOfUser = 2;
const retryAfterMs = 2000;

/** The slowest upload that is accepted: at least `minBytes` in each interval, and all bytes within `wholeMs`. */
export interface UploadTimeouts {
  readonly everyMs: number;
  readonly minBytes: number;
  readonly wholeMs: number;
}

/** 0.5 Mbit/s, so that nobody occupies a place with a few bytes. The whole: the largest upload at 2 Mbit/s. */
const usualTimeouts: UploadTimeouts = { everyMs: 10_000, minBytes: 640_000, wholeMs: 130_000 };

/** Whether a request is a GraphQL multipart request, which may be larger than any other. */
export function isUpload(request: Request): boolean {
  const type = request.headers.get('content-type') ?? '';
  return request.method === 'POST' && /^multipart\/form-data *;/i.test(type);
}

/**
 * Lets uploads begin, a few at a time, before a byte of them is read, and only from callers that may upload: no other
 * requests take so much memory. A user has a share of the places; gateway keys may use them all. The returned function
 * starts an upload and returns the function that marks its end.
 */
export function createUploadGate(): (caller: Caller) => () => void {
  const uploads = new Set<{ readonly userId: string | null }>();
  return (caller) => {
    new Rights(caller).require('write:lab-reports');
    const upload = { userId: caller.kind === 'USER' ? caller.userId : null };
    const own = [...uploads].filter(({ userId }) => userId === upload.userId).length;
    const isShareTaken = upload.userId !== null && own >= maxUploadsOfUser;
    if (uploads.size >= maxUploadsAtOnce || isShareTaken) {
      const message = 'Too many files are being uploaded. Try again in a moment.';
      throw new GatewayError('UPSTREAM_RATE_LIMITED', message, { retryAfterMs });
    }
    uploads.add(upload);
    return () => {
      uploads.delete(upload);
    };
  };
}

/** Reads GraphQL multipart requests and nothing else: `operations`, `map`, and one part per file. */
export function useUploads(timeouts = usualTimeouts): Plugin {
  return {
    onRequestParse: ({ request, setRequestParser }) => {
      if (isUpload(request)) setRequestParser((upload) => readUpload(upload, timeouts));
    },
  };
}

async function readUpload(request: Request, timeouts: UploadTimeouts): Promise<GraphQLParams> {
  const form = await readForm(request, timeouts);
  const operations = readJson(form, 'operations');
  const map = readJson(form, 'map');
  for (const [part, paths] of Object.entries(map)) {
    const file = form.get(part);
    if (!(file instanceof File) || !Array.isArray(paths)) throw malformed('map');
    for (const path of paths) place(operations, String(path), file);
  }
  // The parameters are checked later, like those of JSON.
  return operations;
}

async function readForm({ body, headers }: Request, timeouts: UploadTimeouts): Promise<MultipartForm> {
  const contentType = headers.get('content-type') ?? '';
  try {
    if (body === null) throw malformed('body');
    const inTime = body.pipeThrough(failWhenSlow(timeouts));
    return await readMultipart(inTime, { contentType, limits: multipartLimits });
  } catch (error) {
    if (error instanceof GraphQLError) throw error;
    if (error instanceof MultipartLimitError) throw refuse(error.message, 413);
    throw malformed('body');
  }
}

/** Passes bytes on, and fails when they come too slowly, because an upload occupies one of few places. */
function failWhenSlow({
  everyMs,
  minBytes,
  wholeMs,
}: UploadTimeouts): TransformStream<Uint8Array, Uint8Array> {
  const timers: NodeJS.Timeout[] = [];
  let came = 0;
  const stop = () => timers.forEach(clearTimeout);
  return new TransformStream({
    start: (controller) => {
      const fail = () => {
        stop();
        controller.error(tooSlow());
      };
      const check = () => {
        if (came < minBytes) fail();
        came = 0;
      };
      timers.push(setInterval(check, everyMs), setTimeout(fail, wholeMs));
      // A stream that is cut in another way leaves its timers running. They must not delay the end of the process.
      for (const timer of timers) timer.unref();
    },
    transform: (chunk, controller) => {
      came += chunk.byteLength;
      controller.enqueue(chunk);
    },
    flush: stop,
  });
}

function tooSlow(): GraphQLError {
  return refuse('The upload came too slowly.', 408);
}

function readJson(form: MultipartForm, name: string): Record<string, unknown> {
  const text = form.get(name);
  if (typeof text !== 'string') throw malformed(name);
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch {
    // Not JSON: answered like any other fault of this part.
  }
  throw malformed(name);
}

/** Puts a file at its path, which must hold null, as the multipart specification requires. */
function place(operations: Record<string, unknown>, path: string, file: File): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at: unknown = operations;
  for (const key of keys) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  if (keys[0] !== 'variables' || !isObject(at) || !Object.hasOwn(at, last) || at[last] !== null) {
    throw malformed('map');
  }
  Reflect.set(at, last, file);
}

function malformed(part: string): GraphQLError {
  return refuse(`The multipart request has no readable ${part}.`, 400);
}

function refuse(message: string, status: 400 | 408 | 413): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status } } });
}

/** Texts and files of a multipart form by the names of their parts; the first part of a name is used. */
export type MultipartForm = ReadonlyMap<string, string | File>;

export interface MultipartLimits {
  /** A longer text is ignored. */
  readonly textBytes: number;
  readonly parts: number;
  /** Total of all bytes except file contents: texts, headers, boundaries, preamble and epilogue. */
  readonly besideFilesBytes: number;
}

/** Thrown when a form exceeds its limits; the rest of it is not read. */
class MultipartLimitError extends Error {}

/** Enough for a part's headers as in RFC 7578, with a long file name. */
const headerLimits = { headerPairs: 8, headerSize: 4096 } as const;

/**
 * The parser creates all parts in its input before it can be stopped, and 64 KiB have space for thousands of empty
 * parts.
 */
const sliceBytes = 4096;

function* sliceOf(chunk: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < chunk.byteLength; at += sliceBytes) yield chunk.subarray(at, at + sliceBytes);
}

/**
 * Parses a multipart form as it arrives and stops as soon as a limit is exceeded, so that a hostile body costs no more
 * than its first bytes.
 * @throws MultipartLimitError
 * @throws Error if it is not a multipart form
 */
async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  { contentType, limits }: { readonly contentType: string; readonly limits: MultipartLimits },
): Promise<MultipartForm> {
  const form = new Map<string, string | File>();
  const add = (name: string | undefined, content: string | File) => {
    if (name !== undefined && !form.has(name)) form.set(name, content);
  };
  let fileBytes = 0;
  const parser = new Busboy({
    headers: { 'content-type': contentType },
    limits: { ...headerLimits, parts: limits.parts },
    // The parser would decode a text, whatever its bytes are.
    isPartAFile: () => true,
  });
  parser.on('partsLimit', () => parser.destroy(new MultipartLimitError('The form has too many parts.')));
  parser.on('file', (name, stream, fileName: string | undefined, _encoding, type) => {
    const chunks: Buffer<ArrayBuffer>[] = [];
    stream.on('data', (chunk: Buffer<ArrayBuffer>) => {
      chunks.push(chunk);
      if (fileName !== undefined) fileBytes += chunk.length;
    });
    stream.once('end', () => {
      if (fileName !== undefined) return add(name, new File(chunks, fileName, { type }));
      const text = Buffer.concat(chunks);
      if (!isUtf8(text)) parser.destroy(notUtf8());
      else if (text.length <= limits.textBytes) add(name, text.toString());
    });
    // The parser reports the same error.
    stream.once('error', () => {});
  });
  const limited = async function* () {
    let received = 0;
    for await (const chunk of body) {
      // Earlier chunks are parsed by now, except for bytes buffered in the streams between.
      if (received - fileBytes > limits.besideFilesBytes)
        throw new MultipartLimitError('The form has too many bytes outside its files.');
      received += chunk.byteLength;
      yield* sliceOf(chunk);
    }
  };
  await pipeline(limited, parser);
  return form;
}
