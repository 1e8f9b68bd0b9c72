import { PortalError, toPortalError } from '../gateway/errors.ts';
import { type Fields, readFields } from '../gateway/fields.ts';
import { isRefusal } from '../gateway/gateway-error.ts';
import type { TokenCache } from '../gateway/token.ts';
import type { ConnectionState } from './order-listener.ts';
import { createOperationSocket, UNANSWERED } from './socket.ts';

/** One subscription that lives as long as its owner, over as many sockets as necessary. */
export interface LiveSubscription {
  readonly orderId: string;
  readonly query: string;
  /** Read each time the operation is sent, so that they can contain the last cursor. */
  readonly variables: Record<string, unknown>;
  /** The operation is sent next, on an open socket. */
  readonly begin: () => void;
  readonly next: (data: Fields) => void;
  /** The gateway refused this subscription, or ended it without errors (null); it stays stopped until it is added again. */
  readonly refused: (errors: unknown) => void;
  readonly connectionChanged: () => void;
  readonly failed: (error: PortalError) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A socket that lived this long starts a new count: one that falls at once is a failed opening too. */
const STEADY_MS = 5000;
/** After so many failures in a row, or one without an answer, the order is read over HTTP. */
export const FAILURES_UNTIL_POLLING = 3;
/** Close codes for an expired or refused token: the gateway's and the protocol's. */
const FORBIDDEN = 4403;
const UNAUTHORIZED = 4401;

/**
 * A socket for many subscriptions. It opens with the first, closes with the last, and always reconnects by itself, each
 * time with a valid token.
 */
export class LiveSocket {
  readonly #tokens: TokenCache;
  readonly #socket: ReturnType<typeof createOperationSocket>;
  /** What ends the running operation of each; null while it has none. */
  readonly #subscriptions = new Map<LiveSubscription, (() => void) | null>();
  #token = '';
  #openedAt: number | null = null;
  #receivedAt: number | null = null;
  #wasOpen = false;
  #failures = 0;
  #refusals = 0;
  #isSuspended = false;
  #waitMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endWait = () => {};
  #page: AbortController | null = null;

  constructor(url: string, tokens: TokenCache) {
    this.#tokens = tokens;
    this.#socket = createOperationSocket(url, {
      wait: () => this.#wait(),
      getToken: () => this.#getToken(),
      opened: () => this.#opened(),
      received: () => {
        this.#receivedAt = Date.now();
      },
      closed: (code) => this.#closed(code),
    });
  }

  get connection(): ConnectionState {
    if (this.#isSuspended) return 'closed';
    if (this.#openedAt !== null) return 'live';
    if ((this.#failures || this.#wasOpen) && !navigator.onLine) return 'offline';
    if (this.#failures >= FAILURES_UNTIL_POLLING) return 'polling';
    return this.#wasOpen ? 'stale' : 'connecting';
  }

  /** When the gateway last sent anything, in milliseconds since 1970; null while it has not. */
  get receivedAt(): number | null {
    return this.#receivedAt;
  }

  /** The number of subscriptions. */
  get size(): number {
    return this.#subscriptions.size;
  }

  /** Starts a subscription, or starts it again, also one that was refused. */
  add(subscription: LiveSubscription): void {
    this.#subscriptions.get(subscription)?.();
    this.#subscriptions.set(subscription, null);
    this.#listen();
    subscription.connectionChanged();
    this.#start(subscription);
  }

  /** Nothing of the subscription is notified any more. */
  remove(subscription: LiveSubscription): void {
    this.#subscriptions.get(subscription)?.();
    this.#subscriptions.delete(subscription);
    // What only moves within the page is added again before that.
    queueMicrotask(() => this.#subscriptions.size || this.#end());
  }

  /** The gateway refused an operation for its token: gets another one and starts over. */
  refuseToken(): void {
    this.#socket.drop(FORBIDDEN);
  }

  /** Ends the wait for the next opening. */
  kick(): void {
    if (this.#isSuspended) return;
    // The wait may not have begun yet.
    this.#waitMs = 0;
    clearTimeout(this.#timer);
    this.#endWait();
  }

  #start(subscription: LiveSubscription): void {
    if (this.#openedAt !== null) subscription.begin();
    // A notified listener may have left.
    if (!this.#subscriptions.has(subscription)) return;
    let isOver = false;
    const refuse = (errors: unknown) => {
      if (isOver) return;
      stop();
      this.#subscriptions.set(subscription, null);
      subscription.refused(errors);
    };
    const operation = {
      query: subscription.query,
      get variables() {
        return subscription.variables;
      },
    };
    const leave = this.#socket.subscribe(operation, {
      next: (answer) => {
        const { data, errors } = answer;
        if (isRefusal({ data, errors })) refuse(errors);
        else if (!isOver) subscription.next(readFields(data));
      },
      error: refuse,
      complete: () => refuse(null),
    });
    const stop = () => {
      isOver = true;
      leave();
    };
    this.#subscriptions.set(subscription, stop);
  }

  #notify(say: (subscription: LiveSubscription) => void): void {
    for (const subscription of [...this.#subscriptions.keys()]) say(subscription);
  }

  #notifyConnection(): void {
    this.#notify((subscription) => subscription.connectionChanged());
  }

  #notifyFailure(error: PortalError): void {
    this.#notify((subscription) => subscription.failed(error));
  }

  async #getToken(): Promise<string> {
    const [first] = this.#subscriptions.keys();
    try {
      this.#token = await this.#tokens.get({ scope: 'status', orderId: first?.orderId ?? null });
      return this.#token;
    } catch (cause) {
      this.#notifyFailure(toPortalError(cause, 'TOKEN_UNAVAILABLE'));
      throw cause;
    }
  }

  #opened(): void {
    this.#openedAt = performance.now();
    this.#wasOpen = true;
    for (const [subscription, stop] of [...this.#subscriptions]) if (stop) subscription.begin();
    this.#notifyConnection();
  }

  #closed(code: number): void {
    const wasSteady = this.#openedAt !== null && performance.now() - this.#openedAt > STEADY_MS;
    this.#openedAt = null;
    this.#waitMs = 0;
    if (this.#isSuspended) return;
    const isRefused = code === FORBIDDEN || code === UNAUTHORIZED;
    // Without a running operation the client has closed it.
    const isFailure = [...this.#subscriptions.values()].some(Boolean);
    if (wasSteady) this.#failures = this.#refusals = 0;
    // One wait for an answer is long enough.
    else if (isFailure) this.#failures += code === UNANSWERED ? FAILURES_UNTIL_POLLING : 1;
    if (isRefused) {
      this.#tokens.reject(this.#token);
      this.#refusals += 1;
    }
    // An expired token is no failure: the next socket opens at once, without a report. A second refusal is reported.
    if (isRefused && this.#refusals === 1) return;
    if (isRefused) this.#notifyFailure(new PortalError('UNAUTHENTICATED'));
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#waitMs = longest * (0.2 + 0.8 * Math.random());
    this.#notifyConnection();
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#endWait = resolve;
      if (!this.#isSuspended) this.#timer = setTimeout(resolve, this.#waitMs);
    });
  }

  #listen(): void {
    if (this.#page) return;
    this.#page = new AbortController();
    const options = { signal: this.#page.signal };
    // Somebody looks at the page: a connection that died unnoticed is found now and not by the next ping.
    const look = () => {
      this.kick();
      this.#socket.probe();
    };
    // An open socket would keep the page out of the back/forward cache.
    const suspend = () => {
      this.#isSuspended = true;
      clearTimeout(this.#timer);
      this.#socket.drop();
      this.#notifyConnection();
    };
    const resume = () => {
      this.#isSuspended = false;
      look();
      this.#notifyConnection();
    };
    addEventListener('online', look, options);
    addEventListener('focus', look, options);
    document.addEventListener('resume', look, options);
    document.addEventListener('visibilitychange', () => document.hidden || look(), options);
    // The socket itself would notice only when its next ping stays unanswered.
    addEventListener('offline', () => this.#socket.drop(), options);
    addEventListener('pagehide', suspend, options);
    addEventListener('pageshow', resume, options);
  }

  #end(): void {
    this.#page?.abort();
    this.#page = null;
    this.#socket.drop();
    this.#isSuspended = false;
    this.#wasOpen = false;
    this.#failures = 0;
    this.#refusals = 0;
    this.kick();
  }
}

/**
 * Operations over one socket: the gateway's limit for one (MAX_SOCKET_OPERATIONS) where nobody has changed it. Where it is lower,
 * the orders beyond it are read over HTTP.
 */
const OPERATIONS_PER_SOCKET = 50;

/** The sockets of one endpoint: one, and another one for each further 50 orders. Gives one that has room. */
export function createLiveSockets(url: string, tokens: TokenCache): () => LiveSocket {
  const sockets: LiveSocket[] = [];
  return () => {
    const free = sockets.find(({ size }) => size < OPERATIONS_PER_SOCKET) ?? new LiveSocket(url, tokens);
    if (!sockets.includes(free)) sockets.push(free);
    return free;
  };
}
