import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { PortalError } from './errors.ts';
import type { ConnectionState, StatusSource } from './events.ts';
import type { PortalOrder } from './order.ts';
import type { OrderFeed, OrderListener } from './order-feed.ts';

/** How an element wants its order followed. `feed` is null while there is nothing to follow. */
export interface WatchWish {
  readonly feed: OrderFeed | null;
  readonly live: 'visible' | 'always' | 'off';
  readonly isPaused: boolean;
  readonly pollIntervalSeconds: number;
}

/** An order that came, what stood there before, and how it came. */
export interface OrderChange {
  readonly order: PortalOrder;
  readonly previous: PortalOrder | null;
  readonly source: StatusSource;
}

/** What the watch tells its element. */
export interface WatchListener {
  orderChanged(change: OrderChange): void;
  connectionChanged(connection: ConnectionState, previous: ConnectionState): void;
  orderFailed(error: PortalError): void;
}

/** Follows one order for one element: only while the element is in the page, visible and not paused. */
export class OrderWatch implements ReactiveController, OrderListener {
  readonly #host: ReactiveControllerHost & Element;
  readonly #listener: WatchListener;
  #wish: WatchWish = { feed: null, live: 'visible', isPaused: false, pollIntervalSeconds: 30 };
  #isVisible = false;
  #observer: IntersectionObserver | null = null;
  #unfollow: (() => void) | null = null;
  #connection: ConnectionState = 'idle';
  /** The feed that has been read once for `live="off"`. */
  #readOnce: OrderFeed | null = null;
  order: PortalOrder | null = null;

  constructor(host: ReactiveControllerHost & Element, listener: WatchListener) {
    this.#host = host;
    this.#listener = listener;
    host.addController(this);
  }

  get pollIntervalSeconds(): number {
    return this.#wish.pollIntervalSeconds;
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  get confirmedAt(): number | null {
    return this.#wish.feed?.confirmedAt ?? null;
  }

  hostConnected(): void {
    this.#observer = new IntersectionObserver((entries) => {
      this.#isVisible = entries.at(-1)?.isIntersecting === true;
      this.#settle();
    });
    this.#observer.observe(this.#host);
  }

  hostDisconnected(): void {
    this.#observer?.disconnect();
    this.#isVisible = false;
    this.#leave();
  }

  /** To be called on every update of the element; does nothing when nothing changed. */
  want(wish: WatchWish): void {
    const isSame = wish.feed === this.#wish.feed;
    const isSameInterval = wish.pollIntervalSeconds === this.#wish.pollIntervalSeconds;
    if (!isSame || !isSameInterval) this.#leave();
    this.#wish = wish;
    if (!isSame) this.order = wish.feed?.order ?? null;
    this.#settle();
  }

  /** Reads the order once; settles when it is read or has failed. */
  async refresh(): Promise<void> {
    await this.#wish.feed?.refresh(this);
  }

  /** Starts again what failed. */
  async retry(): Promise<void> {
    if (this.#unfollow) this.#wish.feed?.retry();
    else await this.refresh();
  }

  orderChanged(order: PortalOrder, source: StatusSource): void {
    const previous = this.order;
    this.order = order;
    this.#listener.orderChanged({ order, previous, source });
  }

  connectionChanged(connection: ConnectionState): void {
    const previous = this.#connection;
    if (previous === connection) return;
    this.#connection = connection;
    this.#listener.connectionChanged(connection, previous);
  }

  orderFailed(error: PortalError): void {
    if (error.code === 'NOT_FOUND') this.order = null;
    this.#listener.orderFailed(error);
  }

  #settle(): void {
    const { feed, live, isPaused } = this.#wish;
    const isShown = this.#host.isConnected && (live === 'always' || this.#isVisible);
    if (!feed || isPaused || !isShown) this.#leave();
    else if (live === 'off') this.#read(feed);
    else if (!this.#unfollow) this.#follow(feed);
  }

  #follow(feed: OrderFeed): void {
    this.#unfollow = feed.follow(this);
    this.connectionChanged(feed.connection);
    if (feed.order && feed.order !== this.order) this.orderChanged(feed.order, 'snapshot');
  }

  #read(feed: OrderFeed): void {
    this.#leave();
    if (this.#readOnce === feed) return;
    this.#readOnce = feed;
    void feed.refresh(this);
  }

  #leave(): void {
    if (!this.#unfollow) return;
    this.#unfollow();
    this.#unfollow = null;
    this.connectionChanged(this.#wish.isPaused ? 'closed' : 'idle');
  }
}
