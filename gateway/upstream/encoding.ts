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
import { GatewayError } from '../errors.ts';
import { describeTooLong } from './failure.ts';

/** What answers may be compressed with. */
export const acceptEncoding = 'gzip, br';

const gzip = { whole: promisify(gunzip), stream: createGunzip };
const decoders = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['br', { whole: promisify(brotliDecompress), stream: createBrotliDecompress }],
  ['deflate', { whole: promisify(inflate), stream: createInflate }],
]);

/** Whether a body is compressed, going by its `content-encoding`. */
export function isEncoded(encoding: string | null): encoding is string {
  return encoding !== null && !/^\s*(identity\s*)?$/i.test(encoding);
}

/**
 * A compressed body, decompressed: no more than `maxBytes` of it are ever made, however small it came.
 * @throws GatewayError UPSTREAM_UNREADABLE
 */
export async function decode(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const decoder = decoders.get(toName(encoding));
  if (decoder === undefined) throw describeUndecodable();
  try {
    return await decoder.whole(body, { maxOutputLength: maxBytes });
  } catch (error) {
    throw isTooLarge(error) ? describeTooLong() : describeUndecodable();
  }
}

/** The same for a body on its way: what breaks it breaks the stream that comes out, and destroying that ends it. */
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

/** Several encodings over each other were never asked for. */
function toName(encoding: string): string {
  return encoding.trim().toLowerCase();
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

/** With the status of a success: what was garbled on its way may come whole the next time. */
function describeUndecodable(): GatewayError {
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered in an encoding that cannot be read.', {
    status: 200,
  });
}
