import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Lets a server listen on a free port of this machine. Returns its address, such as `http://127.0.0.1:40123`. */
export async function listenAnywhere(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  return `http://127.0.0.1:${address.port}`;
}

/** A port of this machine that nothing listens on now. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listenAnywhere(server));
  server.close();
  await once(server, 'close');
  return Number(port);
}
