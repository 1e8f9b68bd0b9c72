import { connect, type Socket } from 'node:net';

/** The target of an attack, and its timeout. */
export interface Target {
  readonly url: string;
  readonly signal: AbortSignal;
}

/** Opens a connection that is destroyed when the signal aborts; its errors are part of the attack. */
export function openConnection({ url, signal }: Target): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  const giveUp = () => socket.destroy();
  signal.addEventListener('abort', giveUp, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', giveUp));
  if (signal.aborted) giveUp();
  return socket;
}

/** An HTTP request as it is sent: a GET of a path, or a POST of a GraphQL query with a token. */
export function describeRequest(url: string, request: { readonly path: string } | GraphQLRequest): string {
  const { host } = new URL(url);
  if ('path' in request) return `GET ${request.path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
  const body = JSON.stringify({ query: request.query });
  const head = [
    'POST /graphql HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${request.token}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

export interface GraphQLRequest {
  readonly query: string;
  readonly token: string;
}
