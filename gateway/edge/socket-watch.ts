import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** How often sockets are looked at: a token's end is kept to this. */
const lookMs = 500;
/** Looks from one ping to the next. */
const looksPerPing = 30;

/** Looks after open sockets. */
export interface SocketWatch {
  /** Watches a socket until it closes. */
  readonly add: (socket: WebSocket) => WatchedSocket;
  readonly stop: () => void;
}

export interface WatchedSocket {
  /** Resolves when the socket has taken the message: a stream goes on only as fast as its client reads. */
  readonly send: (message: string) => Promise<void>;
  /** Nothing is sent after this: the socket closes with 4403, so that the client comes back with a new token. */
  expiresAt: Date | null;
}

interface Watched extends WatchedSocket {
  readonly socket: WebSocket;
  /** Whether the other side was heard of since the last ping. */
  isAlive: boolean;
}

/**
 * Pings, ends sockets whose other side is gone without a word, and closes those whose token has ended. One timer
 * for all: with two of its own an idle socket would cost 1 kB more.
 */
export function watchSockets(): SocketWatch {
  const all = new Set<Watched>();
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    const now = Date.now();
    for (const watched of all) look(watched, { now, isPing: looks % looksPerPing === 0 });
  }, lookMs).unref();

  return {
    add: (socket) => {
      const watched: Watched = {
        socket,
        isAlive: true,
        expiresAt: null,
        send: (message) => sendWhenTaken(watched, message),
      };
      all.add(watched);
      socket.on('pong', () => {
        watched.isAlive = true;
      });
      socket.once('close', () => all.delete(watched));
      return watched;
    },
    stop: () => clearInterval(timer),
  };
}

interface Look {
  readonly now: number;
  readonly isPing: boolean;
}

function look(watched: Watched, { now, isPing }: Look): void {
  if (hasExpired(watched, now)) {
    close(watched);
  } else if (isPing && !watched.isAlive) {
    watched.socket.terminate();
  } else if (isPing) {
    watched.isAlive = false;
    watched.socket.ping();
  }
}

function hasExpired({ expiresAt }: Watched, now: number): boolean {
  return expiresAt !== null && now >= expiresAt.getTime();
}

function close({ socket }: Watched): void {
  socket.close(CloseCode.Forbidden, 'Token expired');
}

function sendWhenTaken(watched: Watched, message: string): Promise<void> {
  const { socket } = watched;
  // The next look may be a while off.
  if (hasExpired(watched, Date.now())) close(watched);
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(message, () => resolve()));
}
