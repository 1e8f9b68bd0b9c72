import { toSocketAddress } from '../gateway/addresses.ts';
import { type PortalErrorCode, toPortalError } from '../gateway/errors.ts';
import type { PortalClient } from './client.ts';

/**
 * The first problem between an element and its gateway. `mend` is the text that fixes it, and the code says where: a line of the
 * page's Content-Security-Policy, a setting of the gateway, or an attribute or property of the element.
 */
export interface Diagnosis {
  readonly code: 'OK' | 'CSP_BLOCKED' | 'CORS_REFUSED' | 'SOCKET_BLOCKED' | PortalErrorCode;
  readonly mend: string;
}

const LIMIT_MS = 10_000;

/** The fix for each problem that is not the network's. */
const MENDS: Readonly<Record<string, string>> = {
  ENDPOINT_INVALID: 'endpoint="https://…"',
  TOKEN_UNAVAILABLE: 'tokenProvider',
  UNAUTHENTICATED: 'tokenProvider',
};

/** Tries endpoint, token, HTTP and socket in turn. */
export async function diagnose(getClient: () => PortalClient): Promise<Diagnosis> {
  const violations: SecurityPolicyViolationEvent[] = [];
  const note = (event: SecurityPolicyViolationEvent) => violations.push(event);
  let host: string | undefined;
  document.addEventListener('securitypolicyviolation', note);
  const found = await findFault(() => {
    const client = getClient();
    host = new URL(client.endpoint).host;
    return client;
  }).catch((cause: unknown): Diagnosis => ({ code: toPortalError(cause, 'GATEWAY_ERROR').code, mend: '' }));
  // The browser reports a violation one task after the blocked request.
  await new Promise((resolve) => setTimeout(resolve));
  document.removeEventListener('securitypolicyviolation', note);
  // Ignore violations of the rest of the page. The token's address is unknown, so any host counts for it.
  const stop = violations.find(
    ({ effectiveDirective, disposition, blockedURI }) =>
      effectiveDirective === 'connect-src' &&
      disposition === 'enforce' &&
      (found.code === 'TOKEN_UNAVAILABLE' || URL.parse(blockedURI)?.host === host),
  );
  if (stop && found.code !== 'OK') return blame(stop);
  return { ...found, mend: found.mend || (MENDS[found.code] ?? '') };
}

async function findFault(getClient: () => PortalClient): Promise<Diagnosis> {
  const { endpoint, execute } = getClient();
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    await execute({ query: '{__typename}', scope: 'status', orderId: null }, signal);
  } catch (cause) {
    const { code } = toPortalError(cause, 'NETWORK');
    if (code !== 'NETWORK') return { code, mend: '' };
    // If a request without CORS succeeds, the gateway is there and has refused this origin.
    const isThere = await fetch(endpoint, { mode: 'no-cors', signal }).then(Boolean, () => false);
    return isThere ? { code: 'CORS_REFUSED', mend: `ALLOWED_ORIGINS=${origin}` } : { code, mend: '' };
  }
  const address = toSocketAddress(endpoint);
  // Some browsers throw where others fire an error event.
  if (await canOpenSocket(address, signal).catch(() => false)) return { code: 'OK', mend: '' };
  return { code: 'SOCKET_BLOCKED', mend: new URL(address).origin };
}

function canOpenSocket(address: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(address, 'graphql-transport-ws');
    const end = (isOpen: boolean) => {
      socket.close();
      resolve(isOpen);
    };
    socket.onopen = () => end(true);
    socket.onerror = () => end(false);
    signal.addEventListener('abort', () => end(false));
  });
}

/** The directive that was broken, with the source that it has to name. */
function blame({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): Diagnosis {
  return {
    code: 'CSP_BLOCKED',
    mend: `${effectiveDirective} ${URL.parse(blockedURI)?.origin ?? blockedURI}`,
  };
}
