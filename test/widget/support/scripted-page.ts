import type { SocketServer } from '../../../widget/src/testing/fake-socket.ts';
import { createFakeSocketClass } from './socket-class.ts';

/** What of a page the logic of the widget needs, where there is none: events, fetch and WebSocket. */
export function installPage(
  server: SocketServer & { readonly answer: () => Promise<Response> },
): EventTarget {
  const page = new EventTarget();
  const globals = {
    addEventListener: page.addEventListener.bind(page),
    document: Object.assign(new EventTarget(), { hidden: false, baseURI: 'https://host.test/' }),
    navigator: { onLine: true },
    fetch: server.answer,
    WebSocket: createFakeSocketClass(server),
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return page;
}
