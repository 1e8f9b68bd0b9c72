import type { Message } from 'graphql-ws/client';
import { type Fields, readFields, readJson } from './fields.ts';
import { isRefusal } from './gateway-error.ts';

/** What happens to a socket; `closed` comes at most once, and never after `close()`. */
export interface SocketListener {
  /** The gateway has taken the token. */
  opened(): void;
  closed(isTokenRefused: boolean): void;
}

/** What happens to one subscription; nothing comes after it was stopped or its socket closed. */
export interface SubscriptionListener {
  next(data: Fields): void;
  /** The errors of the gateway, or null when it ended the subscription. */
  refused(errors: unknown): void;
}

/** One WebSocket that speaks `graphql-transport-ws`. */
export interface Socket {
  /** Begins an operation once the socket is open; call the answer to end it. */
  readonly subscribe: (operation: Fields, listener: SubscriptionListener) => () => void;
  readonly close: () => void;
}

const OPENING_LIMIT_MS = 20_000;
const PING_EVERY_MS = 15_000;
const PONG_LIMIT_MS = 10_000;
/** The gateway's word for a token that ended or is refused, and the protocol's own. */
const TOKEN_REFUSED: readonly number[] = [4403, 4401];

/**
 * Opens one socket, for one token. Everything about coming back is in live-socket.ts; with that gone, what is left
 * of the protocol is a page, while graphql-ws's client is a fifth of the module's budget (docs/decisions). Its types
 * still hold the messages here.
 */
export function openSocket(url: string, token: string, listener: SocketListener): Socket {
  const socket = new WebSocket(url, 'graphql-transport-ws');
  const operations = new Map<string, SubscriptionListener>();
  let lastId = 0;
  let ping: ReturnType<typeof setInterval> | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;

  const send = (message: Message | Fields) => socket.send(JSON.stringify(message));

  function close(): void {
    // What is still on its way belongs to nobody.
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

  /** A socket may never open, and a ping may never be answered; the browser has no limit for either. */
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
    // It may have been an update: the next socket goes on from the cursor.
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
