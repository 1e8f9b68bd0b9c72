import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long the bytes of a request may take, all of them, except those of an upload. */
const bodyMs = 10_000;

/**
 * What a client may do and how long it may take, for `createServer`: whoever holds a connection without asking anything holds one that
 * others need. The whole of a request is left to `requireHaste`, because uploads have deadlines of their own
 * (uploads.ts); Node's own stands behind both.
 */
export const patience = {
  headersTimeout: 5000,
  requestTimeout: 150_000,
  connectionsCheckingInterval: 1000,
  // Some clients offer HTTP/2 with whatever they ask (Java's does): what is no WebSocket is answered as if they had not.
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
} as const;

/** Closes connections whose request is not there after 10 s, with 408 where nothing has been answered yet. */
export function requireHaste(answer: RequestListener, waitMs = bodyMs): RequestListener {
  return (request, response) => {
    const timer = setTimeout(() => {
      // Once an upload has its answer, nobody waits for the rest of it either.
      if (isUploadUnderWay(request, response)) response.once('finish', () => cut(request, response));
      else cut(request, response);
    }, waitMs).unref();
    // An early answer does not end the wait for what the client has announced.
    response.once('close', () => {
      if (request.complete) clearTimeout(timer);
      // The timer would hold what has been read of the request until its end.
      else request.socket.once('close', () => clearTimeout(timer));
    });
    answer(request, response);
  };
}

/** It is watched by whoever reads it, as long as somebody does: one that has been answered is not read. */
function isUploadUnderWay({ headers, url }: IncomingMessage, response: ServerResponse): boolean {
  const isToGraphQL = /^\/graphql(\?|$)/.test(url ?? '');
  return (
    isToGraphQL && /^multipart\/form-data *;/i.test(headers['content-type'] ?? '') && !response.writableEnded
  );
}

function cut({ complete, socket }: IncomingMessage, response: ServerResponse): void {
  if (complete) return;
  if (response.headersSent) socket.destroy();
  else refuseRequest(socket, '408 Request Timeout');
}

/**
 * Answers 400 unless a request has exactly one `Host`, which is a name or an address, for every route. Node uses the first
 * of several, a proxy in front may use another, and parsers disagree about malformed ones.
 */
export function requireOneHost(answer: RequestListener): RequestListener {
  return (request, response) => {
    if (hasOneHost(request)) answer(request, response);
    else refuseRequest(request.socket, '400 Bad Request');
  };
}

export function hasOneHost({ rawHeaders, headers }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 && isHost(headers.host ?? '');
}

const hostForm = /^(?<name>[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
/** Nearly every request has the same host, so the last valid one is cached. */
let lastHost: string | null = null;

/** Whether the text is a host in the spelling of a normalized URL. */
function isHost(host: string): boolean {
  if (host === lastHost) return true;
  const name = hostForm.exec(host)?.groups?.name;
  if (name === undefined || URL.parse(`http://${host}`)?.hostname !== name.toLowerCase()) return false;
  lastHost = host;
  return true;
}

/** Answers on the bare connection, and ends it for both sides: a client that keeps its own open would hold it for ever. */
export function refuseRequest(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
