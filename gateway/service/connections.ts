import type { Dispatcher } from 'undici';

/** Connections to the service, each with one call at a time. More calls wait until one ends. */
const maxConnections = 64;

/**
 * How long an idle connection stays open where the service sets no time. Load balancers close one after 60 s. With undici's
 * 4 s, a page view at a quiet time would wait two or three round trips for a new connection.
 */
const idleMs = 50_000;

/** A process has 10 s to shut down: 2.5 to accept what waits, 4 for requests under way, these for calls to the service. */
const closeMs = 3000;

/** How long an operation waits at most, in milliseconds: it may need no call, because all its reads are cached. */
const maxWaitMs = 500;

export interface HttpClient {
  /** Of each request: a proxy has no other way to know it. */
  readonly origin: string;
  readonly pool: Dispatcher;
  readonly FormData: typeof import('undici').FormData;
}

/** The pool of keep-alive connections to the service. */
export class Connections {
  readonly #origin: string;
  readonly #usesProxy: boolean;
  #client: Promise<HttpClient> | HttpClient | null = null;
  #calls = 0;
  /** Operations that wait: callers in the order of their turns, and operations of a caller in the order of their arrival. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(origin: string, usesProxy = false) {
    this.#origin = origin;
    this.#usesProxy = usesProxy;
  }

  /** Opens the pool. The first call does it where nobody has done it before. */
  open(): Promise<HttpClient> | HttpClient {
    this.#client ??= loadClient(this.#origin, this.#usesProxy).then((client) => {
      this.#client = client;
      return client;
    });
    return this.#client;
  }

  /** Counts a call until `endCall`. Files are not counted: they are read for as long as their clients take. */
  beginCall(): void {
    this.#calls += 1;
  }

  /** Called once for each call that began. */
  endCall(): void {
    this.#calls -= 1;
    this.#beginNext();
  }

  /**
   * Resolves when an operation may begin: when a connection is free, or after 0.5 s. Null when it need not wait. An
   * operation that begins earlier is not answered earlier: its calls would wait, and all that it has made until then would
   * stay in memory, where the garbage collector copies it again and again (decision 0136). Callers take turns.
   */
  waitForOne(caller: string): Promise<void> | null {
    if (this.#calls < maxConnections && this.#waiting.size === 0) return null;
    return new Promise((resolve) => {
      const own = this.#waiting.get(caller) ?? new Set();
      const begin = () => {
        clearTimeout(timer);
        own.delete(begin);
        this.#waiting.delete(caller);
        if (own.size > 0) this.#waiting.set(caller, own);
        resolve();
        // By then its calls have begun. It may have none.
        setImmediate(this.#beginNext);
      };
      const timer = setTimeout(begin, maxWaitMs);
      this.#waiting.set(caller, own.add(begin));
    });
  }

  /** Lets calls under way end; those that take longer are cut, so that the process can end in time. */
  async close(): Promise<void> {
    if (this.#client === null) return;
    const { pool } = await this.#client;
    const cut = setTimeout(() => void pool.destroy(), closeMs);
    await pool.close().catch(() => undefined);
    clearTimeout(cut);
  }

  readonly #beginNext = () => {
    if (this.#calls >= maxConnections) return;
    const [own = []] = this.#waiting.values();
    const [begin] = own;
    begin?.();
  };
}

/** Loads undici late: at a start, webhooks are acknowledged before it is needed, and it takes a fifth of the start. */
async function loadClient(origin: string, usesProxy: boolean): Promise<HttpClient> {
  const { EnvHttpProxyAgent, FormData, Pool } = await import('undici');
  const options = { connections: maxConnections, pipelining: 1, keepAliveTimeout: idleMs };
  const pool = usesProxy ? new EnvHttpProxyAgent(options) : new Pool(origin, options);
  return { origin, pool, FormData };
}
