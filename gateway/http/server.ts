import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../errors.ts';

/** How long requests in hand may take when the server closes, in milliseconds. */
const drainMs = 4000;

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** Whether other processes may listen on the same port; the kernel then spreads connections over them. */
  readonly reusePort?: boolean;
  /** Prefix of the variables for host and port. */
  readonly prefix?: string;
}

/**
 * Listens where the configuration says.
 * @returns the address, with the port that was chosen
 * @throws GatewayError CONFIG_INVALID when the port is taken or the host is none of this machine's
 */
export async function listen(server: Server, at: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(describeListenFailure(cause, at)));
    server.listen({ port: at.port, host: at.host, reusePort: at.reusePort ?? false }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  // A server that listens on a TCP port has an address of this shape.
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

function describeListenFailure(cause: Error, { host, port, prefix = '' }: ListenAddress): Error {
  const isTaken = 'code' in cause && cause.code === 'EADDRINUSE';
  const fault = isTaken
    ? `${prefix}PORT ${port} is taken on ${host}. Stop what uses it, or give another ${prefix}PORT.`
    : `${prefix}HOST ${host} with ${prefix}PORT ${port} cannot be listened on.`;
  return new GatewayError('CONFIG_INVALID', `- ${fault}`, { cause });
}

/** The browser origins under which a server of this machine is reached at this address. */
export function localOrigins(url: string): readonly string[] {
  const { port } = new URL(url);
  return [url, `http://127.0.0.1:${port}`, `http://localhost:${port}`, `http://[::1]:${port}`];
}

/** Accepts no more, lets requests in hand end within 4 s, then cuts what is left. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A keep-alive connection becomes idle only when its request has ended, so this is repeated.
  const idling = setInterval(() => server.closeIdleConnections(), 100);
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idling);
  clearTimeout(cut);
}
