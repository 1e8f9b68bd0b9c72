import { isRetryable, type PortalError, toPortalError } from '../gateway/errors.ts';
import type { Fields } from '../gateway/fields.ts';
import { readErrorCode, toGatewayError } from '../gateway/gateway-error.ts';
import { ORDER_UPDATES } from '../gateway/operations.ts';
import { FAILURES_UNTIL_POLLING, type LiveSocket, type LiveSubscription } from './live-socket.ts';
import type { PortalOrder } from './order.ts';
import type { ConnectionState, StatusSource } from './order-listener.ts';
import { notify, type OrderListener } from './order-listener.ts';
import {
  applyUpdate,
  beginSubscription,
  emptyStream,
  forgetCursor,
  type OrderUpdate,
  readUpdate,
} from './order-stream.ts';

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
  /** Starts again after a failure. Where the order is only read, settles when that has been tried. */
  readonly retry: () => Promise<void>;
}

/** Which order, how it is read once, and where it is followed. */
export interface FeedOptions {
  readonly orderId: string;
  readonly full: boolean;
  /** @throws PortalError */
  readonly read: () => Promise<PortalOrder>;
  /** A socket with room for one more subscription. */
  readonly findSocket: () => LiveSocket;
}

const RETRY_MS = 10_000;
/** A subscription that was refused before counts as accepted after so long, if nothing arrives sooner. */
const ACCEPTED_MS = 2000;

export class SharedOrderFeed implements OrderFeed, LiveSubscription {
  readonly orderId: string;
  readonly query = ORDER_UPDATES;
  readonly #options: FeedOptions;
  readonly #listeners = new Set<OrderListener>();
  /** The listeners that requested the read in flight. */
  readonly #askers = new Set<OrderListener>();
  #stream = emptyStream;
  #connection: ConnectionState = 'idle';
  #confirmedAt: number | null = null;
  /** The socket that follows the order; null while nothing is to be followed. */
  #socket: LiveSocket | null = null;
  /** How often in a row the gateway refused the subscription: the order is not live although the socket is. */
  #refusals = 0;
  /** Until the next attempt after a refusal; then until this attempt counts as accepted. */
  #refusalTimer: ReturnType<typeof setTimeout> | undefined;
  /** Asking again would not help: nothing is asked until `retry`. */
  #failure: PortalError | null = null;
  #reading: Promise<void> | null = null;
  #poll: ReturnType<typeof setInterval> | undefined;
  #pollMs = 0;
  /** Whether the last poll brought the order. */
  #isPolled = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.orderId = options.orderId;
  }

  order(): PortalOrder | null {
    return this.#stream.order;
  }

  connection(): ConnectionState {
    return this.#connection;
  }

  confirmedAt(): number | null {
    return this.#connection === 'live' ? Date.now() : this.#confirmedAt;
  }

  follow(listener: OrderListener): void {
    this.#listeners.add(listener);
    if (this.#failure) listener.orderFailed(this.#failure);
    else if (this.#socket) this.#setPolling();
    else this.#start();
    // A notification may have made the page remove the element.
    if (!this.#listeners.size) this.leave(listener);
  }

  leave(listener: OrderListener): void {
    this.#listeners.delete(listener);
    this.#askers.delete(listener);
    if (!this.#listeners.size) {
      this.#failure = null;
      this.#stop();
    }
    this.connectionChanged();
  }

  refresh(listener: OrderListener): Promise<void> {
    this.#askers.add(listener);
    return this.#read();
  }

  async retry(): Promise<void> {
    this.#failure = null;
    clearTimeout(this.#refusalTimer);
    this.#socket?.kick();
    if (this.#socket) this.#socket.add(this);
    else if (this.#listeners.size) this.#start();
    if (this.#needsPolling) await this.#read();
  }

  /** For the socket. The variables are those of the moment, so that each subscription goes on from the last cursor. */
  get variables(): Record<string, unknown> {
    const { orderId, full } = this.#options;
    return { orderId, after: this.#stream.cursor, full };
  }

  begin(): void {
    this.#stream = beginSubscription(this.#stream);
    clearTimeout(this.#refusalTimer);
    if (this.#refusals) this.#refusalTimer = setTimeout(() => this.#accepted(), ACCEPTED_MS);
    this.connectionChanged();
  }

  next(data: Fields): void {
    const update = readUpdate(data.orderUpdates, this.#options.full);
    if (!update) return;
    this.#apply(update);
    if (this.#refusals) this.#accepted();
  }

  refused(errors: unknown): void {
    const code = readErrorCode(errors);
    // A stream that is complete cannot be resumed: its order may have moved to another user, which only a new one says.
    if ((!errors || code === 'BAD_CURSOR') && this.#stream.cursor) {
      this.#stream = forgetCursor(this.#stream);
      this.#socket?.add(this);
      return;
    }
    const error = errors ? toGatewayError(errors) : null;
    if (error && !isRetryable(error.code)) {
      this.#giveUp(error);
      return;
    }
    // The socket has as many operations as the gateway allows, or the caller no points: waiting helps, trying does not.
    const isLimited = code === 'RATE_LIMITED';
    this.#refusals = isLimited ? FAILURES_UNTIL_POLLING : this.#refusals + 1;
    clearTimeout(this.#refusalTimer);
    this.connectionChanged();
    if (error?.code === 'UNAUTHENTICATED') {
      this.#socket?.add(this);
      this.#socket?.refuseToken();
      // Nothing is accepted over a socket that has just been closed.
      clearTimeout(this.#refusalTimer);
      return;
    }
    if (error && !isLimited) this.failed(error);
    // Ended without an error, or with a temporary one: continue from the cursor.
    const retry = () => this.#socket?.add(this);
    this.#refusalTimer = setTimeout(retry, RETRY_MS * (0.5 + Math.random()));
  }

  failed(error: PortalError): void {
    // An order can move to another user. Then nothing of it may stay on screen.
    if (error.code === 'NOT_FOUND') this.#stream = emptyStream;
    notify(this.#audience, (listener) => listener.orderFailed(error));
  }

  connectionChanged(): void {
    this.#setPolling();
    const next = this.#readConnection();
    if (next === this.#connection) return;
    // What was last received was true then; the connection may have died unnoticed since.
    if (this.#connection === 'live') {
      this.#confirmedAt = Math.max(this.#confirmedAt ?? 0, this.#socket?.receivedAt ?? Date.now());
    }
    this.#connection = next;
    notify(this.#listeners, (listener) => listener.connectionChanged(next));
  }

  get #audience(): ReadonlySet<OrderListener> {
    return new Set([...this.#listeners, ...this.#askers]);
  }

  get #needsPolling(): boolean {
    const connection = this.#socket?.connection;
    if (connection === 'live') return this.#refusals >= FAILURES_UNTIL_POLLING;
    return connection === 'polling';
  }

  #readConnection(): ConnectionState {
    if (this.#failure) return 'closed';
    if (!this.#socket) return 'idle';
    const { connection } = this.#socket;
    if (this.#needsPolling && this.#isPolled) return 'polling';
    if (this.#needsPolling && !navigator.onLine) return 'offline';
    const isLive = connection === 'live' && !this.#refusals;
    if (isLive || ['closed', 'offline', 'connecting'].includes(connection)) return connection;
    return this.#stream.order ? 'stale' : 'connecting';
  }

  #start(): void {
    this.#socket = this.#options.findSocket();
    this.#socket.add(this);
  }

  #stop(): void {
    this.#socket?.remove(this);
    this.#socket = null;
    this.#refusals = 0;
    clearTimeout(this.#refusalTimer);
  }

  #giveUp(error: PortalError): void {
    this.#failure = error;
    this.#stop();
    this.failed(error);
    this.connectionChanged();
  }

  #accepted(): void {
    this.#refusals = 0;
    clearTimeout(this.#refusalTimer);
    this.connectionChanged();
  }

  #apply(update: OrderUpdate): void {
    this.#stream = applyUpdate(this.#stream, update);
    this.#confirmedAt = Date.now();
    const { order } = this.#stream;
    const source = update.kind.toLowerCase() as StatusSource;
    if (order) notify(this.#audience, (listener) => listener.orderChanged(order, source));
  }

  #setPolling(): void {
    const wishes = [...this.#listeners]
      .map((listener) => listener.pollIntervalSeconds())
      .filter((wish) => wish > 0);
    const pollMs = this.#needsPolling && wishes.length ? Math.min(...wishes) * 1000 : 0;
    if (pollMs === this.#pollMs) return;
    clearInterval(this.#poll);
    this.#pollMs = pollMs;
    this.#isPolled = false;
    if (!pollMs) return;
    void this.#read();
    this.#poll = setInterval(() => this.#read(), pollMs);
  }

  #read(): Promise<void> {
    this.#reading ??= this.#options
      .read()
      .then(
        (order) => this.#readArrived(order),
        (cause: unknown) => this.#readFailed(toPortalError(cause, 'NETWORK')),
      )
      .finally(() => {
        this.#reading = null;
        this.#askers.clear();
      });
    return this.#reading;
  }

  #readArrived(order: PortalOrder): void {
    this.#isPolled = true;
    this.#apply({ kind: 'READ', order, eventId: null, cursor: null });
    // It can be followed after all.
    if (this.#failure) void this.retry();
    this.connectionChanged();
  }

  #readFailed(error: PortalError): void {
    this.#isPolled = false;
    if (this.#pollMs && !isRetryable(error.code)) this.#giveUp(error);
    else this.failed(error);
    this.connectionChanged();
  }
}
