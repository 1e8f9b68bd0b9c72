import type { PropertyDeclarations } from 'lit';
import { type OrderChange, OrderElement } from '../elements/order-element.ts';
import type { PortalOrderStatus } from '../live/order.ts';
import type { ConnectionState } from '../live/order-listener.ts';
import { DEFAULT_POLL_SECONDS, readPollInterval } from '../live/poll-interval.ts';
import { announce } from '../page/announcer.ts';
import { readNext } from './next.ts';
import type { StatusView } from './status-view.ts';

/** How often ages are written anew. */
const CLOCK_MS = 30_000;
const HIGHLIGHT_MS = 3000;
/** States of a connection after which being live again is news. */
const AWAY: readonly ConnectionState[] = ['stale', 'polling', 'offline'];

/** Base of `<portal-launch>` and `<portal-order-status>`: the live status of an order. */
export abstract class PortalElement extends OrderElement {
  static override properties: PropertyDeclarations = {
    status: {},
    pollInterval: { attribute: 'poll-interval', type: Number, useDefault: true },
    statusLabel: { attribute: false },
  };

  declare status: 'none' | 'text' | 'steps' | null;
  declare pollInterval: number;
  /** A host's own text for a status; null means the widget's. */
  declare statusLabel: ((status: PortalOrderStatus) => string | null) | null;

  #recovery: 'none' | 'away' | 'back' = 'none';
  #clock: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this.status = null;
    this.pollInterval = DEFAULT_POLL_SECONDS;
    this.statusLabel = null;
  }

  protected override entered(): void {
    super.entered();
    this.#startClock();
  }

  protected override left(): void {
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
      order?.status.needsAttention ? 'attention' : null,
      order?.status.isTerminal ? 'terminal' : null,
    ];
  }

  protected override get needsOrder(): boolean {
    return this.shownStatus !== 'none';
  }

  protected override get pollSeconds(): number {
    return readPollInterval(this.pollInterval);
  }

  protected override aimChanged(): void {
    super.aimChanged();
    this.hideError('launch');
  }

  protected override orderChanged(change: OrderChange): void {
    super.orderChanged(change);
    const { order, previous, source } = change;
    if (!previous || order === previous) return;
    const label = this.readLabel(order.status);
    if (label === this.readLabel(previous.status)) return;
    const next = readNext(order, this.texts);
    const changed = this.texts.changed.replace('{status}', () => label);
    announce(this, next ? `${changed}. ${next}` : changed, this.language);
    if (source === 'changed') void this.#highlight();
  }

  protected override connectionChanged(connection: ConnectionState, previous: ConnectionState): void {
    if (this.order && AWAY.includes(connection)) this.#recovery = 'away';
    if (connection === 'live' && this.#recovery === 'away') {
      this.#recovery = 'back';
      this.#startClock();
    }
    super.connectionChanged(connection, previous);
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
      confirmedAt: this.confirmedAt,
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

  /** A soft colour behind a status that has just arrived. */
  async #highlight(): Promise<void> {
    await this.updateComplete;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const words = this.renderRoot.querySelector('.text > .words, .current > .words');
    words?.animate({ background: ['color-mix(in srgb, var(--_current) 16%, #0000)', '#0000'] }, HIGHLIGHT_MS);
  }

  /** Writes the ages anew, and ends what was news. */
  #startClock(): void {
    clearInterval(this.#clock);
    this.#clock = setInterval(() => {
      if (this.#recovery === 'back') this.#recovery = 'none';
      this.requestUpdate();
    }, CLOCK_MS);
  }
}
