import { PortalError } from './errors.ts';

const LOCAL_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The gateway's address, absolute.
 * @throws PortalError ENDPOINT_INVALID unless it is https, or http on this machine, without credentials.
 */
export function readEndpoint(text: string): string {
  const url = URL.canParse(text, document.baseURI) ? new URL(text, document.baseURI) : null;
  if (!url || !isSafe(url)) throw new PortalError('ENDPOINT_INVALID');
  url.hash = '';
  return url.href;
}

/** The same address for the socket: https becomes wss, http becomes ws. */
export function toSocketAddress(endpoint: string): string {
  return endpoint.replace(/^http/, 'ws');
}

/**
 * The portal's address as the gateway gave it.
 * @param origins space separated; empty or null allows every https origin
 * @throws PortalError URL_REJECTED
 */
export function readPortalUrl(text: unknown, origins: string | null): string {
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : null;
  const allowed = origins?.split(/\s+/).filter(Boolean).map(toOrigin) ?? [];
  const isAllowed = url && isSafe(url) && (allowed.length === 0 || allowed.includes(url.origin));
  if (!isAllowed) throw new PortalError('URL_REJECTED');
  return url.href;
}

/** So that `https://portal.example/` and `https://portal.example:443` mean the same origin. */
function toOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}

function isSafe(url: URL): boolean {
  if (url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOCAL_HOSTS.includes(url.hostname));
}
