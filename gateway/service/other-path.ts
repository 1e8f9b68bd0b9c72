import { isGatewayError } from '../errors.ts';
import type { UpstreamCall } from './calls.ts';

/** The service's answer as read from its JSON, and how long that was. */
export interface Fetched {
  readonly json: unknown;
  readonly bytes: number;
}

type Ask = (call: UpstreamCall) => Promise<Fetched>;

/**
 * Makes calls that have two paths. The second is tried when the first is not found or redirects, and is tried first from
 * then on. Redirects are never followed: both paths are on the configured origin, the only one that gets the key.
 * @returns makes a call, and remembers for each call the path that was found
 */
export function createPathChoice(): (call: UpstreamCall, ask: Ask) => Promise<Fetched> {
  /** First paths of calls whose other path was found last; at most one for each such call in the code. */
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
