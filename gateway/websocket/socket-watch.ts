import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';

/** The interval of checks: an expired token closes its socket within it. */
const checkEveryMs = 500;
/** The number of checks from one ping to the next. */
const checksPerPing = 30;
/**
 * A ping arrives after everything that was sent before it. So its answer may take one interval more for each of these bytes
 * sent since the last answered ping (0.14 Mbit/s), up to as many as an operating system holds; the unread rest stays in
 * this process, where http/unread-bytes.ts watches it.
 */
const bytesPerInterval = 256 * 1024;
const maxBytesInSystem = 4 * 1024 * 1024;
/** The most unread bytes of a client. Beyond it the gateway stops reading from the socket, because each message needs an answer. */
const maxUnreadBytes = 1024 * 1024;

/** Checks open sockets. */
export interface SocketWatch {
  /** Watches a socket until it has closed. */
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
  /** Which of the checks between two pings sends its ping: all at once, ten thousand pings would take a third of a second. */
  readonly turn: number;
  /** Since the last ping, in characters: no more than bytes. */
  sent: number;
  /** In how many more intervals the last ping may be answered; null when it is. */
  intervalsLeft: number | null;
}

/**
 * Pings sockets and terminates those that do not answer, closes those whose token or key has ended, and stops reading from
 * those whose client does not read. One timer and the same listeners serve all sockets: ten thousand idle ones hold them.
 */
export function watchSockets(): SocketWatch {
  const all = new Map<WebSocket, Watched>();
  let checks = 0;
  let added = 0;
  const timer = setInterval(() => {
    checks += 1;
    for (const [socket, watched] of all) {
      if (socket.readyState === socket.CLOSED) all.delete(socket);
      else check(watched, checks % checksPerPing === watched.turn);
    }
  }, checkEveryMs).unref();
  function notePong(this: WebSocket): void {
    const watched = all.get(this);
    if (watched !== undefined) watched.intervalsLeft = null;
  }

  return {
    add: (socket) => {
      const watched: Watched = {
        socket,
        turn: added++ % checksPerPing,
        sent: 0,
        intervalsLeft: null,
        end: null,
        send: (message) => sendWhenTaken(watched, message),
      };
      all.set(socket, watched);
      socket.on('message', pauseUnread);
      socket.on('ping', pauseUnread);
      socket.on('pong', notePong);
      return watched;
    },
    stop: () => clearInterval(timer),
  };
}

function check(watched: Watched, isPing: boolean): void {
  const { socket } = watched;
  const wasPaused = socket.isPaused;
  if (wasPaused && socket.bufferedAmount <= maxUnreadBytes) socket.resume();
  if (watched.end?.aborted) close(watched);
  // With unread bytes here a client reads on, or http/unread-bytes.ts ends it. Its answer to a ping may be unread by us.
  else if (isPing && socket.bufferedAmount === 0 && !wasPaused) ping(watched);
}

/** One ping at a time: a second one would arrive after the first. */
function ping(watched: Watched): void {
  const { socket, sent, intervalsLeft } = watched;
  if (intervalsLeft === 0) {
    socket.terminate();
  } else if (intervalsLeft !== null) {
    watched.intervalsLeft = intervalsLeft - 1;
  } else {
    watched.intervalsLeft = Math.floor(Math.min(sent, maxBytesInSystem) / bytesPerInterval);
    watched.sent = 0;
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
  watched.sent += message.length;
  return new Promise((resolve) => socket.send(message, () => resolve()));
}
