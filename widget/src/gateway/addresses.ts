import { PortalError } from './errors.ts';

/**
 * The gateway's address, absolute.
 * @throws PortalError ENDPOINT_INVALID unless it is https, or http on this machine, without credentials. An address without a path of
 * its own, such as an empty one, would be that of the page.
 */
export function readEndpoint(text: string): string {
  const url = /^\s*([?#]|$)/.test(text) ? null : parseAddress(text, document.baseURI);
  if (!isSafe(url)) throw new PortalError('ENDPOINT_INVALID');
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
  // It turns anything into a text.
  const url = parseAddress(text as string);
  const allowed = origins?.match(/\S+/g);
  // As origins, so that `https://portal.example/` and `https://portal.example:443` mean the same.
  const isOther = (each: string) => parseAddress(each)?.origin !== url?.origin;
  if (!isSafe(url) || allowed?.every(isOther)) throw new PortalError('URL_REJECTED');
  return url.href;
}

/** As `URL.parse`, which browsers have since 2024: null for a text that is no address. */
export function parseAddress(text: string, base?: string): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

function isSafe(url: URL | null): url is URL {
  if (!url || url.username || url.password) return false;
  return /^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1])[:/])/.test(url.href);
}
