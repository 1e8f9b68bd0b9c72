import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { maxBodyBytes } from '../webhooks/body-buffer.ts';

/** A message of a broker as its library gives it. */
export interface Encoded {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly body: Buffer;
}

export interface Decoded {
  readonly body: Buffer;
  /** False where the type or the encoding is unknown or wrong, or the message is larger than 1 MiB. */
  readonly isDecoded: boolean;
}

/**
 * The envelope of a message: JSON, plain or gzip. A message that cannot be decoded becomes a dead letter with its bytes
 * as they came, up to 1 MiB.
 */
export function decode({ contentType, contentEncoding, body }: Encoded): Decoded {
  const isJson = /^application\/json\s*(;|$)/i.test(contentType ?? '');
  const plain = isJson ? decompress(body, (contentEncoding ?? '').toLowerCase()) : null;
  if (plain !== null && plain.length <= maxBodyBytes && isUtf8(plain))
    return { body: plain, isDecoded: true };
  return undecoded(body);
}

/** A dead letter of bytes as they came, up to 1 MiB. */
export function undecoded(body: Buffer): Decoded {
  return { body: body.subarray(0, maxBodyBytes), isDecoded: false };
}

/**
 * The same for a stored dead letter, of which the type and the encoding are no longer known: many a message is wrong only
 * in what it says of itself.
 */
export function decodeUnlabelled(body: Buffer): Decoded {
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  return decode({ contentType: 'application/json', contentEncoding: isGzip ? 'gzip' : '', body });
}

/** Null for an unknown encoding, and for bytes that are not of it. */
function decompress(body: Buffer, encoding: string): Buffer | null {
  if (encoding === '' || encoding === 'identity') return body;
  if (encoding !== 'gzip') return null;
  try {
    // At once, so that no later message passes this one: 1 MiB takes 3 ms.
    return gunzipSync(body, { maxOutputLength: maxBodyBytes });
  } catch {
    return null;
  }
}

/** The service's attributes of a message of Pub/Sub say what its data is. */
export function readBlob(attributes: Readonly<Record<string, string | undefined>>, body: Buffer): Encoded {
  const contentEncoding = attributes['blob-codec'];
  return {
    contentType: attributes['blob-type'] === 'json' ? 'application/json' : 'unknown',
    ...(contentEncoding === undefined ? {} : { contentEncoding }),
    body,
  };
}

/** The bytes of a body that a library may have parsed. */
export function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  try {
    return Buffer.from(JSON.stringify(body));
  } catch {
    // Nested too deeply to be an envelope.
    return Buffer.alloc(0);
  }
}
