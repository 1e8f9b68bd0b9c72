import { isGatewayError } from '../errors.ts';
import type { UpstreamCall } from './client.ts';
import type { Fetched } from './shelf.ts';

type Ask = (call: UpstreamCall) => Promise<Fetched>;

/**
 * Asks a call that is known under two paths. The second is asked where the first is not found or redirects, and first
 * from then on. A redirect is followed nowhere: both paths are ours, on the origin that has the key.
 * @returns asks a call, and remembers for each which path was there
 */
export function createPathChoice(): (call: UpstreamCall, ask: Ask) => Promise<Fetched> {
  /** First paths of calls whose other path was there last: as many as the code has such calls. */
  const moved = new Set<string>();
  return async (call, ask) => {
    const { path, otherPath } = call;
    if (otherPath === undefined) return await ask(call);
    const isMoved = moved.has(path);
    const first = await tryAt(call, isMoved ? otherPath : path, ask);
    if (first.isThere) return first.fetched;
    const second = await tryAt(call, isMoved ? path : otherPath, ask);
    if (second.isThere && !isMoved) moved.add(path);
    else moved.delete(path);
    if (second.isThere) return second.fetched;
    if ('error' in first) throw first.error;
    return first.fetched;
  };
}

type Tried =
  | { readonly isThere: boolean; readonly fetched: Fetched }
  | { readonly isThere: false; readonly error: unknown };

async function tryAt(call: UpstreamCall, path: string, ask: Ask): Promise<Tried> {
  try {
    const fetched = await ask({ ...call, path });
    return { isThere: fetched.json !== undefined, fetched };
  } catch (error) {
    if (isRedirect(error)) return { isThere: false, error };
    throw error;
  }
}

function isRedirect(error: unknown): boolean {
  const status = isGatewayError(error, 'UPSTREAM_UNREADABLE') ? (error.status ?? 0) : 0;
  return status >= 300 && status < 400;
}
