import { PortalError } from './errors.ts';
import type { ConnectionState } from './events.ts';
import type { Fields } from './fields.ts';
import { openSocket, type Socket } from './socket.ts';
import type { TokenKeeper } from './token.ts';

/** One subscription that wants to live as long as its owner, over as many sockets as it takes. */
export interface LiveSubscription {
  readonly orderId: string;
  /** What to subscribe to. Asked again for every socket, so that it can carry the last cursor. */
  readonly begin: () => Fields;
  readonly next: (data: Fields) => void;
  /** The gateway refused this subscription, or ended it without errors; it stays out until `restart`. */
  readonly refused: (errors: unknown) => void;
  readonly connectionChanged: (connection: ConnectionState) => void;
  readonly failed: (error: PortalError) => void;
}

/**
 * The one socket of a client. Opens with the first subscription, closes with the last, comes back by itself for
 * ever, each time with a token that is good now.
 */
export interface LiveSocket {
  readonly connection: () => ConnectionState;
  /** Keeps the subscription going until the returned function is called. */
  readonly add: (subscription: LiveSubscription) => () => void;
  /** Starts a refused subscription again. */
  readonly restart: (subscription: LiveSubscription) => void;
  /** The gateway refused an operation for its token: get another one and start over. */
  readonly refuseToken: () => void;
  /** Ends the wait for the next opening. */
  readonly kick: () => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A socket that lived this long starts a new count: one that falls at once is a failed opening too. */
const STEADY_MS = 5000;
const FAILURES_UNTIL_POLLING = 3;

export function createLiveSocket(url: string, tokens: TokenKeeper): LiveSocket {
  /** The running operation of each, or null while it is on no socket. */
  const subscriptions = new Map<LiveSubscription, (() => void) | null>();
  let socket: Socket | null = null;
  let token = '';
  let isOpening = false;
  let openedAt: number | null = null;
  let wasOpen = false;
  let failures = 0;
  let refusals = 0;
  let isSuspended = false;
  let wait: ReturnType<typeof setTimeout> | undefined;
  let page: AbortController | null = null;

  function connection(): ConnectionState {
    if (isSuspended) return 'closed';
    if (openedAt !== null) return 'live';
    if ((failures || wasOpen) && !navigator.onLine) return 'offline';
    if (failures >= FAILURES_UNTIL_POLLING) return 'polling';
    return wasOpen ? 'stale' : 'connecting';
  }

  const tell = (say: (subscription: LiveSubscription) => void) => [...subscriptions.keys()].forEach(say);
  const tellConnection = () => tell((subscription) => subscription.connectionChanged(connection()));
  const tellFailure = (error: PortalError) => tell((subscription) => subscription.failed(error));

  async function open(): Promise<void> {
    const [first] = subscriptions.keys();
    if (isSuspended || isOpening || wait || !first) return;
    if (!socket) await connect(first.orderId);
    if (openedAt !== null) start();
  }

  async function connect(orderId: string): Promise<void> {
    isOpening = true;
    try {
      token = await tokens.get({ scope: 'status', orderId });
      if (!isSuspended && subscriptions.size) socket = openSocket(url, token, { opened, closed });
    } catch (cause) {
      failures += 1;
      // Some browsers throw where others only close: a policy of the page, or ws: on a page of https:.
      if (cause instanceof PortalError) tellFailure(cause);
      openLater();
    } finally {
      isOpening = false;
    }
  }

  function start(): void {
    for (const [subscription, stop] of subscriptions) {
      if (stop) continue;
      const operation = subscription.begin();
      // Whoever was told of it may have left, and the last one hangs up.
      if (!socket || !subscriptions.has(subscription)) continue;
      const { next, refused } = subscription;
      subscriptions.set(subscription, socket.subscribe(operation, { next, refused }));
    }
  }

  function opened(): void {
    openedAt = performance.now();
    wasOpen = true;
    start();
    tellConnection();
  }

  function closed(isTokenRefused: boolean): void {
    const wasSteady = openedAt !== null && performance.now() - openedAt > STEADY_MS;
    drop();
    failures = wasSteady ? 0 : failures + 1;
    if (wasSteady) refusals = 0;
    if (isTokenRefused) {
      tokens.reject(token);
      refusals += 1;
    }
    // A token that ended is no fault: the next socket opens at once, and nobody is told. The second time, all are.
    if (isTokenRefused && refusals === 1) {
      void open();
      return;
    }
    if (isTokenRefused) tellFailure(new PortalError('UNAUTHENTICATED'));
    openLater();
  }

  /** Hangs up; whatever the socket still says is not heard. */
  function drop(): void {
    socket?.close();
    socket = null;
    openedAt = null;
    for (const subscription of subscriptions.keys()) subscriptions.set(subscription, null);
  }

  function openLater(): void {
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
    stopWaiting();
    wait = setTimeout(kick, longest * (0.2 + 0.8 * Math.random()));
    tellConnection();
  }

  function stopWaiting(): void {
    clearTimeout(wait);
    wait = undefined;
  }

  function kick(): void {
    if (!wait) return;
    stopWaiting();
    void open();
  }

  function listen(): void {
    if (page) return;
    page = new AbortController();
    const { signal } = page;
    addEventListener('online', kick, { signal });
    // The socket itself would notice only when its next ping stays unanswered.
    addEventListener('offline', () => closed(false), { signal });
    // An open socket would keep the page out of the back/forward cache.
    addEventListener('pagehide', () => suspend(true), { signal });
    addEventListener('pageshow', () => isSuspended && suspend(false), { signal });
    document.addEventListener('visibilitychange', () => document.hidden || kick(), { signal });
  }

  function suspend(isLeaving: boolean): void {
    isSuspended = isLeaving;
    stopWaiting();
    if (isLeaving) drop();
    else void open();
    tellConnection();
  }

  function remove(subscription: LiveSubscription): void {
    subscriptions.get(subscription)?.();
    subscriptions.delete(subscription);
    if (subscriptions.size) return;
    drop();
    stopWaiting();
    page?.abort();
    page = null;
    wasOpen = false;
    isSuspended = false;
    failures = 0;
    refusals = 0;
  }

  return {
    connection,
    kick,
    add: (subscription) => {
      subscriptions.set(subscription, null);
      listen();
      void open();
      subscription.connectionChanged(connection());
      return () => remove(subscription);
    },
    restart: (subscription) => {
      if (!subscriptions.has(subscription)) return;
      subscriptions.get(subscription)?.();
      subscriptions.set(subscription, null);
      void open();
    },
    refuseToken: () => {
      if (socket) closed(true);
    },
  };
}
