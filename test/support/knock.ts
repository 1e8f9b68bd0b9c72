import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Lab } from './lab.ts';

/** How a gateway answers who presents something: over HTTP the status and every byte, over a socket its end. */
export interface Knocked {
  readonly status: number;
  readonly body: string;
  /** The code that the socket was closed with; null when it was let in. */
  readonly closed: number | null;
}

/** Presents a token over HTTP and over WebSocket, from outside. */
export async function knock(lab: Pick<Lab, 'url'>, token: string): Promise<Knocked> {
  const authorization = `Bearer ${token}`;
  const response = await fetch(`${lab.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: '{"query":"{ viewer { userId scopes } }"}',
  });
  return {
    status: response.status,
    body: await response.text(),
    closed: await connect(lab.url, authorization),
  };
}

async function connect(url: string, authorization: string): Promise<number | null> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
  const [first] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
  socket.terminate();
  return typeof first === 'number' ? first : null;
}
