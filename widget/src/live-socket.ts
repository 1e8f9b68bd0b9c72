import { type Client, createClient } from 'graphql-ws/client';
import { PortalError, toPortalError } from './errors.ts';
import type { ConnectionState } from './events.ts';
import type { TokenKeeper, TokenNeed } from './token.ts';

/** One subscription that wants to live as long as its owner, over as many sockets as it takes. */
export interface LiveSubscription {
  readonly query: string;
  readonly orderId: string;
  /** Asked again for every socket, so that it can carry the last cursor. */
  variables(): Record<string, unknown>;
  next(value: unknown): void;
  /** The gateway refused this subscription; it stays out until `restart`. */
  refused(errors: unknown): void;
  connectionChanged(connection: ConnectionState): void;
  failed(error: PortalError): void;
}

const OPENING_LIMIT_MS = 20_000;
const PING_EVERY_MS = 15_000;
const PONG_LIMIT_MS = 10_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A socket that lived this long starts a new count: one that falls at once is a failed opening too. */
const STEADY_MS = 5000;
const FAILURES_UNTIL_POLLING = 3;
/** The gateway's word for a token that ended or is refused; 4401 is graphql-ws's own. */
const TOKEN_REFUSED: readonly unknown[] = [4403, 4401];

/**
 * The one socket of a client. Opens with the first subscription, closes with the last, comes back by itself
 * for ever. graphql-ws retries inside one client; here every opening gets a client of its own, because a new
 * token has to be at hand before the socket opens (the gateway waits only seconds for connection_init).
 */
export class LiveSocket {
  readonly #url: string;
  readonly #tokens: TokenKeeper;
  /** The running operation of each, or null while it is on no socket. */
  readonly #subscriptions = new Map<LiveSubscription, (() => void) | null>();
  #client: Client | null = null;
  #token = '';
  #isOpening = false;
  #openedAt: number | null = null;
  #wasOpen = false;
  #failures = 0;
  #refusals = 0;
  #isSuspended = false;
  #wait: ReturnType<typeof setTimeout> | undefined;
  #deadline: ReturnType<typeof setTimeout> | undefined;
  #unlisten: AbortController | null = null;

  constructor(url: string, tokens: TokenKeeper) {
    this.#url = url;
    this.#tokens = tokens;
  }

  get connection(): ConnectionState {
    if (this.#isSuspended) return 'closed';
    if (this.#openedAt !== null) return 'live';
    if (this.#failures > 0 && !navigator.onLine) return 'offline';
    if (this.#failures >= FAILURES_UNTIL_POLLING) return 'polling';
    return this.#wasOpen ? 'stale' : 'connecting';
  }

  /** Keeps the subscription going until the returned function is called. */
  add(subscription: LiveSubscription): () => void {
    this.#subscriptions.set(subscription, null);
    this.#listen();
    void this.#open();
    subscription.connectionChanged(this.connection);
    return () => this.#remove(subscription);
  }

  /** Starts a refused subscription again, with the variables it has now. */
  restart(subscription: LiveSubscription): void {
    if (!this.#subscriptions.has(subscription)) return;
    this.#subscriptions.get(subscription)?.();
    this.#subscriptions.set(subscription, null);
    void this.#open();
  }

  /** The gateway refused an operation for its token: get another one and start over. */
  refuseToken(): void {
    if (this.#client) this.#closed(true);
  }

  /** Ends the wait for the next opening. */
  kick(): void {
    if (this.#wait === undefined) return;
    this.#stopWaiting();
    void this.#open();
  }

  #remove(subscription: LiveSubscription): void {
    this.#subscriptions.get(subscription)?.();
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size > 0) return;
    // graphql-ws closes an open socket by itself, in good order, when its last operation ends.
    if (this.#openedAt === null) this.#drop();
    this.#forget();
    this.#stopWaiting();
    this.#unlisten?.abort();
    this.#unlisten = null;
    this.#wasOpen = false;
    this.#failures = 0;
    this.#refusals = 0;
  }

  async #open(): Promise<void> {
    if (this.#isSuspended || this.#isOpening || this.#wait !== undefined) return;
    const [first] = this.#subscriptions.keys();
    if (!first) return;
    if (!this.#client) {
      this.#isOpening = true;
      const token = await this.#getToken({ scope: 'status', orderId: first.orderId });
      this.#isOpening = false;
      if (!token || this.#isSuspended || this.#subscriptions.size === 0) return;
      this.#token = token;
      this.#client = this.#createClient(token);
    }
    for (const [subscription, stop] of this.#subscriptions) {
      if (!stop) this.#subscriptions.set(subscription, this.#start(this.#client, subscription));
    }
  }

  async #getToken(need: TokenNeed): Promise<string | null> {
    try {
      return await this.#tokens.get(need);
    } catch (cause) {
      this.#failures += 1;
      this.#tell((subscription) => subscription.failed(toPortalError(cause, 'TOKEN_UNAVAILABLE')));
      this.#openLater();
      return null;
    }
  }

  #createClient(token: string): Client {
    const client = createClient({
      url: this.#url,
      connectionParams: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
      keepAlive: PING_EVERY_MS,
      on: {
        connected: () => this.#isCurrent(client) && this.#opened(),
        closed: (event) => this.#isCurrent(client) && this.#closed(isTokenRefused(event)),
        ping: (received) => !received && this.#setDeadline(PONG_LIMIT_MS),
        pong: (received) => received && clearTimeout(this.#deadline),
      },
    });
    this.#setDeadline(OPENING_LIMIT_MS);
    return client;
  }

  #start(client: Client, subscription: LiveSubscription): () => void {
    const { query } = subscription;
    const isMine = (): boolean => this.#isCurrent(client) && this.#subscriptions.get(subscription) === stop;
    const stop: () => void = client.subscribe(
      { query, variables: subscription.variables() },
      {
        next: ({ data, errors }) => {
          if (!isMine()) return;
          if (errors) subscription.refused(errors);
          else subscription.next(data?.orderUpdates);
        },
        // A fallen socket comes here as well, and is dealt with once, in #closed.
        error: (errors) => isMine() && Array.isArray(errors) && subscription.refused(errors),
        complete: () => isMine() && subscription.refused(null),
      },
    );
    return stop;
  }

  #opened(): void {
    clearTimeout(this.#deadline);
    this.#openedAt = performance.now();
    this.#wasOpen = true;
    this.#tellConnection();
  }

  #closed(isTokenRefusal: boolean): void {
    const wasSteady = this.#openedAt !== null && performance.now() - this.#openedAt > STEADY_MS;
    this.#drop();
    this.#failures = wasSteady ? 0 : this.#failures + 1;
    if (wasSteady) this.#refusals = 0;
    if (isTokenRefusal) this.#renewToken();
    else this.#openLater();
  }

  /** A token that ended is no fault: the next socket opens at once, and nobody is told. The second time, all are. */
  #renewToken(): void {
    this.#tokens.reject(this.#token);
    this.#refusals += 1;
    if (this.#refusals === 1) {
      void this.#open();
      return;
    }
    this.#tell((subscription) => subscription.failed(new PortalError('UNAUTHENTICATED')));
    this.#openLater();
  }

  /** Hangs up. */
  #drop(): void {
    const client = this.#client;
    this.#forget();
    client?.terminate();
  }

  /** Whatever the socket still says is not heard. */
  #forget(): void {
    this.#client = null;
    this.#openedAt = null;
    clearTimeout(this.#deadline);
    for (const subscription of this.#subscriptions.keys()) this.#subscriptions.set(subscription, null);
  }

  #openLater(): void {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(this.#failures, 10));
    this.#stopWaiting();
    this.#wait = setTimeout(() => this.kick(), longest * (0.2 + 0.8 * Math.random()));
    this.#tellConnection();
  }

  #stopWaiting(): void {
    clearTimeout(this.#wait);
    this.#wait = undefined;
  }

  /** graphql-ws has no limit for a socket that never opens, nor for a ping that is never answered. */
  #setDeadline(limitMs: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#client?.terminate(), limitMs);
  }

  #listen(): void {
    if (this.#unlisten) return;
    this.#unlisten = new AbortController();
    const { signal } = this.#unlisten;
    window.addEventListener('online', () => this.kick(), { signal });
    window.addEventListener('offline', () => this.#tellConnection(), { signal });
    window.addEventListener('pagehide', () => this.#suspend(), { signal });
    window.addEventListener('pageshow', () => this.#resume(), { signal });
    document.addEventListener('visibilitychange', () => document.hidden || this.kick(), { signal });
  }

  /** An open socket would keep the page out of the back/forward cache. */
  #suspend(): void {
    this.#isSuspended = true;
    this.#drop();
    this.#stopWaiting();
    this.#tellConnection();
  }

  #resume(): void {
    if (!this.#isSuspended) return;
    this.#isSuspended = false;
    void this.#open();
    this.#tellConnection();
  }

  #isCurrent(client: Client): boolean {
    return this.#client === client;
  }

  #tellConnection(): void {
    this.#tell((subscription) => subscription.connectionChanged(this.connection));
  }

  #tell(say: (subscription: LiveSubscription) => void): void {
    for (const subscription of [...this.#subscriptions.keys()]) say(subscription);
  }
}

function isTokenRefused(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'code' in event && TOKEN_REFUSED.includes(event.code);
}
