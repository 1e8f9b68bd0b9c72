import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { GatewayError } from '../../errors.ts';

/** How long a command may take, in milliseconds: the sender of a webhook waits for 15 s. */
const commandMs = 1500;
const handshakeMs = 3000;
const maxBackoffMs = 1000;

export type Argument = string | Buffer;

export interface ConnectionOptions {
  /** `redis://` or `rediss://`, with credentials where they are needed: never shown to anyone. */
  readonly url: string;
  /** Told when the server is gone and when it is back, each once. */
  readonly onState?: (isUp: boolean, error?: unknown) => void;
}

/**
 * One connection to a Redis server. It comes back by itself, and never queues: while the server is gone every
 * command is refused at once.
 */
export interface Connection {
  /**
   * Sends a command; texts in its answer are Buffers.
   * @param extraMs how much longer than others it may take
   * @throws GatewayError EVENT_LOG_UNAVAILABLE. It may have been carried out nevertheless
   */
  readonly send: (command: readonly Argument[], extraMs?: number) => Promise<unknown>;
  /** Differs for every connection made: what was done over another one may have been done by another server. */
  readonly session: () => number;
  readonly close: () => void;
}

/**
 * Connects, or fails: only a server that has been there once is waited for.
 * @throws GatewayError EVENT_LOG_UNAVAILABLE that names host and port
 */
export async function connect({ url, onState = () => {} }: ConnectionOptions): Promise<Connection> {
  let [wasUp, isUp, isClosed] = [false, false, false];
  const client = createClient({
    url,
    RESP: 2,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: commandMs,
      // Also ends a handshake that nobody answers. Who is connected speaks more often than that.
      socketTimeout: handshakeMs,
      reconnectStrategy: (retries) => (wasUp ? backoffMs(retries) : false),
    },
  });
  const note = (up: boolean, error?: unknown) => {
    if (up === isUp || isClosed) return;
    isUp = up;
    if (wasUp) onState(up, error);
    wasUp = true;
  };
  client.on('ready', () => note(true));
  client.on('error', (error: unknown) => note(false, error));
  /** A server that does not answer may be at the far end of a dead connection: the next is a new one. */
  const renew = (session: number, error: unknown) => {
    if (isClosed || !client.isReady || client.socketEpoch !== session) return;
    note(false, error);
    client.destroy();
    client.connect().catch(() => undefined);
  };

  try {
    await client.connect();
  } catch (cause) {
    client.destroy();
    throw new GatewayError('EVENT_LOG_UNAVAILABLE', describeRefusal(url, cause), { cause });
  }
  return {
    send: async (command, extraMs = 0) => {
      const session = client.socketEpoch;
      try {
        return await within(commandMs + extraMs, client.sendCommand([...command]));
      } catch (cause) {
        if (cause instanceof CommandTimeout) renew(session, cause);
        throw unavailable(cause);
      }
    },
    session: () => client.socketEpoch,
    close: () => {
      isClosed = true;
      client.destroy();
    },
  };
}

/** Host and port of a server: what may be said of its address. */
export function nameOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '6379'}`;
}

function unavailable(cause: unknown): GatewayError {
  return new GatewayError('EVENT_LOG_UNAVAILABLE', 'The event log in Redis cannot be reached or refuses.', {
    cause,
  });
}

/** Whether a failure is the server's own answer of this kind, such as `NOSCRIPT`. */
export function isAnswer(error: unknown, kind: string): boolean {
  return (
    error instanceof GatewayError && error.cause instanceof ErrorReply && error.cause.message.startsWith(kind)
  );
}

class CommandTimeout extends Error {}

async function within<T>(limitMs: number, answer: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new CommandTimeout(`No answer in ${limitMs} ms.`)), limitMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Jittered, so that several gateways do not come back in step. */
function backoffMs(retries: number): number {
  return Math.min(maxBackoffMs, 25 * 2 ** retries) * (0.5 + Math.random() / 2);
}

function describeRefusal(url: string, cause: unknown): string {
  const name = nameOf(url);
  if (!(cause instanceof ErrorReply)) return `Redis at ${name} (EVENT_LOG) cannot be reached.`;
  return `Redis at ${name} (EVENT_LOG) refuses the connection: ${cause.message.split(' ')[0]}.`;
}

/** Calls that are asked for in one turn of the event loop are one call. */
export function oncePerTurn(call: () => Promise<void>): () => Promise<void> {
  let shared: Promise<void> | null = null;
  const start = async () => {
    await nextTurn();
    shared = null;
    await call();
  };
  return () => {
    shared ??= start();
    return shared;
  };
}
