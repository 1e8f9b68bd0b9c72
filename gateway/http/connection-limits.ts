import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { Turns } from '../execution/turns.ts';
import { patience, requireHaste, requireOneHost } from './timeouts.ts';

/** Why a connection was reset: its client read too slowly, left too many bytes unread, or pipelined too many requests. */
export type CutReason = 'stalled' | 'unread' | 'pipelined';

/** An HTTP server that limits its connections: idle time, waiting requests and unread bytes (decision 0081). */
export function createBoundedServer(answer: RequestListener, onCut: (reason: CutReason) => void): Server {
  const idleSince = new Map<Socket, number>();
  const server = createServer(
    patience,
    answerInTurn(limitRefusedBodies(requireOneHost(requireHaste(answer))), { idleSince, onCut }),
  );
  stopParsingWhenReset(server);
  skipStacksOfAborts(server);
  limitIdle(server, idleSince);
  limitUnread(server, onCut);
  return server;
}

/** Time from the last answer to the next request. Node's own timeout of 5 s restarts with each byte, so empty lines extend it. */
const idleMs = 11_000;
/** Time in which a client may read the rest of an answer after its connection was closed. */
const lingerMs = 7000;

/** Closes idle connections. */
function limitIdle(server: Server, idleSince: Map<Socket, number>): void {
  const timer = setInterval(() => {
    const latest = performance.now() - idleMs;
    for (const [socket, since] of idleSince) if (since < latest) endIdle(socket);
  }, 1000).unref();
  server.on('timeout', endIdle);
  server.on('upgrade', (_request, socket: Socket) => idleSince.delete(socket));
  server.on('connection', (socket) => socket.once('close', () => idleSince.delete(socket)));
  server.once('close', () => clearInterval(timer));
}

/**
 * Closes a connection, and resets it if the client does not close its side. Node would release it at once, and the
 * operating system would then keep the unread rest of an answer for as long as the client likes.
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
 */
function limitRefusedBodies(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Before 'finish': there Node starts to discard the rest without counting it.
    response.once('prefinish', () => {
      if (!request.complete) limitRest(request);
    });
    answer(request, response);
  };
}

function limitRest(request: IncomingMessage): void {
  const { socket } = request;
  let bytes = 0;
  const timer = setTimeout(() => {
    if (!request.complete) socket.resetAndDestroy();
  }, restLimits.waitMs).unref();
  request.once('end', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > restLimits.bytes) request.pause();
  });
  // Marks the body as read by us.
  request.read(0);
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
 * Node makes an error for each request that a closed connection leaves unanswered, and nobody reads their stacks. With
 * stacks, a connection that is reset with 33 requests costs a millisecond more.
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

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Connection {
  /** Whether one of its requests is being answered or waits. */
  isBusy: boolean;
  readonly waiting: Waiting[];
  /**
   * Bytes read when its last request began. Node answers short requests while it parses the next ones, and a thousand
   * pipelined ones would be answered before any other connection is read. A request of the same bytes waits for the next
   * round of the event loop; each such round asks the system for events anew, so no other request waits for one.
   */
  bytesRead: number;
}

interface TurnOptions {
  /** When each idle connection became idle; connections with a request in progress are not in it. */
  readonly idleSince: Map<Socket, number>;
  readonly onCut: (reason: CutReason) => void;
}

/**
 * Answers the requests of a connection one after the other: the next starts when the client's system has received the
 * whole previous answer. Node would run all of them at once and keep their answers in memory until they are read.
 */
function answerInTurn(answer: RequestListener, { idleSince, onCut }: TurnOptions): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  const turns = new Turns();
  const begin = (socket: Socket, connection: Connection, { request, response }: Waiting) => {
    if (socket.destroyed) return void connections.delete(socket);
    connection.bytesRead = socket.bytesRead;
    response.once('close', () => end(socket, connection));
    answer(request, response);
  };
  const end = (socket: Socket, connection: Connection) => {
    if (connection.waiting.length > 0) return void setImmediate(startNext, socket, connection);
    connection.isBusy = false;
    if (!socket.destroyed) idleSince.set(socket, performance.now());
  };
  const startNext = (socket: Socket, connection: Connection) => {
    const next = connection.waiting.shift();
    if (next !== undefined) turns.run(() => begin(socket, connection, next));
  };
  return (request, response) => {
    const { socket } = request;
    // The request came in the same bytes as the one that the connection was reset for. Destroyed here, because Node would
    // destroy it with an error, whose stack costs more than reading the request.
    if (socket.destroyed) return void request.destroy();
    // The request came after the connection was closed. It is not started, so the client can send it again.
    if (!socket.writable) return void socket.resetAndDestroy();
    const connection = connections.get(socket) ?? { isBusy: false, waiting: [], bytesRead: 0 };
    const { isBusy, waiting } = connection;
    if (!isBusy) {
      connection.isBusy = true;
      connections.set(socket, connection);
      idleSince.delete(socket);
    }
    if (!isBusy && connection.bytesRead !== socket.bytesRead) {
      begin(socket, connection, { request, response });
    } else if (waiting.length < maxWaiting) {
      waiting.push({ request, response });
      if (!isBusy) setImmediate(startNext, socket, connection);
    } else {
      onCut('pipelined');
      socket.resetAndDestroy();
    }
  };
}

/** Limits for bytes in this process that clients have not read. */
interface UnreadLimits {
  readonly lookMs: number;
  /** In each window, a client with unread bytes must read at least `minBytes` of them, or all. */
  readonly windowMs: number;
  readonly minBytes: number;
  /** For one connection; `maxTotalBytes` is for all together. */
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

const mebibyte = 1024 * 1024;
const limits: UnreadLimits = {
  lookMs: 500,
  windowMs: 10_000,
  minBytes: 16 * 1024,
  maxBytes: 32 * mebibyte,
  maxTotalBytes: 64 * mebibyte,
};

/** A connection with unread bytes. */
interface Debt {
  readonly socket: Socket;
  /** When the window started, and how many bytes the client's system had received by then. */
  since: number;
  takenBefore: number;
  unread: number;
  taken: number;
}

type Debts = Map<Socket, Debt>;

/**
 * Resets the connections of clients that do not read, for answers, streams and WebSocket messages alike. One timer checks
 * all sockets of the server. A connection without unread bytes stays.
 */
function limitUnread(server: Server, onCut: (reason: CutReason) => void): void {
  const sockets = new Set<Socket>();
  const debts: Debts = new Map();
  function forget(this: Socket): void {
    sockets.delete(this);
    debts.delete(this);
  }
  const cut = (socket: Socket, reason: CutReason) => {
    if (socket.destroyed) return;
    onCut(reason);
    // A normal close would leave the unread bytes in the operating system until the client reads.
    socket.resetAndDestroy();
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (const socket of sockets) noteDebt(debts, socket, now);
    for (const debt of findStalled(debts, now, limits)) cut(debt.socket, 'stalled');
    for (const debt of findExcess(debts, now, limits)) cut(debt.socket, 'unread');
  }, limits.lookMs).unref();

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', forget);
  });
  server.once('close', () => clearInterval(timer));
}

function noteDebt(debts: Debts, socket: Socket, now: number): void {
  const unread = socket.writableLength;
  if (unread === 0 || socket.destroyed) return void debts.delete(socket);
  const taken = countTaken(socket);
  const debt = debts.get(socket);
  if (debt === undefined) debts.set(socket, { socket, since: now, takenBefore: taken, unread, taken });
  else Object.assign(debt, { unread, taken });
}

/** Connections whose client read too little in a whole window; for the others a new window starts. */
function findStalled(debts: Debts, now: number, { windowMs, minBytes }: UnreadLimits): readonly Debt[] {
  const ended = [...debts.values()].filter(({ since }) => now - since >= windowMs);
  const stalled = ended.filter(({ taken, takenBefore }) => taken - takenBefore < minBytes);
  for (const debt of ended) Object.assign(debt, { since: now, takenBefore: debt.taken });
  return stalled;
}

/** Connections beyond their own limit and, if all together are beyond the total, the slowest readers until the rest fits. */
function findExcess(debts: Debts, now: number, { maxBytes, maxTotalBytes }: UnreadLimits): readonly Debt[] {
  const all = [...debts.values()];
  let total = all.reduce((sum, { unread }) => sum + unread, 0);
  if (total <= Math.min(maxBytes, maxTotalBytes)) return [];
  const excess: Debt[] = [];
  for (const debt of all.toSorted((one, other) => compareSpeed(one, other, now))) {
    if (debt.unread <= maxBytes && total <= maxTotalBytes) continue;
    excess.push(debt);
    total -= debt.unread;
  }
  return excess;
}

/** The slowest first, connections seen for the first time last; of equally slow ones the one with most unread bytes first. */
function compareSpeed(one: Debt, other: Debt, now: number): number {
  const speedOf = ({ since, taken, takenBefore }: Debt) =>
    since === now ? Number.MAX_VALUE : (taken - takenBefore) / (now - since);
  return speedOf(one) - speedOf(other) || other.unread - one.unread;
}

/**
 * Bytes that the client's system has received so far. Node counts a chunk only when all of it has been sent, which for a
 * large answer is its end. The socket's handle has the progress within a chunk; Node's own timeouts read it too.
 */
function countTaken(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  const read = (name: string) => (isObject(handle) ? Number(Reflect.get(handle, name)) : Number.NaN);
  const taken = read('bytesWritten') - read('writeQueueSize');
  return Number.isNaN(taken) ? socket.bytesWritten - socket.writableLength : taken;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
