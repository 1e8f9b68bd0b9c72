import { parseAddress, toSocketAddress } from '../gateway/addresses.ts';
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
  let endpoint = '';
  document.addEventListener('securitypolicyviolation', note);
  const found = await findFault(() => {
    const client = getClient();
    endpoint = client.endpoint;
    return client;
  }).catch((cause: unknown) => toDiagnosis(toPortalError(cause, 'GATEWAY_ERROR').code));
  // The browser reports a violation one task after the blocked request.
  await new Promise((resolve) => setTimeout(resolve));
  document.removeEventListener('securitypolicyviolation', note);
  // Ignore violations of the rest of the page. The token's address is unknown, so any host counts for it.
  const stop = violations.find(
    ({ effectiveDirective, disposition, blockedURI }) =>
      effectiveDirective === 'connect-src' &&
      disposition === 'enforce' &&
      (found.code === 'TOKEN_UNAVAILABLE' || parseAddress(blockedURI)?.host === parseAddress(endpoint)?.host),
  );
  if (!stop || found.code === 'OK') return found;
  const { effectiveDirective, blockedURI } = stop;
  return toDiagnosis(
    'CSP_BLOCKED',
    `${effectiveDirective} ${parseAddress(blockedURI)?.origin ?? blockedURI}`,
  );
}

/** @throws PortalError for what is not the network's */
async function findFault(getClient: () => PortalClient): Promise<Diagnosis> {
  const { endpoint, execute } = getClient();
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    await execute({ query: '{__typename}', scope: 'status', orderId: null, read: Boolean }, signal);
  } catch (cause) {
    if (toPortalError(cause, 'NETWORK').code !== 'NETWORK') throw cause;
    // If a request without CORS succeeds, the gateway is there and has refused this origin.
    const isThere = await fetch(endpoint, { mode: 'no-cors', signal }).then(Boolean, () => false);
    return isThere ? toDiagnosis('CORS_REFUSED', `ALLOWED_ORIGINS=${origin}`) : toDiagnosis('NETWORK');
  }
  const address = toSocketAddress(endpoint);
  // Some browsers throw where others fire an error event.
  const isOpen = await canOpenSocket(address, signal).catch(() => false);
  return isOpen ? toDiagnosis('OK') : toDiagnosis('SOCKET_BLOCKED', new URL(address).origin);
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

function toDiagnosis(code: Diagnosis['code'], mend = MENDS[code] ?? ''): Diagnosis {
  return { code, mend };
}
