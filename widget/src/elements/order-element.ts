import { PortalError } from '../gateway/errors.ts';
import type { PortalOrder } from '../live/order.ts';
import type { OrderFeed } from '../live/order-feed.ts';
import type { ConnectionState, OrderListener, StatusSource } from '../live/order-listener.ts';
import { DEFAULT_POLL_SECONDS } from '../live/poll-interval.ts';
import { emit } from '../page/events.ts';
import { type Aim, ClientElement, differ } from './client-element.ts';

/** What an element reads from the gateway, and where it shows that this failed. */
type Read = 'status' | 'results';

/** A new state of the order, the previous one, and its source. */
export interface OrderChange {
  readonly order: PortalOrder;
  readonly previous: PortalOrder | null;
  readonly source: StatusSource;
}

/** How the order is to be followed. `feed` is null while there is nothing to follow. */
interface Wish {
  readonly feed: OrderFeed | null;
  readonly live: string;
  readonly isPaused: boolean;
  readonly pollSeconds: number;
}

/**
 * Base of every element that follows an order: the order, its connection, and failures to read. It follows only while it
 * is in the page, visible and not paused.
 */
export abstract class OrderElement extends ClientElement {
  #wish: Wish = { feed: null, live: '', isPaused: false, pollSeconds: 0 };
  #order: PortalOrder | null = null;
  #connection: ConnectionState = 'idle';
  #visibility: IntersectionObserver | undefined;
  #isVisible = false;
  #isFollowing = false;
  #isPaused = false;
  /** The feed that has been read once for `live="off"`. */
  #readOnce: OrderFeed | null = null;
  #lastAim: Aim | null = null;
  /** The code of the last failure of each read. */
  readonly #failing = new Map<Read, string>();

  readonly #listener: OrderListener = {
    pollIntervalSeconds: () => this.#wish.pollSeconds,
    orderChanged: (order, source) => {
      const previous = this.#order;
      this.#order = order;
      this.orderChanged({ order, previous, source });
    },
    connectionChanged: (connection) => {
      const previous = this.#connection;
      this.#connection = connection;
      if (connection !== previous) this.connectionChanged(connection, previous);
    },
    orderFailed: (error) => {
      if (error.code === 'NOT_FOUND') this.#order = null;
      this.readFailed(error, 'status');
    },
  };

  /** The order as last shown, or null. */
  get order(): PortalOrder | null {
    return this.#order;
  }

  get connection(): ConnectionState {
    return this.#connection;
  }

  /** Reads the order once, now. Never rejects. */
  async refresh(): Promise<void> {
    // Before it is in the page an element never updates.
    if (this.isConnected) await this.updateComplete;
    await this.#wish.feed?.refresh(this.#listener);
  }

  /** Retries after a failure. Never rejects. */
  async retry(): Promise<void> {
    this.endFailure('status');
    const { feed } = this.#wish;
    await (this.#isFollowing ? feed?.retry() : feed?.refresh(this.#listener));
  }

  /** Stops following the order until `resume()`. */
  pause(): void {
    this.#isPaused = true;
    this.requestUpdate();
  }

  resume(): void {
    this.#isPaused = false;
    this.requestUpdate();
  }

  protected override entered(): void {
    super.entered();
    this.#visibility = new IntersectionObserver((entries) => {
      this.#isVisible = entries.at(-1)?.isIntersecting === true;
      this.#settle();
    });
    this.#visibility.observe(this);
  }

  protected override left(): void {
    this.#visibility?.disconnect();
    this.#isVisible = false;
    this.#leave();
    super.left();
  }

  protected override readStates(): readonly (string | null)[] {
    return [...super.readStates(), this.connection];
  }

  protected override willUpdate(): void {
    const wish = this.#readWish();
    this.#want(wish);
    // Listeners of the page may have set a property meanwhile, and Lit does not update again for that.
    const next = this.#readWish();
    if (differ(wish, next)) this.willUpdate();
  }

  /** When the shown order was last confirmed, in milliseconds since 1970. */
  protected get confirmedAt(): number | null {
    return this.#wish.feed?.confirmedAt() ?? null;
  }

  /** Whether the element shows anything of the order. */
  protected get needsOrder(): boolean {
    return true;
  }

  /** Seconds between two reads while the order cannot be followed live; 0 = never. */
  protected get pollSeconds(): number {
    return DEFAULT_POLL_SECONDS;
  }

  /** Called when the order, the gateway or the person has changed: nothing shown before is valid. */
  protected aimChanged(): void {
    this.endFailure('status');
  }

  protected orderChanged(change: OrderChange): void {
    this.endFailure('status');
    this.requestUpdate();
    if (change.order !== change.previous) emit(this, 'portal-status', change);
  }

  protected connectionChanged(connection: ConnectionState, previous: ConnectionState): void {
    if (connection === 'live') this.endFailure('status');
    this.requestUpdate();
    emit(this, 'portal-connection', { connection, previous });
  }

  /** Reports a failed read. A repeated failure in the background is reported once, until it works again. */
  protected readFailed(error: PortalError, read: Read): void {
    if (this.#failing.get(read) === error.code) return;
    this.#failing.set(read, error.code);
    // An order on the screen stays there with its age. An error is shown beside it only if the person can do something.
    const isQuiet = read === 'status' && this.order && error.code !== 'UNAUTHENTICATED';
    this.fail(error, isQuiet ? null : read);
    this.requestUpdate();
  }

  protected endFailure(read: Read): void {
    this.#failing.delete(read);
    this.hideError(read);
  }

  #want(wish: Wish): void {
    const { feed, pollSeconds } = this.#wish;
    const isOther = wish.feed !== feed;
    if (isOther || wish.pollSeconds !== pollSeconds) this.#leave();
    if (isOther) {
      // A read of the order before may still be under way: its late answer is not for this one.
      feed?.leave(this.#listener);
      this.#order = null;
    }
    this.#wish = wish;
    if (!this.#order) this.#catchUp();
    this.#settle();
  }

  #settle(): void {
    const { feed, live, isPaused } = this.#wish;
    const isWanted = feed && !isPaused && this.isConnected && (live === 'always' || this.#isVisible);
    if (!isWanted || live === 'off') this.#leave();
    else if (!this.#isFollowing) this.#follow(feed);
    if (!isWanted || live !== 'off' || this.#readOnce === feed) return;
    this.#readOnce = feed;
    void feed.refresh(this.#listener);
  }

  #follow(feed: OrderFeed): void {
    this.#isFollowing = true;
    feed.follow(this.#listener);
    // A listener of the page may have removed the element.
    if (!this.#isFollowing) return;
    this.#listener.connectionChanged(feed.connection());
    this.#catchUp();
  }

  #leave(): void {
    if (!this.#isFollowing) return;
    this.#isFollowing = false;
    this.#wish.feed?.leave(this.#listener);
    this.#listener.connectionChanged(this.#wish.isPaused ? 'closed' : 'idle');
  }

  /** Shows the state that another element of the page has already received. */
  #catchUp(): void {
    const known = this.#wish.feed?.order();
    if (known && known !== this.#order) this.#listener.orderChanged(known, 'snapshot');
  }

  #readWish(): Wish {
    const { aim } = this;
    if (aim !== this.#lastAim) this.aimChanged();
    this.#lastAim = aim;
    return {
      feed: this.#readFeed(),
      live: this.live,
      isPaused: this.#isPaused,
      pollSeconds: this.pollSeconds,
    };
  }

  /** Null while there is nothing to follow, or not enough to follow it. */
  #readFeed(): OrderFeed | null {
    const { orderId } = this;
    if (!orderId || !this.isEndpointDue || !this.needsOrder) return null;
    try {
      return this.getClient().feed(orderId, this.privacy === 'full');
    } catch (cause) {
      if (!(cause instanceof PortalError)) throw cause;
      this.readFailed(cause, 'status');
      return null;
    }
  }
}
