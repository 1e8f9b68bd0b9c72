import { isIP } from 'node:net';

export interface OwnHostsOptions {
  /** What the gateway listens on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** Whether the address of a request is one that the gateway is reached at. */
export type IsOwnHost = (url: string) => boolean;

/**
 * Against DNS rebinding: a page can let its own name point to this machine, and a browser then takes the gateway for the
 * page's own server. Own are localhost, the name the gateway listens on and the hosts of ALLOWED_ORIGINS, with any port,
 * which a forwarding may change; and every IP address, because nobody can let an address point elsewhere.
 */
export function createOwnHosts({ host, allowedOrigins }: OwnHostsOptions): IsOwnHost {
  const names = new Set(['localhost', host.toLowerCase(), ...allowedOrigins.map(nameOf)]);
  return (url) => {
    const name = nameOf(url);
    return names.has(name) || name.endsWith('.localhost') || isIP(name) > 0;
  };
}

function nameOf(url: string): string {
  return (URL.parse(url)?.hostname ?? '').replace(/\.$/, '').replace(/^\[(.*)\]$/, '$1');
}

/** The answer under any other name. */
export function refuseHost(): Response {
  const message =
    'The demo is answered at localhost, at IP addresses and at the hosts of ALLOWED_ORIGINS only.';
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 421 });
}
