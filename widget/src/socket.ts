import type { Message } from 'graphql-ws/client';
import { type Fields, readFields, readJson } from './fields.ts';
import { isRefusal } from './gateway-error.ts';

/** Events of a socket; `closed` is called at most once, and never after `close()`. */
export interface SocketListener {
  /** The gateway has accepted the token. */
  opened(): void;
  closed(isTokenRefused: boolean): void;
}

/** Events of one subscription; none after it was stopped or its socket closed. */
export interface SubscriptionListener {
  next(data: Fields): void;
  /** The errors of the gateway, or null when it ended the subscription. */
  refused(errors: unknown): void;
}

/** One WebSocket that speaks `graphql-transport-ws`. */
export interface Socket {
  /** Starts an operation on an open socket; call the result to stop it. */
  readonly subscribe: (operation: Fields, listener: SubscriptionListener) => () => void;
  readonly close: () => void;
}

const OPENING_LIMIT_MS = 20_000;
const PING_EVERY_MS = 15_000;
const PONG_LIMIT_MS = 10_000;
/** Close codes for an expired or refused token: the gateway's and the protocol's. */
const TOKEN_REFUSED: readonly number[] = [4403, 4401];

/**
 * Opens one socket, for one token. Reconnection is in live-socket.ts. The rest of the protocol is one page, while
 * graphql-ws's types check the messages here.
 */
export function openSocket(url: string, token: string, listener: SocketListener): Socket {
  const socket = new WebSocket(url, 'graphql-transport-ws');
  const operations = new Map<string, SubscriptionListener>();
  let lastId = 0;
  let ping: ReturnType<typeof setInterval> | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;

  const send = (message: Message | Fields) => socket.send(JSON.stringify(message));

  function close(): void {
    // Nothing that arrives from now on is delivered.
    socket.onopen = socket.onmessage = socket.onclose = null;
    clearInterval(ping);
    clearTimeout(deadline);
    operations.clear();
    socket.close(1000);
  }

  function fall(isTokenRefused: boolean): void {
    close();
    listener.closed(isTokenRefused);
  }

  /** Closes the socket unless it opens, or answers a ping, in time; the browser has no timeout for either. */
  function expectWithin(limitMs: number): void {
    clearTimeout(deadline);
    deadline = setTimeout(fall, limitMs, false);
  }

  function acknowledged(): void {
    clearTimeout(deadline);
    ping = setInterval(() => {
      send({ type: 'ping' });
      expectWithin(PONG_LIMIT_MS);
    }, PING_EVERY_MS);
    listener.opened();
  }

  function receive({ type, id, payload }: Fields): void {
    const operation = operations.get(String(id));
    if (type === 'connection_ack') acknowledged();
    if (type === 'ping') send({ type: 'pong' });
    if (type === 'pong') clearTimeout(deadline);
    if (type === 'next') pass(readFields(payload), operation);
    if (type === 'error' || type === 'complete') {
      operations.delete(String(id));
      operation?.refused(type === 'error' ? payload : null);
    }
  }

  socket.onopen = () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  socket.onmessage = ({ data }) => {
    const message = readJson(data);
    if (message) receive(message);
    // The unreadable message may have been an update: the next socket continues from the cursor.
    else fall(false);
  };
  socket.onclose = ({ code }) => fall(TOKEN_REFUSED.includes(code));
  expectWithin(OPENING_LIMIT_MS);
  return {
    close,
    subscribe: (payload, subscription) => {
      lastId += 1;
      const id = String(lastId);
      operations.set(id, subscription);
      send({ id, type: 'subscribe', payload });
      return () => {
        if (operations.delete(id)) send({ id, type: 'complete' });
      };
    },
  };
}

function pass(answer: Fields, operation: SubscriptionListener | undefined): void {
  if (isRefusal(answer)) operation?.refused(answer.errors);
  else operation?.next(readFields(answer.data));
}
