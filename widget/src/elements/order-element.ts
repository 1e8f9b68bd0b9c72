import { PortalError } from '../gateway/errors.ts';
import type { PortalOrder } from '../live/order.ts';
import type { OrderFeed } from '../live/order-feed.ts';
import type { ConnectionState } from '../live/order-listener.ts';
import { createOrderWatch, type OrderChange, type WatchWish } from '../live/order-watch.ts';
import { DEFAULT_POLL_SECONDS } from '../live/poll-interval.ts';
import { emit } from '../page/events.ts';
import { ClientElement } from './client-element.ts';

/** What an element reads from the gateway, and where it shows that this failed. */
type Read = 'status' | 'results';

/** Base of every element that follows an order: the order, its connection, and failures to read. */
export abstract class OrderElement extends ClientElement {
  protected readonly orderWatch = createOrderWatch(this, {
    orderChanged: (change) => this.orderChanged(change),
    connectionChanged: (connection, previous) => this.connectionChanged(connection, previous),
    orderFailed: (error) => this.readFailed(error, 'status'),
  });
  /** The code of the last failure of each read. */
  readonly #failing = new Map<Read, string>();
  #leave: (() => void) | null = null;
  #isPaused = false;
  #lastAim: string | null = null;

  /** The order as last shown, or null. */
  get order(): PortalOrder | null {
    return this.orderWatch.order();
  }

  get connection(): ConnectionState {
    return this.orderWatch.connection();
  }

  /** Reads the order once, now. Never rejects. */
  async refresh(): Promise<void> {
    // Before it is in the page an element never updates.
    if (this.isConnected) await this.updateComplete;
    await this.orderWatch.refresh();
  }

  /** Retries after a failure. Never rejects. */
  async retry(): Promise<void> {
    this.endFailure('status');
    await this.orderWatch.retry();
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
    this.#leave = this.orderWatch.connect();
  }

  protected override left(): void {
    this.#leave?.();
    super.left();
  }

  protected override readStates(): readonly (string | null)[] {
    return [...super.readStates(), this.connection];
  }

  protected override willUpdate(): void {
    const wish = this.#readWish();
    this.orderWatch.want(wish);
    // Listeners of the page may have set a property meanwhile, and Lit does not update again for that.
    const next = this.#readWish();
    if (Object.keys(wish).some((key) => Reflect.get(wish, key) !== Reflect.get(next, key))) this.willUpdate();
  }

  /** Whether the element shows anything of the order. */
  protected get needsOrder(): boolean {
    return true;
  }

  /** Seconds between two reads while the order cannot be followed live; 0 = never. */
  protected get pollSeconds(): number {
    return DEFAULT_POLL_SECONDS;
  }

  /** The element shows another order, or that of another gateway: nothing shown before is valid. */
  protected aimChanged(): void {
    this.endFailure('status');
  }

  protected orderChanged(change: OrderChange): void {
    this.endFailure('status');
    this.requestUpdate();
    if (change.order !== change.previous) emit(this, 'portal-status', change);
  }

  protected connectionChanged(connection: ConnectionState, previous: ConnectionState): void {
    if (connection === 'live') this.#failing.delete('status');
    this.requestUpdate();
    emit(this, 'portal-connection', { connection, previous });
  }

  /** Reports a failed read. A repeated failure in the background is reported once, until it works again. */
  protected readFailed(error: PortalError, read: Read): void {
    if (this.#failing.get(read) === error.code) return;
    this.#failing.set(read, error.code);
    // An order that is on screen stays there: its age is shown.
    this.fail(error, read === 'status' && this.order ? null : read);
    this.requestUpdate();
  }

  protected endFailure(read: Read): void {
    this.#failing.delete(read);
    this.hideError(read);
  }

  #readWish(): WatchWish {
    const { aim } = this;
    if (aim !== this.#lastAim) this.aimChanged();
    this.#lastAim = aim;
    return {
      feed: this.#readFeed(),
      live: this.live,
      isPaused: this.#isPaused,
      pollIntervalSeconds: this.pollSeconds,
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
