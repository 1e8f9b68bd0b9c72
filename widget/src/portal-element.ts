import type { PropertyDeclarations } from 'lit';
import { announce } from './announcer.ts';
import { ClientElement } from './client-element.ts';
import { PortalError } from './errors.ts';
import { type ConnectionState, emit } from './events.ts';
import { readNext } from './next.ts';
import type { PortalOrder, PortalOrderStatus } from './order.ts';
import type { OrderFeed } from './order-feed.ts';
import { createOrderWatch, type OrderChange, type WatchWish } from './order-watch.ts';
import { DEFAULT_POLL_SECONDS, readPollInterval } from './poll-interval.ts';
import type { StatusView } from './status-view.ts';

/** How often ages are written anew. */
const CLOCK_MS = 30_000;
const HIGHLIGHT_MS = 3000;
/** States of a connection after which being live again is news. */
const AWAY: readonly ConnectionState[] = ['stale', 'polling', 'offline'];

/** Base of `<portal-launch>` and `<portal-order-status>`: an order, its live status, and its errors. */
export abstract class PortalElement extends ClientElement {
  static override properties: PropertyDeclarations = {
    status: {},
    pollInterval: { attribute: 'poll-interval', type: Number, useDefault: true },
    statusLabel: { attribute: false },
  };

  declare status: 'none' | 'text' | 'steps' | null;
  declare pollInterval: number;
  /** A host's own text for a status; null means the widget's. */
  declare statusLabel: ((status: PortalOrderStatus) => string | null) | null;

  protected readonly orderWatch = createOrderWatch(this, {
    orderChanged: (change) => this.#orderChanged(change),
    connectionChanged: (connection, previous) => {
      if (connection === 'live') this.#failing = null;
      this.#noteConnection(connection);
      this.requestUpdate();
      emit(this, 'portal-connection', { connection, previous });
    },
    orderFailed: (error) => this.#orderFailed(error),
  });
  #leave: (() => void) | null = null;
  #isPaused = false;
  #failing: string | null = null;
  #watched: string | null = null;
  #recovery: 'none' | 'away' | 'back' = 'none';
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this.status = null;
    this.pollInterval = DEFAULT_POLL_SECONDS;
    this.statusLabel = null;
  }

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
    return this.orderWatch.refresh();
  }

  /** Retries after a failure. Never rejects. */
  retry(): Promise<void> {
    this.#clearFailure();
    return this.orderWatch.retry();
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
    this.#startClock();
  }

  protected override left(): void {
    this.#leave?.();
    clearInterval(this.#clock);
    super.left();
  }

  /** How the status is shown once the default is applied. */
  protected get shownStatus(): 'none' | 'text' | 'steps' {
    const { status } = this;
    if (status === 'none' || status === 'text' || status === 'steps') return status;
    return this.orderId ? 'text' : 'none';
  }

  protected override readStates(): readonly (string | null)[] {
    const { order } = this;
    return [
      ...super.readStates(),
      this.connection,
      order?.status.needsAttention ? 'attention' : null,
      order?.status.isTerminal ? 'terminal' : null,
    ];
  }

  protected override willUpdate(): void {
    const wish = this.#readWish();
    this.orderWatch.want(wish);
    // Listeners of the page may have set a property meanwhile, and Lit does not update again for that.
    const next = this.#readWish();
    if (Object.keys(wish).some((key) => Reflect.get(wish, key) !== Reflect.get(next, key))) this.willUpdate();
  }

  /** The current input for drawing the status. */
  protected statusView(): StatusView {
    const { order } = this;
    return {
      order,
      label: order ? this.readLabel(order.status) : '',
      next: order ? readNext(order, this.texts) : undefined,
      isEmpty: !this.orderId,
      form: this.shownStatus,
      connection: this.connection,
      isBack: this.#recovery === 'back',
      confirmedAt: this.orderWatch.confirmedAt(),
      error: this.shownError('status'),
      texts: this.texts,
      language: this.language,
      retry: () => this.retry(),
    };
  }

  protected readLabel(status: PortalOrderStatus): string {
    let own: string | null | undefined;
    try {
      own = this.statusLabel?.(status);
    } catch (cause) {
      // An error of the host's function is reported to the host and hides no status.
      globalThis.reportError(cause);
    }
    return own ?? this.texts.statuses[status.step ?? ''] ?? status.label;
  }

  #readWish(): WatchWish {
    const { aim } = this;
    if (aim !== this.#watched) {
      this.#clearFailure();
      this.hideError('launch');
    }
    this.#watched = aim;
    return {
      feed: this.#readFeed(),
      live: this.live,
      isPaused: this.#isPaused,
      pollIntervalSeconds: readPollInterval(this.pollInterval),
    };
  }

  /** Null while there is nothing to follow, or not enough to follow it. */
  #readFeed(): OrderFeed | null {
    const { orderId } = this;
    if (!orderId || !this.isEndpointDue || this.shownStatus === 'none') return null;
    try {
      return this.getClient().feed(orderId, this.privacy === 'full');
    } catch (cause) {
      if (!(cause instanceof PortalError)) throw cause;
      this.#orderFailed(cause);
      return null;
    }
  }

  #orderChanged(change: OrderChange): void {
    this.#clearFailure();
    const { order, previous, source } = change;
    this.requestUpdate();
    if (order === previous) return;
    emit(this, 'portal-status', change);
    const label = this.readLabel(order.status);
    if (!previous || label === this.readLabel(previous.status)) return;
    const next = readNext(order, this.texts);
    const changed = this.texts.changed.replace('{status}', () => label);
    announce(this, next ? `${changed}. ${next}` : changed);
    if (source === 'changed') void this.#highlight();
  }

  /** A soft colour behind a status that has just arrived. */
  async #highlight(): Promise<void> {
    await this.updateComplete;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const words = this.renderRoot.querySelector('.text > .words, .current > .words');
    words?.animate({ background: ['color-mix(in srgb, var(--_current) 16%, #0000)', '#0000'] }, HIGHLIGHT_MS);
  }

  #noteConnection(connection: ConnectionState): void {
    if (this.order && AWAY.includes(connection)) this.#recovery = 'away';
    if (connection !== 'live' || this.#recovery !== 'away') return;
    this.#recovery = 'back';
    this.#startClock();
  }

  /** Writes the ages anew, and ends what was news. */
  #startClock(): void {
    clearInterval(this.#clock);
    this.#clock = setInterval(() => {
      if (this.#recovery === 'back') this.#recovery = 'none';
      this.requestUpdate();
    }, CLOCK_MS);
  }

  #orderFailed(error: PortalError): void {
    // A repeated failure in the background is reported once, until it works again.
    if (this.#failing === error.code) return;
    this.#failing = error.code;
    // An order that is on screen stays there: its age is shown.
    this.fail(error, this.order ? null : 'status');
  }

  #clearFailure(): void {
    this.#failing = null;
    this.hideError('status');
  }
}
