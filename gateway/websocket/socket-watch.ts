import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** The interval of checks: an expired token closes its socket within it. */
const checkEveryMs = 500;
/** The number of checks from one ping to the next. */
const checksPerPing = 30;
/** The most unread bytes of a client. Beyond it the gateway stops reading from the socket, because each message needs an answer. */
const maxUnreadBytes = 1024 * 1024;

/** Checks open sockets. */
export interface SocketWatch {
  /** Watches a socket until it closes. */
  readonly add: (socket: WebSocket) => WatchedSocket;
  readonly stop: () => void;
}

export interface WatchedSocket {
  /** Resolves when the socket has taken the message: a stream goes on only as fast as its client reads. */
  readonly send: (message: string) => Promise<void>;
  /** Once it aborts nothing is sent: the socket closes with 4403, so that the client comes back with a new credential. */
  end: AbortSignal | null;
}

interface Watched extends WatchedSocket {
  readonly socket: WebSocket;
  /** Whether anything was received since the last ping. */
  isAlive: boolean;
}

/**
 * Pings sockets and terminates those that do not answer, closes those whose token or key has ended, and stops reading from
 * those whose client does not read. One timer serves all sockets: two timers of its own would cost each idle socket 1 kB.
 */
export function watchSockets(): SocketWatch {
  const all = new Set<Watched>();
  let checks = 0;
  const timer = setInterval(() => {
    checks += 1;
    for (const watched of all) check(watched, checks % checksPerPing === 0);
  }, checkEveryMs).unref();

  return {
    add: (socket) => {
      const watched: Watched = {
        socket,
        isAlive: true,
        end: null,
        send: (message) => sendWhenTaken(watched, message),
      };
      all.add(watched);
      socket.on('message', pauseUnread);
      socket.on('ping', pauseUnread);
      socket.on('pong', () => {
        watched.isAlive = true;
      });
      socket.once('close', () => all.delete(watched));
      return watched;
    },
    stop: () => clearInterval(timer),
  };
}

function check(watched: Watched, isPing: boolean): void {
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

/** Without this a client that sends and does not read would fill the memory with answers, even before it is authenticated. */
function pauseUnread(this: WebSocket): void {
  if (this.bufferedAmount > maxUnreadBytes) this.pause();
}

function close({ socket, end }: Watched): void {
  socket.close(CloseCode.Forbidden, String(end?.reason));
}

function sendWhenTaken(watched: Watched, message: string): Promise<void> {
  const { socket } = watched;
  // The next check may be half a second away.
  if (watched.end?.aborted) close(watched);
  if (socket.readyState !== socket.OPEN) return Promise.resolve();
  return new Promise((resolve) => socket.send(message, () => resolve()));
}
