import type { PortalClient } from './client.ts';
import { type PortalError, toPortalError } from './errors.ts';
import type { ConnectionState, StatusSource } from './events.ts';
import { readErrorCode, toGatewayError } from './gateway-error.ts';
import type { LiveSubscription } from './live-socket.ts';
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

/** What one element wants to hear of an order. */
export interface OrderListener {
  /** Seconds between two reads while the socket cannot be opened; 0 = never. */
  readonly pollIntervalSeconds: number;
  orderChanged(order: PortalOrder, source: StatusSource): void;
  connectionChanged(connection: ConnectionState): void;
  orderFailed(error: PortalError): void;
}

const RETRY_MS = 10_000;

/** One order, shared by every element that shows it: one subscription, one state, one cursor. */
export class OrderFeed implements LiveSubscription {
  readonly query = ORDER_UPDATES;
  readonly orderId: string;
  readonly #full: boolean;
  readonly #client: PortalClient;
  readonly #listeners = new Set<OrderListener>();
  #stream = emptyStream;
  #connection: ConnectionState = 'idle';
  /** When what is shown was last known to be true, in milliseconds since 1970. */
  #confirmedAt: number | null = null;
  #stop: (() => void) | null = null;
  #reading: Promise<void> | null = null;
  #poll: ReturnType<typeof setInterval> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #hadBadCursor = false;
  /** The gateway refused the subscription: a live socket does not make the order live then. */
  #isRefused = false;

  constructor(client: PortalClient, options: { orderId: string; full: boolean }) {
    this.#client = client;
    this.orderId = options.orderId;
    this.#full = options.full;
  }

  get order(): PortalOrder | null {
    return this.#stream.order;
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  /** While live, the order is as of now. */
  get confirmedAt(): number | null {
    return this.#connection === 'live' ? Date.now() : this.#confirmedAt;
  }

  /** Follows the order live until the returned function is called. */
  follow(listener: OrderListener): () => void {
    this.#listeners.add(listener);
    this.#stop ??= this.#client.socket.add(this);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = null;
      clearTimeout(this.#retry);
      this.#isRefused = false;
      this.connectionChanged('idle');
    };
  }

  /** Reads the order once over HTTP. Never rejects: a failure goes to everyone who listens, and to `listener`. */
  refresh(listener?: OrderListener): Promise<void> {
    this.#reading ??= this.#read(listener).finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /** Starts again after a failure: the subscription if it was refused, the socket if it waits. */
  retry(): void {
    clearTimeout(this.#retry);
    this.#client.socket.kick();
    this.#client.socket.restart(this);
  }

  variables(): Record<string, unknown> {
    this.#stream = beginSubscription(this.#stream);
    this.#isRefused = false;
    this.connectionChanged(this.#client.socket.connection);
    return { orderId: this.orderId, after: this.#stream.cursor, full: this.#full };
  }

  next(value: unknown): void {
    const update = readUpdate(value);
    if (!update) return;
    this.#hadBadCursor = false;
    this.#apply(update, sourceOf(update));
  }

  refused(errors: unknown): void {
    if (readErrorCode(errors) === 'BAD_CURSOR' && !this.#hadBadCursor) {
      this.#hadBadCursor = true;
      this.#stream = forgetCursor(this.#stream);
      this.#client.socket.restart(this);
      return;
    }
    this.#isRefused = true;
    this.connectionChanged(this.#client.socket.connection);
    // The gateway ended the stream without a word: go on from the cursor.
    const error = errors ? toGatewayError(errors) : null;
    if (error?.code === 'UNAUTHENTICATED') {
      this.#client.socket.refuseToken();
      return;
    }
    if (error) this.failed(error);
    if (!error || error.report().retryable) this.#retryLater();
  }

  connectionChanged(socketConnection: ConnectionState): void {
    const previous = this.#connection;
    const connection = this.#isRefused && socketConnection === 'live' ? 'stale' : socketConnection;
    if (previous === connection) return;
    if (previous === 'live') this.#confirmedAt = Date.now();
    this.#connection = connection;
    this.#setPolling(connection === 'polling');
    for (const listener of this.#listeners) listener.connectionChanged(connection);
  }

  failed(error: PortalError): void {
    this.#fail(error, this.#listeners);
  }

  #fail(error: PortalError, audience: ReadonlySet<OrderListener>): void {
    // An order can move to another user. Then nothing of it may stay on screen.
    if (error.code === 'NOT_FOUND') this.#stream = emptyStream;
    for (const listener of audience) listener.orderFailed(error);
  }

  async #read(listener?: OrderListener): Promise<void> {
    try {
      const order = await this.#client.readOrder(this.orderId, this.#full);
      this.#apply({ kind: 'READ', order, eventId: null, cursor: null }, 'read', listener);
    } catch (cause) {
      this.#fail(toPortalError(cause, 'NETWORK'), this.#audience(listener));
    }
  }

  #apply(update: OrderUpdate, source: StatusSource, listener?: OrderListener): void {
    const next = applyUpdate(this.#stream, update);
    this.#confirmedAt = Date.now();
    const order = next === this.#stream ? this.#stream.order : next.order;
    this.#stream = next;
    if (order) for (const each of this.#audience(listener)) each.orderChanged(order, source);
  }

  #audience(listener?: OrderListener): ReadonlySet<OrderListener> {
    return listener ? new Set([...this.#listeners, listener]) : this.#listeners;
  }

  #retryLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#client.socket.restart(this), RETRY_MS * (0.5 + Math.random()));
  }

  #setPolling(isPolling: boolean): void {
    clearInterval(this.#poll);
    const wishes = [...this.#listeners]
      .map((listener) => listener.pollIntervalSeconds)
      .filter((wish) => wish > 0);
    if (!isPolling || wishes.length === 0) return;
    void this.refresh();
    this.#poll = setInterval(() => void this.refresh(), Math.min(...wishes) * 1000);
  }
}

function sourceOf(update: OrderUpdate): StatusSource {
  return update.kind.toLowerCase() as StatusSource;
}
