import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { type Coding, chooseCoding } from '../negotiation.ts';

/** A file in memory, in every content coding that it has. */
export interface StaticFile {
  readonly contentType: string;
  /** The hash of the bytes, as in the attribute `integrity` of a script. */
  readonly integrity: string;
  readonly forms: ReadonlyMap<Coding, Buffer>;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.graphql': 'text/plain; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
};

/** Values of `Cache-Control`. */
export const caching = {
  /** For an address whose content never changes. */
  immutable: 'public, max-age=31536000, immutable',
  /** For an address that pages of other origins know, and whose content changes with a release. */
  short: 'public, max-age=300',
  /** A copy is used only after its ETag was compared. */
  revalidated: 'no-cache',
} as const;

const codecs = {
  br: { suffix: '.br', compress: promisify(brotliCompress), decompress: promisify(brotliDecompress) },
  gzip: { suffix: '.gz', compress: promisify(gzip), decompress: promisify(gunzip) },
} as const;
type Compressed = keyof typeof codecs;

/** Reads a file. Compressed forms are those that the build has written beside it, or else they are made here. */
export async function loadStaticFile(file: URL): Promise<StaticFile> {
  const bytes = await readFile(file);
  return await createStaticFile(file.href, bytes, (coding) => readForm(file, coding, bytes));
}

/** A file that is made here. It is compressed outside of the event loop. */
export async function createStaticFile(
  name: string,
  bytes: Buffer,
  findForm: (coding: Compressed) => Promise<Buffer | null> = async () => null,
): Promise<StaticFile> {
  const forms = new Map<Coding, Buffer>([['identity', bytes]]);
  for (const coding of ['br', 'gzip'] as const) {
    const form = (await findForm(coding)) ?? (await compress(coding, bytes));
    if (form.length < bytes.length) forms.set(coding, form);
  }
  return {
    contentType: contentTypes[extname(name)] ?? 'application/octet-stream',
    integrity: `sha384-${createHash('sha384').update(bytes).digest('base64')}`,
    forms,
  };
}

/** The best quality of brotli saves 4 % more of a large file and takes seconds. */
const largeBytes = 256 * 1024;
const fasterQuality = 5;

async function compress(coding: Compressed, bytes: Buffer): Promise<Buffer> {
  if (coding === 'gzip') return await codecs.gzip.compress(bytes, { level: constants.Z_BEST_COMPRESSION });
  const quality = bytes.length > largeBytes ? fasterQuality : constants.BROTLI_MAX_QUALITY;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return await codecs.br.compress(bytes, { params });
}

/** Null if there is no such form, or if it belongs to an earlier build of the file. */
async function readForm(file: URL, coding: Compressed, bytes: Buffer): Promise<Buffer | null> {
  const { suffix, decompress } = codecs[coding];
  try {
    const form = await readFile(new URL(`${file.href}${suffix}`));
    return (await decompress(form, { maxOutputLength: bytes.length })).equals(bytes) ? form : null;
  } catch {
    return null;
  }
}

/**
 * Answers with the smallest form that the client accepts. Ranges are not supported, and the answer says so: the whole file
 * is sent. `revalidate` turns the answer into 304 where the client has the file.
 */
export function answerStaticFile(
  request: Request,
  { contentType, integrity, forms }: StaticFile,
  headers: Readonly<Record<string, string>>,
): Response {
  const coding = chooseCoding(request.headers.get('accept-encoding'), [...forms.keys()]);
  const bytes = coding === null ? undefined : forms.get(coding);
  if (bytes === undefined) return refuseCodings();
  return new Response(streamShared(bytes), {
    headers: {
      ...headers,
      'content-type': contentType,
      'content-length': String(bytes.length),
      ...(coding === 'identity' ? {} : { 'content-encoding': String(coding) }),
      etag: `"${integrity}-${coding}"`,
      vary: 'accept-encoding',
      'accept-ranges': 'none',
      'x-content-type-options': 'nosniff',
    },
  });
}

function refuseCodings(): Response {
  const message = 'The file is available as br, gzip and identity, and Accept-Encoding refuses all of them.';
  return Response.json(
    { error: { code: 'NOT_ACCEPTABLE', message } },
    { status: 406, headers: { 'cache-control': 'no-store', vary: 'accept-encoding' } },
  );
}

/** Answers 304 to a client whose `If-None-Match` has the ETag of the answer. */
export function revalidate(): MiddlewareHandler {
  // Browsers check that a page may read an answer by the headers of its 304, too.
  const ofOtherOrigins = ['access-control-allow-origin', 'cross-origin-resource-policy'];
  return etag({ retainedHeaders: [...RETAINED_304_HEADERS, ...ofOtherOrigins] });
}

const pieceBytes = 64 * 1024;

/**
 * A body for a Response that shares its bytes, because a Response made of bytes copies them for each answer. The bytes
 * are sent in pieces as the client reads, so that a large body never has many unread bytes.
 */
function streamShared(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      at += pieceBytes;
      if (at >= bytes.length) controller.close();
    },
  });
}
