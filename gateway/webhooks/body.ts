import type { Holding } from './intake-bound.ts';

/** The largest message there is. */
export const maxBodyBytes = 1024 * 1024;

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  /** It is larger than 1 MiB. */
  | { readonly kind: 'too-large' }
  /** More is in hand than the gateway takes at once. */
  | { readonly kind: 'no-room' };

/** How much a request says it will send; 0 when it does not say. Node holds it to that. */
export function announcedBytesOf(request: Request): number {
  return Number(request.headers.get('content-length') ?? 0);
}

/** The whole body, or why not as soon as that is known. */
export async function readBody(request: Request, holding: Holding): Promise<Body> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > maxBodyBytes) return { kind: 'too-large' };
    if (!holding.add(chunk.length)) return { kind: 'no-room' };
    chunks.push(chunk);
  }
  return holding.complete() ? { kind: 'whole', bytes: Buffer.concat(chunks, length) } : { kind: 'no-room' };
}
