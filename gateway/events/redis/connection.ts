import { setImmediate as nextTurn } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { GatewayError } from '../../errors.ts';

/** How long a command may take, in milliseconds: the sender of a webhook waits for 15 s. */
const commandMs = 1500;
const handshakeMs = 3000;
const maxBackoffMs = 1000;

export type Argument = string | Buffer;

export interface ConnectionOptions {
  /** `redis://` or `rediss://`, with credentials where they are needed; never shown to anyone. */
  readonly url: string;
  /** Called when the server is gone and when it is back, each once. */
  readonly onState?: (isUp: boolean, error?: unknown) => void;
}

/** One connection to a Redis server. It reconnects by itself and queues nothing: without a server commands fail at once. */
export class RedisConnection {
  readonly #client: ReturnType<typeof createRedisClient>;
  readonly #onState: (isUp: boolean, error?: unknown) => void;
  #wasUp = false;
  #isUp = false;
  #isClosed = false;

  private constructor({ url, onState = () => {} }: ConnectionOptions) {
    this.#onState = onState;
    // The first connection is not retried: only a server that was there once is waited for.
    this.#client = createRedisClient(url, (retries) => (this.#wasUp ? backoffMs(retries) : false));
    this.#client.on('ready', () => this.#note(true));
    this.#client.on('error', (error: unknown) => this.#note(false, error));
  }

  /** @throws GatewayError EVENT_LOG_UNAVAILABLE that names host and port */
  static async open(options: ConnectionOptions): Promise<RedisConnection> {
    const connection = new RedisConnection(options);
    try {
      await connection.#client.connect();
      return connection;
    } catch (cause) {
      connection.#client.destroy();
      throw new GatewayError('EVENT_LOG_UNAVAILABLE', describeRefusal(options.url, cause), { cause });
    }
  }

  /**
   * Sends a command; texts in its answer are Buffers.
   * @param extraMs added to the usual time-out
   * @throws GatewayError EVENT_LOG_UNAVAILABLE; the server may have run the command nevertheless
   */
  async send(command: readonly Argument[], extraMs = 0): Promise<unknown> {
    const { session } = this;
    try {
      return await within(commandMs + extraMs, this.#client.sendCommand([...command]));
    } catch (cause) {
      if (cause instanceof CommandTimeout) this.#reconnect(session, cause);
      throw new GatewayError(
        'EVENT_LOG_UNAVAILABLE',
        'The event log in Redis cannot be reached or refuses.',
        { cause },
      );
    }
  }

  /** Differs for every connection made: another connection may lead to another server. */
  get session(): number {
    return this.#client.socketEpoch;
  }

  close(): void {
    this.#isClosed = true;
    this.#client.destroy();
  }

  #note(isUp: boolean, error?: unknown): void {
    if (isUp === this.#isUp || this.#isClosed) return;
    this.#isUp = isUp;
    if (this.#wasUp) this.#onState(isUp, error);
    this.#wasUp = true;
  }

  /** A server that does not answer may be at the far end of a dead connection. */
  #reconnect(session: number, error: unknown): void {
    if (this.#isClosed || !this.#client.isReady || this.session !== session) return;
    this.#note(false, error);
    this.#client.destroy();
    this.#client.connect().catch(() => undefined);
  }
}

function createRedisClient(url: string, reconnectStrategy: (retries: number) => number | false) {
  return createClient({
    url,
    RESP: 2,
    commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // `socketTimeout` also ends a handshake without an answer. A working connection is never silent for that long.
    socket: { connectTimeout: commandMs, socketTimeout: handshakeMs, reconnectStrategy },
  });
}

/** Host and port of a server, for messages: the rest of its address may be secret. */
export function nameOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || '6379'}`;
}

/** Whether an error is the server's own answer of this kind, such as `NOSCRIPT`. */
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

/** Jittered, so that several gateways do not reconnect at the same time. */
function backoffMs(retries: number): number {
  return Math.min(maxBackoffMs, 25 * 2 ** retries) * (0.5 + Math.random() / 2);
}

function describeRefusal(url: string, cause: unknown): string {
  const name = nameOf(url);
  if (!(cause instanceof ErrorReply)) return `Redis at ${name} (EVENT_LOG) cannot be reached.`;
  return `Redis at ${name} (EVENT_LOG) refuses the connection: ${cause.message.split(' ')[0]}.`;
}

/** Joins the calls of one turn of the event loop into one. */
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
