import { FakeSocket, type SocketServer } from './fake-socket.ts';

/** The server behind one address of the page. */
export interface FakeServer extends SocketServer {
  readonly endpoint: string;
  readonly answer: (init: RequestInit) => Promise<Response>;
}

const servers = new Map<string, FakeServer>();
let restore: (() => void) | null = null;

/**
 * From now on what the page asks of this server's address, over HTTP and WebSocket, goes to it; everything else goes
 * where it always went. Call the answer to end that.
 */
export function intercept(server: FakeServer): () => void {
  servers.set(server.endpoint, server);
  restore ??= replaceGlobals();
  return () => {
    servers.delete(server.endpoint);
    if (servers.size > 0) return;
    restore?.();
    restore = null;
  };
}

function replaceGlobals(): () => void {
  const { fetch, WebSocket } = globalThis;
  globalThis.fetch = (input, init) => {
    const server = servers.get(input instanceof Request ? input.url : String(input));
    return server ? server.answer(init ?? {}) : fetch(input, init);
  };
  globalThis.WebSocket = new Proxy(WebSocket, {
    construct: (target, [url, ...rest]) => {
      const server = servers.get(String(url).replace(/^ws/, 'http'));
      return server ? new FakeSocket(String(url), server) : Reflect.construct(target, [url, ...rest]);
    },
  });
  return () => {
    Object.assign(globalThis, { fetch, WebSocket });
  };
}
