/**
 * Whether a text is an exact origin, as browsers send it: of a page (`https://app.example.com`), or of an app that shows
 * pages of its own (`capacitor://localhost`, `chrome-extension://…`). `URL.origin` is `null` for the latter.
 */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.host === '') return false;
  return text === `${url.protocol}//${url.host}` && !text.includes('*');
}

/**
 * Whether an origin is that of the gateway itself, which a request's `Host` names. The port may be the scheme's own, and the
 * scheme a WebSocket's: some clients write it so, and a proxy may have ended TLS.
 */
export function isOwnOrigin(origin: string, host: string): boolean {
  const url = URL.parse(origin);
  return url !== null && url.host !== '' && url.host === URL.parse(`${url.protocol}//${host}`)?.host;
}
