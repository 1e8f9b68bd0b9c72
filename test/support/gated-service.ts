import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { serviceKey } from './lab.ts';
import { listenAnywhere } from './listening.ts';

/** Decides when a read is answered. */
export type Gate = (call: string) => Promise<unknown>;

/** The reads of a service that stays as it is, each answered when the gate opens for it. */
export interface GatedService extends AsyncDisposable {
  /** Serves the sandbox behind the gate and returns the address. */
  readonly serve: (sandbox: Sandbox) => Promise<string>;
  readonly through: (gate: Gate) => void;
}

export function createGatedService(): GatedService {
  const servers: Server[] = [];
  let gate: Gate = async () => {};

  const listen = async (sandbox: Sandbox): Promise<string> => {
    const read = readOnce(sandbox);
    const server = createServer(async ({ url = '/' }, response) => {
      const answer = read(url);
      await gate(url);
      const { status, body } = await answer;
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    servers.push(server);
    return await listenAnywhere(server);
  };
  return {
    serve: listen,
    through: (next) => {
      gate = next;
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

/** Each answer is made once: thousands of interleavings ask for the same few. */
function readOnce(sandbox: Sandbox) {
  const answers = new Map<string, Promise<{ readonly status: number; readonly body: string }>>();
  const read = async (path: string) => {
    const headers = { 'x-service-api-key': serviceKey };
    const response = await sandbox.fetch(new Request(`http://service${path}`, { headers }));
    return { status: response.status, body: await response.text() };
  };
  return (path: string) => {
    const answer = answers.get(path) ?? read(path);
    answers.set(path, answer);
    return answer;
  };
}
