import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { ErrorReply } from '@redis/client';
import { GatewayError } from '../../errors.ts';
import { AnswerTimeout, within } from '../within.ts';
import { type Argument, createRedisClient } from './client.ts';
import { scripts } from './scripts.ts';
import { nameOf, type RedisServer } from './server.ts';

/** How long a command or a handshake may take, in milliseconds: the sender of a webhook waits for 15 s. */
const commandMs = 1500;
/** The same limit for the first connection at a start, when nobody is waiting yet. */
const startMs = 3000;
const maxBackoffMs = 1000;

export interface ConnectionOptions {
  readonly server: RedisServer;
  /** The open connections of a store, which gets this one: all of them are at one server, or on their way to it. */
  readonly group: Set<RedisConnection>;
  /** Called when the server is gone and when it or another one is there, each once. */
  readonly onState?: (state: ConnectionState) => void;
}

export interface ConnectionState {
  readonly isUp: boolean;
  /** Host and port of the server that is gone or there. */
  readonly address: string;
  readonly error?: unknown;
}

type Client = ReturnType<typeof createRedisClient>;

/**
 * One connection to the Redis server, or to the primary that sentinels name at the time. It reconnects by itself and queues
 * nothing: without a server commands fail at once. When the sentinels name another server to one connection of a group, all
 * of them leave the old one, which may go on with a log of its own.
 */
export class RedisConnection {
  readonly #server: RedisServer;
  readonly #group: Set<RedisConnection>;
  readonly #onState: (state: ConnectionState) => void;
  /**
   * Asks the sentinels for the primary, and moves the whole group when they name another server.
   * @returns whether they name the server of this connection
   */
  readonly follow = oncePerTurn(() => this.#follow());
  /** The server that the sentinels named last to the group. */
  #target = '';
  #client: Client | null = null;
  #url = '';
  #session = 0;
  #isClosed = false;

  private constructor({ server, group, onState = () => {} }: ConnectionOptions) {
    this.#server = server;
    this.#group = group.add(this);
    this.#onState = onState;
  }

  /**
   * The first connection is not retried: only a server that was there once is waited for. It may take longer than later
   * ones, because only the start waits for it.
   * @throws GatewayError EVENT_LOG_UNAVAILABLE that names host and port
   */
  static async open(options: ConnectionOptions): Promise<RedisConnection> {
    const connection = new RedisConnection(options);
    try {
      await connection.#connect(startMs);
      return connection;
    } catch (cause) {
      const message = describeRefusal(options.server.name, cause);
      throw new GatewayError('EVENT_LOG_UNAVAILABLE', message, { cause });
    }
  }

  /**
   * Sends a command; texts in its answer are Buffers.
   * @param extraMs added to the usual timeout
   * @throws GatewayError EVENT_LOG_UNAVAILABLE; the server may have run the command nevertheless
   */
  async send(command: readonly Argument[], extraMs = 0): Promise<unknown> {
    const client = this.#client;
    try {
      if (client === null) throw new Error('There is no connection.');
      return await within(commandMs + extraMs, client.sendCommand([...command]));
    } catch (cause) {
      // A server that does not answer may be at the far end of a dead connection. Where the server has lost its scripts, a
      // new connection loads them: a message that is sent again over this one would come after the messages behind it.
      const isOver = cause instanceof AnswerTimeout || isReply(cause, 'NOSCRIPT');
      if (isOver && client !== null) this.#lose(client, cause);
      if (isReply(cause, 'READONLY')) await this.follow();
      throw new GatewayError(
        'EVENT_LOG_UNAVAILABLE',
        'The event log in Redis cannot be reached or refuses.',
        { cause },
      );
    }
  }

  /** Differs for every connection made: another connection may lead to another server. */
  get session(): number {
    return this.#session;
  }

  close(): void {
    this.#isClosed = true;
    this.#group.delete(this);
    if (this.#client?.isOpen === true) this.#client.destroy();
    this.#client = null;
  }

  async #follow(): Promise<boolean> {
    const client = this.#client;
    const url = await this.#locate().catch(() => null);
    return client !== null && client === this.#client && url === this.#url;
  }

  async #connect(limitMs = commandMs): Promise<void> {
    const url = await this.#locate();
    const client = createRedisClient(url, limitMs);
    client.on('error', (error: unknown) => this.#lose(client, error));
    try {
      // A stopped server accepts the connection and does not answer.
      await within(limitMs, client.connect());
      if (this.#server.replicas > 0) await requirePrimary(client);
      await loadScripts(client, limitMs);
      if (this.#isClosed) throw new Error('The connection was closed meanwhile.');
      if (url !== this.#target) throw new Error('Another server is the primary by now.');
    } catch (error) {
      if (client.isOpen) client.destroy();
      throw error;
    }
    this.#client = client;
    this.#url = url;
    this.#session += 1;
  }

  async #locate(): Promise<string> {
    const url = await this.#server.locate();
    for (const connection of this.#group) connection.#moveTo(url);
    return url;
  }

  #moveTo(url: string): void {
    this.#target = url;
    if (this.#client !== null && url !== this.#url) {
      this.#lose(this.#client, new Error('Another server is the primary.'));
    }
  }

  #lose(client: Client, error: unknown): void {
    if (client !== this.#client || this.#isClosed) return;
    this.#client = null;
    if (client.isOpen) client.destroy();
    this.#onState({ isUp: false, address: nameOf(this.#url), error });
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    for (let retries = 0; !this.#isClosed; retries += 1) {
      await wait(backoffMs(retries), undefined, { ref: false });
      try {
        await this.#connect();
        this.#onState({ isUp: true, address: nameOf(this.#url) });
        return;
      } catch {
        // The server or its successor is not there yet.
      }
    }
  }
}

/** Sentinels may name a server that is no primary any more, or not yet. */
async function requirePrimary(client: Client): Promise<void> {
  const role = await within(commandMs, client.sendCommand(['ROLE']));
  if (!Array.isArray(role) || String(role[0]) !== 'master') throw new Error('The server is no primary.');
}

/** Before any command, so that a script is always sent by its hash alone. */
async function loadScripts(client: Client, limitMs: number): Promise<void> {
  const loading = scripts.map(({ text }) => client.sendCommand(['SCRIPT', 'LOAD', text]));
  await within(limitMs, Promise.all(loading));
}

/** Whether an error is the server's own answer. */
export function isAnswer(error: unknown): boolean {
  return error instanceof GatewayError && error.cause instanceof ErrorReply;
}

function isReply(cause: unknown, kind: string): boolean {
  return cause instanceof ErrorReply && cause.message.startsWith(kind);
}

/** Jittered, so that several gateways do not reconnect at the same time. */
function backoffMs(retries: number): number {
  return Math.min(maxBackoffMs, 25 * 2 ** retries) * (0.5 + Math.random() / 2);
}

function describeRefusal(name: string, cause: unknown): string {
  if (!(cause instanceof ErrorReply)) return `Redis at ${name} (EVENT_LOG) cannot be reached.`;
  return `Redis at ${name} (EVENT_LOG) refuses the connection: ${cause.message.split(' ')[0]}.`;
}

/** Joins the calls of one turn of the event loop into one. */
export function oncePerTurn<Answer>(call: () => Promise<Answer>): () => Promise<Answer> {
  let shared: Promise<Answer> | null = null;
  const start = async () => {
    await nextTurn();
    shared = null;
    return await call();
  };
  return () => {
    shared ??= start();
    return shared;
  };
}
