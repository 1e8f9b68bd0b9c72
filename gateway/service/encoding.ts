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

/** Encodings that the gateway accepts. */
export const acceptEncoding = 'gzip, br';

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
export async function decode(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
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

/** Has the status of a success, because a retry may bring a body that can be read. */
function describeUndecodable(): GatewayError {
  return new GatewayError('UPSTREAM_UNREADABLE', 'The service answered in an encoding that cannot be read.', {
    status: 200,
  });
}
