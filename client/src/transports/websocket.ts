import { type Client, createClient } from 'graphql-ws/client';
import { LabgraphError, type LabgraphErrorCode, toLabgraphError } from '../errors.ts';
import { type Endpoint, unlessAborted } from '../http.ts';
import { Results } from './results.ts';
import type { Attempt, Transport } from './transport.ts';

/** The gateway's limit for a viewer (MAX_SOCKET_OPERATIONS). Further ones get another socket. */
const operationsPerSocket = 50;
/** The gateway closes the socket of a message of more than 100,000 bytes. The rest is for what is around the operation. */
const maxOperationBytes = 99_900;
const openingLimitMs = 20_000;
const pingEveryMs = 15_000;
const pongLimitMs = 10_000;

export interface WebSocketEndpoint extends Endpoint {
  /** A constructor of WebSocket; the runtime's own if left out. */
  readonly webSocketImpl?: unknown;
}

/**
 * Follows subscriptions over sockets (`graphql-transport-ws`), at most 50 over each. A socket is open while it has any.
 * @param alone the transport for an operation that is too long for a message, so that its refusal ends no other operation
 */
export function createWebSocketTransport(endpoint: WebSocketEndpoint, alone: Transport): Transport {
  const sockets = new Set<Socket>();
  const open = () => {
    const socket = new Socket(endpoint, () => sockets.delete(socket));
    sockets.add(socket);
    return socket;
  };
  return async function* (attempt) {
    if (new Blob([JSON.stringify(attempt.operation)]).size > maxOperationBytes) return yield* alone(attempt);
    // First, because the gateway closes a socket whose token does not come soon.
    await unlessAborted(endpoint.tokens.get(), attempt.signal);
    const free = [...sockets].find((socket) => socket.size < operationsPerSocket);
    const results = (free ?? open()).run(attempt);
    try {
      yield* results.read();
    } finally {
      results.end(null);
    }
  };
}

/** One socket, from its opening to its end. The next one is another object. */
class Socket {
  readonly #running = new Map<Results, Attempt>();
  readonly #endpoint: WebSocketEndpoint;
  readonly #client: Client;
  readonly #ended: () => void;
  #token = '';
  #isAccepted = false;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  constructor(endpoint: WebSocketEndpoint, ended: () => void) {
    this.#endpoint = endpoint;
    this.#ended = ended;
    this.#client = createClient({
      url: toSocketUrl(endpoint.url),
      webSocketImpl: endpoint.webSocketImpl,
      // It would send an old cursor.
      retryAttempts: 0,
      keepAlive: pingEveryMs,
      connectionParams: async () => {
        this.#token = await endpoint.tokens.get();
        return { authorization: `Bearer ${this.#token}` };
      },
      on: {
        connecting: () => this.#expectWithin(openingLimitMs),
        connected: () => {
          clearTimeout(this.#deadline);
          this.#isAccepted = true;
          for (const { accepted } of this.#running.values()) accepted();
        },
        ping: (isReceived) => isReceived || this.#expectWithin(pongLimitMs),
        pong: (isReceived) => isReceived && clearTimeout(this.#deadline),
        error: this.#end,
        closed: this.#end,
      },
    });
  }

  /** The number of operations that are under way. */
  get size(): number {
    return this.#running.size;
  }

  run(attempt: Attempt): Results {
    let stop = () => {};
    const results = new Results(attempt.signal, () => {
      stop();
      this.#running.delete(results);
      // The client closes it now.
      if (this.size === 0) this.#ended();
    });
    this.#running.set(results, attempt);
    stop = this.#client.subscribe(
      { ...attempt.operation },
      {
        next: (result) => results.push(result),
        error: (cause) => results.end(toError(cause)),
        complete: () => results.end(null),
      },
    );
    // Last, because its caller may leave in it.
    if (this.#isAccepted) attempt.accepted();
    return results;
  }

  #expectWithin(limitMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#client.terminate(), limitMs);
  }

  /** Ends every operation here, because after some closes the client of graphql-ws would send them again by itself. */
  readonly #end = (cause: unknown): void => {
    clearTimeout(this.#deadline);
    this.#ended();
    const error = toError(cause);
    if (error.code === 'UNAUTHENTICATED') this.#endpoint.tokens.reject(this.#token);
    for (const results of this.#running.keys()) results.end(error);
  };
}

/** By the code of a close; every other one is a connection that was lost. */
const closeCodes: Readonly<Record<string, LabgraphErrorCode>> = {
  4400: 'BAD_REQUEST',
  4401: 'UNAUTHENTICATED',
  4403: 'UNAUTHENTICATED',
  1013: 'RATE_LIMITED',
};

/** The errors of an operation, the failure of the token or the close of the socket, as one error. */
function toError(cause: unknown): LabgraphError {
  if (cause instanceof LabgraphError) return cause;
  if (Array.isArray(cause)) return toLabgraphError(cause);
  return new LabgraphError(closeCodes[Object(cause).code] ?? 'NETWORK_FAILED', { cause });
}

function toSocketUrl(url: string): string {
  // The URL of older versions of React Native adds a slash.
  return String(/^http/.test(url) ? url : new URL(url, location.href)).replace(/^http/, 'ws');
}
