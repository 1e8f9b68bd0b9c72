import { PortalError } from './errors.ts';
import type { ConnectionState } from './events.ts';
import type { Fields } from './fields.ts';
import { openSocket, type Socket } from './socket.ts';
import type { TokenCache } from './token.ts';

/** One subscription that lives as long as its owner, over as many sockets as necessary. */
export interface LiveSubscription {
  readonly orderId: string;
  /** Returns the operation. Called for every socket, so that it can contain the last cursor. */
  readonly begin: () => Fields;
  readonly next: (data: Fields) => void;
  /** The gateway refused this subscription, or ended it without errors; it stays stopped until `restart`. */
  readonly refused: (errors: unknown) => void;
  readonly connectionChanged: (connection: ConnectionState) => void;
  readonly failed: (error: PortalError) => void;
}

/**
 * The one socket of a client. It opens with the first subscription, closes with the last, and always reconnects by
 * itself, each time with a valid token.
 */
export interface LiveSocket {
  readonly connection: () => ConnectionState;
  /** Runs the subscription until the returned function is called. */
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

export function createLiveSocket(url: string, tokens: TokenCache): LiveSocket {
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

  const notify = (say: (subscription: LiveSubscription) => void) => [...subscriptions.keys()].forEach(say);
  const notifyConnection = () => notify((subscription) => subscription.connectionChanged(connection()));
  const notifyFailure = (error: PortalError) => notify((subscription) => subscription.failed(error));

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
      if (cause instanceof PortalError) notifyFailure(cause);
      openLater();
    } finally {
      isOpening = false;
    }
  }

  function start(): void {
    for (const [subscription, stop] of subscriptions) {
      if (stop) continue;
      const operation = subscription.begin();
      // A notified listener may have left, and the last one closes the socket.
      if (!socket || !subscriptions.has(subscription)) continue;
      const { next, refused } = subscription;
      subscriptions.set(subscription, socket.subscribe(operation, { next, refused }));
    }
  }

  function opened(): void {
    openedAt = performance.now();
    wasOpen = true;
    start();
    notifyConnection();
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
    // An expired token is no failure: the next socket opens at once, without a report. A second refusal is reported.
    if (isTokenRefused && refusals === 1) {
      void open();
      return;
    }
    if (isTokenRefused) notifyFailure(new PortalError('UNAUTHENTICATED'));
    openLater();
  }

  /** Closes the socket and ignores what it still receives. */
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
    notifyConnection();
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
    notifyConnection();
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
