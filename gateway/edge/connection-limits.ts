import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { patience, requireHaste, requireOneHost } from './patience.ts';

/** Why a connection was cut: it read too slowly, had too much unread, or had too many requests waiting. */
export type CutReason = 'stalled' | 'unread' | 'pipelined';

/** An HTTP server whose connections are bounded: in time, in requests that wait and in bytes that nobody reads. */
export function createBoundedServer(answer: RequestListener, onCut: (reason: CutReason) => void): Server {
  const idleSince = new Map<Socket, number>();
  const server = createServer(
    patience,
    answerInTurn(requireOneHost(requireHaste(answer)), { idleSince, onCut }),
  );
  limitIdle(server, idleSince);
  limitUnread(server, onCut);
  return server;
}

/** After its last answer a connection has this long to begin the next request, whatever it sends; Node's own time-out of 5 s begins anew with each byte. */
const idleMs = 11_000;
/** How long a client may take to read what its system still holds for it when its connection ends. */
const lingerMs = 7000;

/** Ends connections on which nothing is asked. */
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
 * Ends a connection, and resets it where the client does not end its side. Node would let go of it at once, and the
 * operating system would then hold the unread rest of an answer for as long as the client likes.
 */
function endIdle(socket: Socket): void {
  if (!socket.writable) return;
  socket.end();
  const timer = setTimeout(() => socket.resetAndDestroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Requests that wait on one connection behind the one being answered; HTTP clients that send ahead at all send a few. */
const maxWaiting = 32;

interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface Turns {
  /** Since when nothing is asked on a connection; those that have a request in hand are not in it. */
  readonly idleSince: Map<Socket, number>;
  readonly onCut: (reason: CutReason) => void;
}

/**
 * Answers the requests of a connection one after the other: the next begins when its client's system has taken the whole
 * answer to the one before. Node would run all of them at once and keep their answers in memory until they are read.
 */
function answerInTurn(answer: RequestListener, { idleSince, onCut }: Turns): RequestListener {
  /** Of each connection with a request in hand: those that wait behind it, null for none. */
  const queues = new WeakMap<Socket, Waiting[] | null>();
  const begin = (socket: Socket, { request, response }: Waiting) => {
    response.once('close', () => end(socket));
    answer(request, response);
  };
  const end = (socket: Socket) => {
    const next = socket.destroyed ? undefined : queues.get(socket)?.shift();
    if (next !== undefined) return begin(socket, next);
    queues.delete(socket);
    if (!socket.destroyed) idleSince.set(socket, performance.now());
  };
  return (request, response) => {
    const { socket } = request;
    // Came with the bytes that the connection was cut for. Node destroys each with an error, whose stack costs more than
    // reading the request, unless it is destroyed already.
    if (socket.destroyed) return void request.destroy();
    // Came after the end of the connection: it is not begun, so it can be sent again.
    if (!socket.writable) return void socket.resetAndDestroy();
    const waiting = queues.get(socket);
    if (waiting === undefined) {
      idleSince.delete(socket);
      queues.set(socket, null);
      begin(socket, { request, response });
    } else if (waiting === null) {
      queues.set(socket, [{ request, response }]);
    } else if (waiting.length < maxWaiting) {
      waiting.push({ request, response });
    } else {
      onCut('pipelined');
      socket.resetAndDestroy();
    }
  };
}

/** What may lie in this process for clients that have not read it. */
interface UnreadLimits {
  readonly lookMs: number;
  /** A client with unread bytes reads at least `minBytes` of them, or all, in each of these times. */
  readonly windowMs: number;
  readonly minBytes: number;
  /** For one connection, and for all together. */
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
  /** When the window began, and how many bytes the client's system had taken by then. */
  since: number;
  takenBefore: number;
  unread: number;
  taken: number;
}

type Debts = Map<Socket, Debt>;

/**
 * Cuts the connections of clients that do not read, whatever is sent over them: answers, streams or WebSocket messages.
 * One timer looks at all sockets of the server. A connection with nothing unread is idle and stays.
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
    // Not closed in order: what the system holds for this client would stay until it reads.
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

/** Connections that read too little in a whole window; for the others the next one begins. */
function findStalled(debts: Debts, now: number, { windowMs, minBytes }: UnreadLimits): readonly Debt[] {
  const ended = [...debts.values()].filter(({ since }) => now - since >= windowMs);
  const stalled = ended.filter(({ taken, takenBefore }) => taken - takenBefore < minBytes);
  for (const debt of ended) Object.assign(debt, { since: now, takenBefore: debt.taken });
  return stalled;
}

/** Connections with too much for one and, where all together have too much, the slowest readers until the rest fits. */
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

/** The slowest first; those that were seen only now last, and of equally slow ones the one with most unread first. */
function compareSpeed(one: Debt, other: Debt, now: number): number {
  const speedOf = ({ since, taken, takenBefore }: Debt) =>
    since === now ? Number.MAX_VALUE : (taken - takenBefore) / (now - since);
  return speedOf(one) - speedOf(other) || other.unread - one.unread;
}

/**
 * Bytes that the client's system has taken so far. Node counts a chunk when all of it is gone, which for a large answer is
 * its end; only its handle knows how much of a chunk is left (Node's own time-outs look there too).
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
