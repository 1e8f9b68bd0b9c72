import { randomInt } from 'node:crypto';
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

/** Below the ports that a system gives to outgoing connections (Linux: from 32768, others: from 49152). */
const first = 10_000;
const end = 32_000;
let next = randomInt(first, end);

/**
 * A port of this machine that nothing listens on now, and that nothing takes before the server that it is for: no
 * connection is given it, and this process returns each port once.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port + 1 < end ? port + 1 : first;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return true;
  } catch {
    return false;
  }
}
