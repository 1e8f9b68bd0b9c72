import { Readable } from 'node:stream';
import type { Holding } from './intake-bound.ts';

/** The largest message there is. */
export const maxBodyBytes = 1024 * 1024;

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** It is larger than 1 MiB. */
  | { readonly kind: 'too-large' }
  /** The buffer of webhooks in progress has no space for it. */
  | { readonly kind: 'no-room' };

/** The announced length of a request's body; 0 without one. Node rejects a body of another length. */
export function announcedBytesOf(request: Request): number {
  return Number(request.headers.get('content-length') ?? 0);
}

/** The body of a request without a connection, such as one made in the same process. */
export function bodyOf({ body }: Request): Readable {
  return Readable.from(body ?? []);
}

/**
 * Reads a whole body, and stops as soon as it must be refused. It reads the events of Node's stream: a web stream
 * around each body costs more than the rest of its request.
 * @throws Error when the client leaves before the end
 */
export function readBody(body: Readable, holding: Holding): Promise<Body> {
  const { promise, resolve, reject } = Promise.withResolvers<Body>();
  const chunks: Buffer[] = [];
  let length = 0;
  const refuse = (kind: 'too-large' | 'no-room') => {
    body.off('data', add).pause();
    chunks.length = 0;
    resolve({ kind });
  };
  const add = (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > maxBodyBytes) return refuse('too-large');
    if (!holding.add(chunk.length)) return refuse('no-room');
    chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
  };
  // Without this, an evicted body that sends nothing would be awaited forever.
  holding.evicted.addEventListener('abort', () => refuse('no-room'), { once: true });
  body
    .on('data', add)
    .once('error', reject)
    .once('close', () => reject(new Error('The client left.')));
  body.once('end', () =>
    resolve(
      holding.complete() ? { kind: 'whole', bytes: Buffer.concat(chunks, length) } : { kind: 'no-room' },
    ),
  );
  return promise;
}
