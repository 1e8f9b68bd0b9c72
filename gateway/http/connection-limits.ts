import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Turns } from '../execution/scheduler.ts';
import { isObject } from '../parse/json.ts';
import { requestIdHeader, requestIdOf } from '../telemetry/request.ts';
import { limitUnread } from './unread-bytes.ts';

/** Why a connection was reset: its client read too slowly, left too many bytes unread, or pipelined too many requests. */
export type CutReason = 'stalled' | 'unread' | 'pipelined';

/** The listener of a server, which may be replaced while the server runs. */
export interface Route {
  answer: RequestListener;
}

/** An HTTP server that limits its connections: idle time, waiting requests and unread bytes (decision 0081). */
export function createBoundedServer(
  route: Route,
  onCut: (reason: CutReason) => void,
  keepAliveSeconds = 5,
): Server {
  const keepAliveTimeout = keepAliveSeconds * 1000;
  const connections = new Connections(route, onCut, keepAliveTimeout + extraIdleMs);
  const options = { ...timeouts, keepAliveTimeout };
  const server = createServer(options, (request, response) => connections.take(request, response));
  stopParsingWhenReset(server);
  skipStacksOfAborts(server);
  connections.limitTimes(server);
  limitUnread(server, onCut);
  return server;
}

/** For `createServer`. `limitTimes` ends slow requests earlier, except uploads, which have timeouts of their own (uploads.ts). */
const timeouts = {
  headersTimeout: 5000,
  requestTimeout: 150_000,
  connectionsCheckingInterval: 1000,
  // Some clients offer HTTP/2 with every request (Java's does); it is ignored.
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === 'websocket',
} as const;

/** Node restarts the timeout of an idle connection with each byte, so empty lines extend it, but by no more than this. */
const extraIdleMs = 6000;
/** Time in which a client may read the rest of an answer after its connection was closed. */
const lingerMs = 7000;

/**
 * Closes a connection, and resets it if the client does not close its side. Node would release it at once, and the
 * operating system would then hold the unread rest of an answer for as long as the client likes.
 */
function endIdle(socket: Socket): void {
  if (!socket.writable) return;
  socket.end();
  const timer = setTimeout(() => socket.resetAndDestroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Bytes and time in which the rest of a body may come after its request was answered; most clients stop at the answer. */
const restLimits = { bytes: 64 * 1024, waitMs: 500 } as const;

/**
 * Stops reading a body that was answered before its end, such as a refused upload. Node would read all of it at full
 * speed. A client that has read the answer by then loses nothing; a short rest is read, and the connection stays open.
 * Of a body that is announced as longer nothing more is read: those bytes would only become garbage.
 */
function limitRefusedBody(this: ServerResponse): void {
  if (!this.req.complete) limitRest(this.req);
}

function limitRest(request: IncomingMessage): void {
  const { socket, headers } = request;
  const timer = setTimeout(() => {
    if (!request.complete) socket.resetAndDestroy();
  }, restLimits.waitMs).unref();
  clearAtEnd(request, timer);
  // Marks the body as read by us.
  request.read(0);
  if (Number(headers['content-length']) > restLimits.bytes) return void socket.pause();
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > restLimits.bytes) request.pause();
  });
}

/**
 * Adds `connection: close` to an answer that leaves a long body unread. Otherwise the client would send its next request over
 * a connection that is about to be reset. The connection stays until the client has had time to read the answer.
 */
function endAfterRefusal(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request;
  const length = headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : Infinity);
  if (Number(length) <= restLimits.bytes) return;
  const { writeHead } = response;
  const end = () => endIdle(socket);
  Reflect.set(response, 'writeHead', (...head: unknown[]): unknown => {
    if (!request.complete) {
      response.shouldKeepAlive = false;
      socket.destroySoon = end;
    }
    return Reflect.apply(writeHead, response, head);
  });
}

/** The timeout for receiving a whole request, except an upload. */
const requestMs = 10_000;

/**
 * Clears a timer when the body has been read, or its connection has ended: it would hold the parsed request in memory until
 * its timeout, and a listener that stays would hold it as long as the connection is open.
 */
function clearAtEnd(request: IncomingMessage, timer: NodeJS.Timeout): void {
  const { socket } = request;
  const clear = () => {
    clearTimeout(timer);
    socket.off('close', clear);
  };
  if (request.destroyed || socket.destroyed) return void clearTimeout(timer);
  request.once('close', clear);
  socket.once('close', clear);
}

/** The reader of an upload limits its time; an upload that has been answered is not read. */
function isUploadInProgress({ headers, url }: IncomingMessage, response: ServerResponse): boolean {
  const isToGraphQL = /^\/graphql(\?|$)/.test(url ?? '');
  return (
    isToGraphQL && /^multipart\/form-data *;/i.test(headers['content-type'] ?? '') && !response.writableEnded
  );
}

/** Closes the connection of a slow request, with 408 if nothing has been answered yet. */
function cut(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  if (response.headersSent) socket.destroy();
  else refuseRequest(socket, '408 Request Timeout', requestIdOf(request));
}

/**
 * Whether a request has exactly one `Host`, which is a name or an address. Node uses the first of several, a proxy in front
 * may use another, and parsers disagree about malformed ones.
 */
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

/**
 * Answers on the bare connection and ends it in both directions. Otherwise a client that leaves its side open would
 * hold it for ever.
 */
export function refuseRequest(socket: Duplex, status: string, requestId: string): void {
  socket.once('finish', () => socket.destroy());
  const head = ['connection: close', 'content-length: 0', `${requestIdHeader}: ${requestId}`];
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n`);
}

/**
 * Stops Node's parser when a connection was reset. It would parse the rest of the bytes it has: up to a thousand pipelined
 * requests for each connection that sends too many.
 */
function stopParsingWhenReset(server: Server): void {
  server.on('connection', (socket) => {
    const parser: unknown = Reflect.get(socket, 'parser');
    if (!isObject(parser)) return;
    const onIncoming: unknown = Reflect.get(parser, 'onIncoming');
    if (typeof onIncoming !== 'function') return;
    Reflect.set(parser, 'onIncoming', (...parsed: unknown[]): unknown =>
      socket.destroyed ? parserError : Reflect.apply(onIncoming, parser, parsed),
    );
  });
}

/**
 * Node makes an error for each request that a closed connection leaves unanswered, and nobody reads its stack. With
 * stacks, resetting a connection with 33 requests takes a millisecond longer.
 */
function skipStacksOfAborts(server: Server): void {
  let usual = Error.stackTraceLimit;
  server.on('connection', (socket) => {
    socket.prependListener('close', () => {
      usual = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
    });
    socket.on('close', () => {
      Error.stackTraceLimit = usual;
    });
  });
}

/** The return value that makes Node's parser fail. */
const parserError = -1;

/** Pipelined requests that may wait on one connection; clients that pipeline send only a few. */
const maxWaiting = 32;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  /** Whether one of its requests is being answered or waits. */
  isBusy: boolean;
  readonly waiting: Exchange[];
  /** The last request that began, until it is answered and all of it is received. */
  last: Exchange | null;
  /** When the last request began, or when its answer ended. */
  since: number;
  /**
   * Bytes read when its last request began. Node answers short requests while it parses the next ones, so a thousand
   * pipelined requests would be answered before any other connection is read. So a request in the same bytes waits for
   * the next round of the event loop. Each such round reads new events, so other requests do not wait for it.
   */
  bytesRead: number;
}

/**
 * Answers the requests of a connection one after the other: the next starts when the client's system has received the
 * whole previous answer. Node would run all of them at once and hold their answers in memory until they are read.
 * Idle connections and slow requests are ended by one timer for all: a timer for each request would cost it more.
 */
class Connections {
  readonly #route: Route;
  readonly #onCut: (reason: CutReason) => void;
  /** The longest time from an answer to the next request. */
  readonly #idleMs: number;
  readonly #connections = new Map<Socket, Connection>();
  readonly #turns = new Turns();

  constructor(route: Route, onCut: (reason: CutReason) => void, idleMs: number) {
    this.#route = route;
    this.#onCut = onCut;
    this.#idleMs = idleMs;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // The request was in the same bytes as the one for which the connection was reset. It is destroyed here, because
    // Node would destroy it with an error, whose stack costs more than reading the request.
    if (socket.destroyed) return void request.destroy();
    // The request arrived after the connection was closed. It is not started, so the client can send it again.
    if (!socket.writable) return void socket.resetAndDestroy();
    const connection = this.#find(socket);
    const { isBusy, waiting } = connection;
    connection.isBusy = true;
    if (!isBusy && connection.bytesRead !== socket.bytesRead) {
      this.#begin(socket, connection, { request, response });
    } else if (waiting.length < maxWaiting) {
      waiting.push({ request, response });
      if (!isBusy) setImmediate(this.#startNext, socket, connection);
    } else {
      this.#onCut('pipelined');
      socket.resetAndDestroy();
    }
  }

  /** Ends idle connections and slow requests of the server. */
  limitTimes(server: Server): void {
    const timer = setInterval(() => {
      const now = performance.now();
      for (const [socket, connection] of this.#connections) this.#checkTimes(socket, connection, now);
    }, 1000).unref();
    server.on('timeout', endIdle);
    server.on('upgrade', (_request, socket: Socket) => this.#connections.delete(socket));
    server.once('close', () => clearInterval(timer));
  }

  #find(socket: Socket): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection: Connection = { isBusy: false, waiting: [], last: null, since: 0, bytesRead: 0 };
    this.#connections.set(socket, connection);
    socket.once('close', () => this.#connections.delete(socket));
    return connection;
  }

  #begin(socket: Socket, connection: Connection, exchange: Exchange): void {
    if (socket.destroyed) return;
    const { request, response } = exchange;
    connection.bytesRead = socket.bytesRead;
    connection.last = exchange;
    connection.since = performance.now();
    response.on('close', () => this.#end(socket, connection));
    // Before 'finish', because Node then starts to discard the rest of the body without counting it.
    response.on('prefinish', limitRefusedBody);
    endAfterRefusal(request, response);
    if (!hasOneHost(request)) return void refuseRequest(socket, '400 Bad Request', requestIdOf(request));
    this.#route.answer(request, response);
  }

  #end(socket: Socket, connection: Connection): void {
    if (connection.last?.request.complete) connection.last = null;
    if (connection.waiting.length > 0) return void setImmediate(this.#startNext, socket, connection);
    connection.isBusy = false;
    // The announced rest of the request may still arrive: its time goes on.
    if (connection.last === null) connection.since = performance.now();
  }

  #checkTimes(socket: Socket, connection: Connection, now: number): void {
    const { last, isBusy, since } = connection;
    if (last !== null && !last.request.complete) {
      if (now - since > requestMs && !isUploadInProgress(last.request, last.response))
        cut(last.request, last.response);
      return;
    }
    if (isBusy) return;
    if (last !== null) Object.assign(connection, { last: null, since: now });
    else if (now - since > this.#idleMs) endIdle(socket);
  }

  readonly #startNext = (socket: Socket, connection: Connection): void => {
    const next = connection.waiting.shift();
    if (next !== undefined) this.#turns.run(() => this.#begin(socket, connection, next));
  };
}
