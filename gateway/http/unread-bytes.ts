import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { isObject } from '../parse/json.ts';

/** Why a connection was reset: its client reads too slowly, or leaves too many bytes unread. */
type UnreadReason = 'stalled' | 'unread';

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

interface UnreadConnection {
  readonly socket: Socket;
  /** When the window started, and how many bytes the client's system had received by then. */
  since: number;
  takenBefore: number;
  unread: number;
  taken: number;
}

type UnreadConnections = Map<Socket, UnreadConnection>;

/**
 * Resets the connections of clients that do not read, for answers, streams and WebSocket messages alike. One timer checks
 * all sockets of the server. A connection without unread bytes stays.
 */
export function limitUnread(server: Server, onCut: (reason: UnreadReason) => void): void {
  const sockets = new Set<Socket>();
  const connections: UnreadConnections = new Map();
  function forget(this: Socket): void {
    sockets.delete(this);
    connections.delete(this);
  }
  const cut = (socket: Socket, reason: UnreadReason) => {
    if (socket.destroyed) return;
    onCut(reason);
    // A normal close would leave the unread bytes in the operating system until the client reads.
    socket.resetAndDestroy();
  };
  const timer = setInterval(() => {
    const now = performance.now();
    for (const socket of sockets) noteUnread(connections, socket, now);
    for (const connection of findStalled(connections, now, limits)) cut(connection.socket, 'stalled');
    for (const connection of findExcess(connections, now, limits)) cut(connection.socket, 'unread');
  }, limits.lookMs).unref();

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', forget);
  });
  server.once('close', () => clearInterval(timer));
}

function noteUnread(connections: UnreadConnections, socket: Socket, now: number): void {
  const unread = socket.writableLength;
  if (unread === 0 || socket.destroyed) return void connections.delete(socket);
  const taken = countTaken(socket);
  const connection = connections.get(socket);
  if (connection === undefined)
    connections.set(socket, { socket, since: now, takenBefore: taken, unread, taken });
  else Object.assign(connection, { unread, taken });
}

/** Connections whose client read too little in a whole window; for the others a new window starts. */
function findStalled(
  connections: UnreadConnections,
  now: number,
  { windowMs, minBytes }: UnreadLimits,
): readonly UnreadConnection[] {
  const ended = [...connections.values()].filter(({ since }) => now - since >= windowMs);
  const stalled = ended.filter(({ taken, takenBefore }) => taken - takenBefore < minBytes);
  for (const connection of ended) Object.assign(connection, { since: now, takenBefore: connection.taken });
  return stalled;
}

/** Connections beyond their own limit and, if all together are beyond the total, the slowest readers until the rest fits. */
function findExcess(
  connections: UnreadConnections,
  now: number,
  { maxBytes, maxTotalBytes }: UnreadLimits,
): readonly UnreadConnection[] {
  const all = [...connections.values()];
  let total = all.reduce((sum, { unread }) => sum + unread, 0);
  if (total <= Math.min(maxBytes, maxTotalBytes)) return [];
  const excess: UnreadConnection[] = [];
  for (const connection of all.toSorted((one, other) => compareSpeed(one, other, now))) {
    if (connection.unread <= maxBytes && total <= maxTotalBytes) continue;
    excess.push(connection);
    total -= connection.unread;
  }
  return excess;
}

/** The slowest first, connections seen for the first time last; of equally slow ones the one with most unread bytes first. */
function compareSpeed(one: UnreadConnection, other: UnreadConnection, now: number): number {
  const speedOf = ({ since, taken, takenBefore }: UnreadConnection) =>
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
