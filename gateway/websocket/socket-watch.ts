import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** The interval of checks: an expired token closes its socket within it. */
const lookMs = 500;
/** Looks from one ping to the next. */
const looksPerPing = 30;
/** What may lie unread for a client before it is not listened to either: some answer is owed for all that it sends. */
const maxUnreadBytes = 1024 * 1024;

/** Looks after open sockets. */
export interface SocketWatch {
  /** Watches a socket until it closes. */
  readonly add: (socket: WebSocket) => WatchedSocket;
  readonly stop: () => void;
}

export interface WatchedSocket {
  /** Resolves when the socket has taken the message: a stream goes on only as fast as its client reads. */
  readonly send: (message: string) => Promise<void>;
  /** Once it aborts nothing is sent: the socket closes with 4403, so that the client comes back with a new token. */
  end: AbortSignal | null;
}

interface Watched extends WatchedSocket {
  readonly socket: WebSocket;
  /** Whether anything was received since the last ping. */
  isAlive: boolean;
}

/**
 * Pings, ends sockets whose other side is gone without a word, closes those whose token has ended or was revoked, and listens
 * no more to those that do not read. One timer for all: with two of its own an idle socket would cost 1 kB more.
 */
export function watchSockets(): SocketWatch {
  const all = new Set<Watched>();
  let looks = 0;
  const timer = setInterval(() => {
    looks += 1;
    for (const watched of all) look(watched, looks % looksPerPing === 0);
  }, lookMs).unref();

  return {
    add: (socket) => {
      const watched: Watched = {
        socket,
        isAlive: true,
        end: null,
        send: (message) => sendWhenTaken(watched, message),
      };
      all.add(watched);
      socket.on('message', holdBack);
      socket.on('ping', holdBack);
      socket.on('pong', () => {
        watched.isAlive = true;
      });
      socket.once('close', () => all.delete(watched));
      return watched;
    },
    stop: () => clearInterval(timer),
  };
}

function look(watched: Watched, isPing: boolean): void {
  const { socket } = watched;
  if (socket.isPaused && socket.bufferedAmount <= maxUnreadBytes) socket.resume();
  if (watched.end?.aborted) {
    close(watched);
  } else if (isPing && !watched.isAlive) {
    socket.terminate();
  } else if (isPing) {
    watched.isAlive = false;
    socket.ping();
  }
}

/** Whoever asks and does not read would fill the memory with answers, before it has said who it is. */
function holdBack(this: WebSocket): void {
  if (this.bufferedAmount > maxUnreadBytes) this.pause();
}

function close({ socket, end }: Watched): void {
  socket.close(CloseCode.Forbidden, String(end?.reason));
}

function sendWhenTaken(watched: Watched, message: string): Promise<void> {
  const { socket } = watched;
  // The next look may be a while off.
  if (watched.end?.aborted) close(watched);
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(message, () => resolve()));
}
