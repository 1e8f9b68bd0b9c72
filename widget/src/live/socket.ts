import { type Client, createClient } from 'graphql-ws/client';
import { readFields } from '../gateway/fields.ts';

/** Events of the one socket at a time, and what it needs to open. */
export interface SocketListener {
  /** Settles when the next socket may open. Not called for the first. */
  wait(): Promise<void>;
  /** The token of the socket that opens, requested meanwhile; a rejection closes it. */
  getToken(): Promise<string>;
  /** The gateway has accepted the token; the running operations are sent next. */
  opened(): void;
  received(): void;
  /** The socket closed or could not be opened: once for each, with the code of its close. */
  closed(code: number): void;
}

/** Sends operations over a WebSocket that is open while there are any, and opens again until there are none. */
export interface OperationSocket {
  /** Runs an operation, on as many sockets as necessary; its payload is read each time it is sent. */
  readonly subscribe: Client['subscribe'];
  /** Pings, and closes the socket if no pong comes soon. */
  readonly probe: () => void;
  /** Closes the socket at once, as if the gateway had closed it with this code. */
  readonly drop: (code?: number) => void;
}

const OPENING_LIMIT_MS = 20_000;
const PING_EVERY_MS = 15_000;
const PONG_LIMIT_MS = 10_000;
/** Shorter, because somebody is looking. */
const PROBE_LIMIT_MS = 4000;
/** In place of a close code: the socket was closed because no answer came in time. */
export const UNANSWERED = 1;
/** The code of graphql-ws for a socket that it was made to terminate. */
const TERMINATED = 4499;

/**
 * The client of graphql-ws, with what it lacks (decision 0098): a limit for opening and for pongs, a ping on demand, an end
 * that is the same for every reason, and constructors of WebSocket that throw.
 */
export function createOperationSocket(url: string, listener: SocketListener): OperationSocket {
  let socket: WebSocket | null = null;
  /** The payload of `connection_init` of the newest socket. */
  let authorization: Promise<Record<string, unknown>>;
  let isUp = false;
  let closeCode = 0;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let deadlineAt = Number.POSITIVE_INFINITY;

  function drop(code = 0): void {
    closeCode = code;
    if (isUp) client.terminate();
  }

  function expectWithin(limitMs: number): void {
    const at = performance.now() + limitMs;
    if (at >= deadlineAt) return;
    clearTimeout(deadline);
    deadlineAt = at;
    deadline = setTimeout(drop, limitMs, UNANSWERED);
  }

  function stopExpecting(): void {
    clearTimeout(deadline);
    deadlineAt = Number.POSITIVE_INFINITY;
  }

  /** While the socket opens, because each takes several round trips. */
  function requestToken(): void {
    const mine: typeof authorization = listener.getToken().then(
      (token) => ({ authorization: `Bearer ${token}` }),
      () => {
        // A late failure must not close the socket after this one.
        if (mine === authorization) drop();
        return {};
      },
    );
    authorization = mine;
  }

  const client = createClient({
    url,
    webSocketImpl: withoutExceptions(WebSocket),
    keepAlive: PING_EVERY_MS,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: () => listener.wait(),
    connectionParams: () => authorization,
    on: {
      connecting: () => {
        isUp = true;
        closeCode = 0;
        expectWithin(OPENING_LIMIT_MS);
        requestToken();
      },
      connected: (opened) => {
        stopExpecting();
        // The client gives its WebSocket as `unknown`, because it runs in Node too.
        socket = opened as WebSocket;
        listener.opened();
      },
      message: () => listener.received(),
      ping: (isReceived) => isReceived || expectWithin(PONG_LIMIT_MS),
      pong: (isReceived) => isReceived && stopExpecting(),
      error: () => drop(),
      closed: (event) => {
        const { code } = readFields(event);
        // After many codes the client does not open again by itself; it does after this one.
        if (code !== TERMINATED) return drop(Number(code));
        if (!isUp) return;
        isUp = false;
        socket = null;
        stopExpecting();
        listener.closed(closeCode);
      },
    },
  });

  return {
    subscribe: client.subscribe,
    drop,
    probe: () => {
      if (socket?.readyState !== WebSocket.OPEN) return;
      socket.send('{"type":"ping"}');
      expectWithin(PROBE_LIMIT_MS);
    },
  };
}

/**
 * Some browsers throw where others only close: a policy of the page, or ws: on a page of https:. The client would wait for
 * ever, so such a socket closes like one that cannot be opened.
 */
function withoutExceptions(Socket: typeof WebSocket): unknown {
  function Opened(...parameters: ConstructorParameters<typeof WebSocket>): object {
    try {
      return new Socket(...parameters);
    } catch {
      const closed: { onclose?: (event: object) => void; close(): void } = { close: () => {} };
      queueMicrotask(() => closed.onclose?.({ code: 1006, reason: '' }));
      return closed;
    }
  }
  // It has the constants of `WebSocket`. It is no Proxy: if a page gives all objects a method `get`, that becomes a trap.
  return Object.setPrototypeOf(Opened, Socket);
}
