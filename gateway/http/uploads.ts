import { GraphQLError } from 'graphql';
import type { GraphQLParams, Plugin } from 'graphql-yoga';
import { type Caller, Rights } from '../auth/rights.ts';
import { GatewayError } from '../errors.ts';
import { type MultipartForm, MultipartLimitError, type MultipartLimits, readMultipart } from './multipart.ts';

/** The largest request with files: the service's own bound of one upload (public service: 31,981,568 bytes). */
export const maxUploadBytes = 31_981_568;
/** Limits of an upload. A text field may be as large as a request without files. */
const multipartLimits: MultipartLimits = {
  textBytes: 100_000,
  // The operation, the map, and more files than any field accepts, so that the field's own message says how many it accepts.
  parts: 32,
  // Room for two texts and the headers of all parts.
  besideFilesBytes: 512 * 1024,
};
/** The service works on ten uploads at once (public service); this many wait in memory at most. */
const maxUploadsAtOnce = 10;
/** One user's browsers, whatever their number, leave room for everybody else. */
const maxUploadsOfUser = 2;
const retryAfterMs = 2000;

/** How slowly the bytes of an upload may come: so many at least in each of these times, and all of them in the whole. */
export interface Patience {
  readonly everyMs: number;
  readonly minBytes: number;
  readonly wholeMs: number;
}

/** At 0.5 Mbit/s, so that nobody holds a place with a few bytes. In all: the largest upload at 2 Mbit/s. */
const usualPatience: Patience = { everyMs: 10_000, minBytes: 640_000, wholeMs: 130_000 };

/** Whether a request is a GraphQL multipart request, which may be larger than any other. */
export function isUpload(request: Request): boolean {
  const type = request.headers.get('content-type') ?? '';
  return request.method === 'POST' && /^multipart\/form-data *;/i.test(type);
}

/**
 * Lets in uploads, a few at a time, and only from callers that may upload at all, before a byte of them is read: they
 * are the only requests that take much memory. A user has a share of the places; servers of the team may take them all.
 * The function it makes returns the function that marks the end.
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

/** Reads GraphQL multipart requests: `operations`, `map`, and one part per file. Takes nothing else. */
export function useUploads(patience = usualPatience): Plugin {
  return {
    onRequestParse: ({ request, setRequestParser }) => {
      if (isUpload(request)) setRequestParser((upload) => readUpload(upload, patience));
    },
  };
}

async function readUpload(request: Request, patience: Patience): Promise<GraphQLParams> {
  const form = await readForm(request, patience);
  const operations = readJson(form, 'operations');
  const map = readJson(form, 'map');
  for (const [part, paths] of Object.entries(map)) {
    const file = form.get(part);
    if (!(file instanceof File) || !Array.isArray(paths)) throw malformed('map');
    for (const path of paths) place(operations, String(path), file);
  }
  // Who may be asked what is checked where every other operation is: the parameters are read like those of JSON.
  return operations;
}

async function readForm({ body, headers }: Request, patience: Patience): Promise<MultipartForm> {
  const contentType = headers.get('content-type') ?? '';
  try {
    if (body === null) throw malformed('body');
    const inTime = body.pipeThrough(failWhenSlow(patience));
    return await readMultipart(inTime, { contentType, limits: multipartLimits });
  } catch (error) {
    if (error instanceof GraphQLError) throw error;
    if (error instanceof MultipartLimitError) throw refuse(error.message, 413);
    throw malformed('body');
  }
}

/** Passes bytes on, and fails when too few of them come: whoever waits for them holds one of few places. */
function failWhenSlow({ everyMs, minBytes, wholeMs }: Patience): TransformStream<Uint8Array, Uint8Array> {
  const timers: NodeJS.Timeout[] = [];
  let came = 0;
  const stop = () => timers.forEach(clearTimeout);
  return new TransformStream({
    start: (controller) => {
      const fail = () => {
        stop();
        controller.error(tooSlow());
      };
      const look = () => {
        if (came < minBytes) fail();
        came = 0;
      };
      timers.push(setInterval(look, everyMs), setTimeout(fail, wholeMs));
      // One that was cut otherwise leaves them running, for nobody.
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
    if (isRecord(json)) return json;
  } catch {
    // Not JSON: answered like any other fault of the part.
  }
  throw malformed(name);
}

/** Puts a file where its path says; there must be a null, as the multipart specification asks. */
function place(operations: Record<string, unknown>, path: string, file: File): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at: unknown = operations;
  for (const key of keys) at = isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  if (keys[0] !== 'variables' || !isRecord(at) || !Object.hasOwn(at, last) || at[last] !== null) {
    throw malformed('map');
  }
  at[last] = file;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function malformed(part: string): GraphQLError {
  return refuse(`The multipart request has no readable ${part}.`, 400);
}

function refuse(message: string, status: 400 | 408 | 413): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_REQUEST', http: { status } } });
}
