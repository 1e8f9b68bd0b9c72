import { isRetryable, type PortalError, toPortalError } from './errors.ts';
import type { ConnectionState, StatusSource } from './events.ts';
import { readErrorCode, toGatewayError } from './gateway-error.ts';
import type { LiveSocket, LiveSubscription } from './live-socket.ts';
import { ORDER_UPDATES } from './operations.ts';
import type { PortalOrder } from './order.ts';
import {
  applyUpdate,
  beginSubscription,
  emptyStream,
  forgetCursor,
  type OrderUpdate,
  readUpdate,
} from './order-stream.ts';

/** One element's listener to an order. */
export interface OrderListener {
  /** Seconds between two reads while the socket cannot be opened; 0 = never. */
  pollIntervalSeconds(): number;
  orderChanged(order: PortalOrder, source: StatusSource): void;
  connectionChanged(connection: ConnectionState): void;
  orderFailed(error: PortalError): void;
}

/** One order, shared by every element that shows it: one subscription, one state, one cursor. */
export interface OrderFeed {
  readonly order: () => PortalOrder | null;
  readonly connection: () => ConnectionState;
  /** When the shown order was last confirmed, in milliseconds since 1970. While live: now. */
  readonly confirmedAt: () => number | null;
  /** Follows the order live, until `leave`. */
  readonly follow: (listener: OrderListener) => void;
  /** Stops all notifications of the listener, also about its own `refresh`. */
  readonly leave: (listener: OrderListener) => void;
  /** Reads the order once over HTTP. Never rejects: a failure goes to all followers, and to `listener`. */
  readonly refresh: (listener: OrderListener) => Promise<void>;
  /** Starts again after a failure: the subscription if it was refused, the socket if it waits. */
  readonly retry: () => void;
}

/** Which order, and how it is read once. */
export interface FeedOptions {
  readonly orderId: string;
  readonly full: boolean;
  /** @throws PortalError */
  readonly read: () => Promise<PortalOrder>;
}

const RETRY_MS = 10_000;

export function createOrderFeed({ orderId, full, read }: FeedOptions, socket: LiveSocket): OrderFeed {
  const listeners = new Set<OrderListener>();
  /** The listeners that requested the read in flight. */
  const askers = new Set<OrderListener>();
  let stream = emptyStream;
  let connection: ConnectionState = 'idle';
  let confirmedAt: number | null = null;
  let stop: (() => void) | null = null;
  let reading: Promise<void> | null = null;
  let poll: ReturnType<typeof setInterval> | undefined;
  let retrying: ReturnType<typeof setTimeout> | undefined;
  let hadBadCursor = false;
  /** The gateway refused the subscription, so the order is not live although the socket is. */
  let isRefused = false;

  const subscription: LiveSubscription = {
    orderId,
    begin: () => {
      stream = beginSubscription(stream);
      isRefused = false;
      connectionChanged(socket.connection());
      return { query: ORDER_UPDATES, variables: { orderId, after: stream.cursor, full } };
    },
    next: (data) => {
      const update = readUpdate(data.orderUpdates, full);
      if (!update) return;
      hadBadCursor = false;
      apply(update);
    },
    refused,
    connectionChanged,
    failed,
  };
  const restart = () => socket.restart(subscription);
  const audience = () => new Set([...listeners, ...askers]);

  function apply(update: OrderUpdate): void {
    stream = applyUpdate(stream, update);
    confirmedAt = Date.now();
    const { order } = stream;
    const source = update.kind.toLowerCase() as StatusSource;
    if (order) for (const listener of audience()) listener.orderChanged(order, source);
  }

  function failed(error: PortalError): void {
    // An order can move to another user. Then nothing of it may stay on screen.
    if (error.code === 'NOT_FOUND') stream = emptyStream;
    for (const listener of audience()) listener.orderFailed(error);
  }

  function refused(errors: unknown): void {
    if (readErrorCode(errors) === 'BAD_CURSOR' && !hadBadCursor) {
      hadBadCursor = true;
      stream = forgetCursor(stream);
      restart();
      return;
    }
    isRefused = true;
    connectionChanged(socket.connection());
    const error = errors ? toGatewayError(errors) : null;
    if (error?.code === 'UNAUTHENTICATED') {
      socket.refuseToken();
      return;
    }
    if (error) failed(error);
    // Ended without an error, or with a temporary one: continue from the cursor.
    if (error && !isRetryable(error.code)) return;
    clearTimeout(retrying);
    retrying = setTimeout(restart, RETRY_MS * (0.5 + Math.random()));
  }

  function connectionChanged(ofSocket: ConnectionState): void {
    const next = isRefused && ofSocket === 'live' ? 'stale' : ofSocket;
    if (connection === next) return;
    if (connection === 'live') confirmedAt = Date.now();
    connection = next;
    setPolling();
    for (const listener of listeners) listener.connectionChanged(connection);
  }

  function setPolling(): void {
    clearInterval(poll);
    const wishes = [...listeners]
      .map((listener) => listener.pollIntervalSeconds())
      .filter((wish) => wish > 0);
    if (connection !== 'polling' || !wishes.length) return;
    void refresh();
    poll = setInterval(refresh, Math.min(...wishes) * 1000);
  }

  function refresh(): Promise<void> {
    reading ??= read()
      .then((order) => apply({ kind: 'READ', order, eventId: null, cursor: null }))
      .catch((cause: unknown) => failed(toPortalError(cause, 'NETWORK')))
      .finally(() => {
        reading = null;
        askers.clear();
      });
    return reading;
  }

  function leave(listener: OrderListener): void {
    listeners.delete(listener);
    askers.delete(listener);
    if (listeners.size) return;
    stop?.();
    stop = null;
    clearTimeout(retrying);
    isRefused = false;
    connectionChanged('idle');
  }

  return {
    order: () => stream.order,
    connection: () => connection,
    confirmedAt: () => (connection === 'live' ? Date.now() : confirmedAt),
    follow: (listener) => {
      listeners.add(listener);
      stop ??= socket.add(subscription);
      // A notification may have made the page remove the element.
      if (!listeners.size) leave(listener);
    },
    leave,
    refresh: (listener) => {
      askers.add(listener);
      return refresh();
    },
    retry: () => {
      clearTimeout(retrying);
      socket.kick();
      restart();
    },
  };
}
