import { announce } from './announcer.ts';
import { joinClient, leaveClients, type PortalClient } from './client.ts';
import { type Diagnosis, diagnose } from './diagnosis.ts';
import { type Child, draw, h } from './dom.ts';
import { declareProperties, WidgetElement } from './element.ts';
import { PortalError, type PortalErrorReport, reportError } from './errors.ts';
import { type ConnectionState, emit, PortalTokenRequestEvent } from './events.ts';
import { isSpoken, readLanguage, readStrings, whenLanguageChanged } from './language.ts';
import { MASKED } from './masks.ts';
import type { PortalOrder, PortalOrderStatus } from './order.ts';
import { createOrderWatch, type OrderChange } from './order-watch.ts';
import { DEFAULT_POLL_SECONDS, readPollInterval } from './poll-interval.ts';
import { findGateway, type PortalGateway } from './portal-gateway.ts';
import type { StatusView } from './status-view.ts';
import type { PartialStrings, Strings } from './strings.ts';
import type { TokenProvider } from './token.ts';

/** Base of `<portal-launch>` and `<portal-order-status>`: a gateway, an order, its live status, errors. */
export abstract class PortalElement extends WidgetElement {
  declare endpoint: string | null;
  declare orderId: string | null;
  declare status: 'none' | 'text' | 'steps' | null;
  declare live: 'visible' | 'always' | 'off';
  declare privacy: 'minimal' | 'full';
  declare pollInterval: number;
  declare tokenProvider: TokenProvider | null;
  declare client: PortalClient | null;
  declare strings: PartialStrings | null;
  /** A host's own text for a status; null means the widget's. */
  declare statusLabel: ((status: PortalOrderStatus) => string | null) | null;

  protected gateway: PortalGateway | null = null;
  /** The last error, if it is still shown: of the order's status, or of a launch. */
  protected shownError: { readonly error: PortalErrorReport; readonly about: 'status' | 'launch' } | null =
    null;
  protected readonly orderWatch = createOrderWatch(this, {
    orderChanged: (change) => this.#orderChanged(change),
    connectionChanged: (connection, previous) => {
      if (connection === 'live') this.#failing = null;
      this.requestUpdate();
      emit(this, 'portal-connection', { connection, previous });
    },
    orderFailed: (error) => this.fail(error, 'status'),
  });
  #lastError: PortalErrorReport | null = null;
  #leave: readonly ((() => void) | undefined)[] = [];
  #isPaused = false;
  #failing: string | null = null;
  #watched: string | null = null;

  static {
    declareProperties(PortalElement, {
      endpoint: ['endpoint', null],
      orderId: ['order-id', null],
      status: ['status', null],
      live: ['live', 'visible'],
      privacy: ['privacy', 'minimal'],
      pollInterval: ['poll-interval', DEFAULT_POLL_SECONDS, Number],
      tokenProvider: [null, null],
      client: [null, null],
      strings: [null, null],
      statusLabel: [null, null],
    });
  }

  constructor() {
    super(true);
  }

  /** The order as last shown, or null. */
  get order(): PortalOrder | null {
    return this.orderWatch.order();
  }

  get connection(): ConnectionState {
    return this.orderWatch.connection();
  }

  /** The last failure, also when it is no longer shown. */
  get lastError(): PortalErrorReport | null {
    return this.#lastError;
  }

  /** Reads the order once, now. Never rejects. */
  async refresh(): Promise<void> {
    await this.updateComplete;
    return this.orderWatch.refresh();
  }

  /** Retries after a failure. Never rejects. */
  retry(): Promise<void> {
    this.clearError();
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

  /** Tries the way to the gateway step by step and names the first thing that is in its way. Never rejects. */
  diagnose(): Promise<Diagnosis> {
    return diagnose(() => this.getClient());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.gateway = findGateway(this);
    this.#leave = [
      this.orderWatch.connect(),
      whenLanguageChanged(() => this.requestUpdate()),
      this.gateway?.addDependant(this),
    ];
  }

  disconnectedCallback(): void {
    for (const leave of this.#leave) leave?.();
    this.gateway = null;
    // An element that is only moved returns in the same task; its connection stays open.
    queueMicrotask(() => this.isConnected || leaveClients(this));
  }

  /** Identifies the order and the gateway; when it changes, nothing shown before is valid. */
  protected get aim(): string {
    return `${this.orderId} ${this.endpoint ?? this.gateway?.endpoint}`;
  }

  protected get language(): string {
    return readLanguage(this);
  }

  protected get texts(): Strings {
    return readStrings(this.language, this.strings);
  }

  /** How the status is shown once the default is applied. */
  protected get shownStatus(): 'none' | 'text' | 'steps' {
    const { status } = this;
    if (status === 'none' || status === 'text' || status === 'steps') return status;
    return this.orderId ? 'text' : 'none';
  }

  /** @throws PortalError ENDPOINT_INVALID, also where there is no endpoint at all */
  protected getClient(): PortalClient {
    const { gateway } = this;
    const own = this.client ?? (this.endpoint ? null : gateway?.client);
    if (own) return own;
    const endpoint = this.endpoint ?? gateway?.endpoint ?? '';
    const provider = this.tokenProvider ?? gateway?.tokenProvider;
    // Elements that ask by event ask the same page, so they share too.
    const source = provider ?? gateway ?? document;
    return joinClient(this, { endpoint, source }, (user) => provider ?? askPage(gateway ?? user));
  }

  /** Makes an error known: event, `lastError`, screen readers, and on screen unless the host cancelled it. */
  protected fail(error: PortalError, about: 'status' | 'launch' | 'none'): void {
    // A repeated failure in the background is reported once, until it works again.
    if (about === 'status' && this.#failing === error.code) return;
    if (about === 'status') this.#failing = error.code;
    const report = reportError(error, this.texts);
    this.#lastError = report;
    if (!emit(this, 'portal-error', report) || about === 'none') return;
    // An order that is on screen stays there: its age is shown.
    if (about === 'status' && this.order) return;
    this.shownError = { error: report, about };
    announce(this, report.message);
    this.requestUpdate();
  }

  protected clearError(): void {
    this.shownError = null;
    this.#failing = null;
    this.requestUpdate();
  }

  protected override tokenRemoved(): void {
    this.fail(new PortalError('TOKEN_IN_ATTRIBUTE'), 'none');
  }

  /** Custom states for `:state()`; null ones are off. */
  protected readStates(): readonly (string | null)[] {
    const { shownError, order } = this;
    return [
      this.connection,
      shownError && 'error',
      order?.status.needsAttention ? 'attention' : null,
      order?.status.isTerminal ? 'terminal' : null,
    ];
  }

  protected override update(): void {
    const { aim } = this;
    if (aim !== this.#watched) this.clearError();
    this.#watched = aim;
    this.orderWatch.want({
      feed: this.#readFeed(),
      live: this.live,
      isPaused: this.#isPaused,
      pollIntervalSeconds: readPollInterval(this.pollInterval),
    });
    const { states } = this.internals;
    states.clear();
    for (const state of this.readStates()) if (state) states.add(state);
    // So that English on a page in another language is read out as English.
    const lang = isSpoken(this.language) || this.strings ? null : 'en';
    const masks = this.privacy === 'full' ? {} : { ...MASKED, class: `frame ${MASKED.class}` };
    const { activeElement } = this.root;
    draw(this.root, [h('div', 'frame', { ...masks, lang }, ...this.drawing())]);
    if (activeElement && !this.root.activeElement) this.#moveFocus();
  }

  /** The focused control is gone: its replacement gets the focus, or the frame, until the person moves on. */
  #moveFocus(): void {
    const [frame, button] = this.root.querySelectorAll<HTMLElement>('.frame,.button');
    if (frame && !button) {
      frame.tabIndex = -1;
      frame.onblur = () => frame.removeAttribute('tabindex');
    }
    (button ?? frame)?.focus();
  }

  /** The current content. */
  protected abstract drawing(): readonly Child[];

  /** Null while there is nothing to follow, or not enough to follow it. */
  #readFeed() {
    const { orderId, client, gateway } = this;
    const isReachable = client ?? this.endpoint ?? gateway?.client ?? gateway?.endpoint;
    if (!orderId || !isReachable || this.shownStatus === 'none') return null;
    try {
      return this.getClient().feed(orderId, this.privacy === 'full');
    } catch (cause) {
      if (!(cause instanceof PortalError)) throw cause;
      this.fail(cause, 'status');
      return null;
    }
  }

  #orderChanged(change: OrderChange): void {
    if (this.shownError?.about === 'status') this.shownError = null;
    this.#failing = null;
    const { order, previous } = change;
    this.requestUpdate();
    if (order === previous) return;
    emit(this, 'portal-status', change);
    const label = this.readLabel(order.status);
    if (previous && label !== this.readLabel(previous.status)) {
      announce(
        this,
        this.texts.changed.replace('{status}', () => label),
      );
    }
  }

  /** The current input for drawing the status. */
  protected statusView(): StatusView {
    const { order, shownError } = this;
    return {
      order,
      label: order ? this.readLabel(order.status) : '',
      isEmpty: !this.orderId,
      form: this.shownStatus,
      connection: this.connection,
      confirmedAt: this.orderWatch.confirmedAt(),
      error: shownError?.about === 'status' ? shownError.error : null,
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
}

/** A provider that asks the page by event, on behalf of this element. */
function askPage(asker: HTMLElement): TokenProvider {
  return (request) => {
    const event = new PortalTokenRequestEvent(request);
    asker.dispatchEvent(event);
    if (!event.answer) throw new PortalError('TOKEN_UNAVAILABLE');
    return event.answer;
  };
}
