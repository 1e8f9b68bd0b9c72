import { isIP } from 'node:net';

export interface OwnHostsOptions {
  /** The host that the gateway listens on. */
  readonly host: string;
  readonly allowedOrigins: readonly string[];
}

/** Whether the host of a request's URL is one of the gateway's own. */
export type IsOwnHost = (url: string) => boolean;

/**
 * Protects against DNS rebinding: a page can make its own name resolve to this machine, and the browser then takes the
 * gateway for the page's own server. Own hosts are localhost, the name in HOST, the hosts of ALLOWED_ORIGINS, and every IP
 * address, because nobody can make an IP address resolve elsewhere. The port is not compared: forwarding may change it.
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

/** The answer to a request with any other host. */
export function refuseHost(): Response {
  const message =
    'The demo is served only at localhost, at IP addresses, and at the names in HOST and ALLOWED_ORIGINS.';
  return Response.json({ error: { code: 'FORBIDDEN', message } }, { status: 421 });
}
