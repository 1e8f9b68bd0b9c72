import { on, once } from 'node:events';
import { WebSocket } from 'ws';
import { gatewayKey } from '../../support/lab.ts';

export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Sends one operation and gives all that comes back, as text. */
export type Send = (operation: Operation) => Promise<string>;

export function sendOverHttp(url: string, accept = 'application/json'): Send {
  return async (operation) => {
    const headers = { authorization: `Bearer ${gatewayKey}`, 'content-type': 'application/json', accept };
    const body = JSON.stringify(operation);
    const signal = AbortSignal.timeout(150_000);
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body, signal });
    return await response.text();
  };
}

async function sendOverWebSocket(url: string): Promise<Send> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(
    JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${gatewayKey}` } }),
  );
  await once(socket, 'message');
  // Two messages may come at once, and none is to be missed.
  const messages = on(socket, 'message', { close: ['close'] });
  let count = 0;
  return async (payload) => {
    count += 1;
    socket.send(JSON.stringify({ id: String(count), type: 'subscribe', payload }));
    let all = '';
    for (;;) {
      const { value, done } = await messages.next();
      if (done) return 'The socket was closed.';
      const message = String(value);
      all += message;
      if (/"type":"(complete|error)"/.test(message)) return all;
    }
  };
}

/** The transports of a gateway; each keeps its connection. */
export const transports: readonly (readonly [string, (url: string) => Promise<Send> | Send])[] = [
  ['HTTP', (url) => sendOverHttp(url)],
  ['SSE', (url) => sendOverHttp(url, 'text/event-stream')],
  ['WebSocket', sendOverWebSocket],
];
