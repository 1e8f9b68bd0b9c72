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
  const reader = request.body?.getReader();
  // Without this, an evicted body that sends nothing would be awaited forever.
  holding.evicted.addEventListener('abort', () => void reader?.cancel());
  const chunks: Uint8Array[] = [];
  let length = 0;
  const giveUp = (kind: 'too-large' | 'no-room'): Body => {
    void reader?.cancel();
    return { kind };
  };
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    length += read.value.length;
    if (length > maxBodyBytes) return giveUp('too-large');
    if (!holding.add(read.value.length)) return giveUp('no-room');
    chunks.push(read.value);
  }
  return holding.complete() ? { kind: 'whole', bytes: Buffer.concat(chunks, length) } : { kind: 'no-room' };
}
