import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { SandboxEnv } from './service.ts';

/** Where to listen; port 0 takes any free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** A server that listens, and the address it was given. */
export interface Listening {
  readonly server: Server;
  readonly url: string;
}

/** Serves the app over HTTP; rejects when the address is taken. */
export async function startServer(app: Hono<SandboxEnv>, { host, port }: ListenAddress): Promise<Listening> {
  // The global Request and Response belong to everyone in the process, so they are left as they are.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer(listener).listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return { server, url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}` };
}

/** Stops listening and breaks what is still open. */
export async function stopServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
