import { LitElement, type PropertyDeclarations, type PropertyValues } from 'lit';
import { readEndpoint } from './addresses.ts';
import { announce } from './announcer.ts';
import { type PortalClient, shareClient } from './client.ts';
import { PortalError, type PortalErrorReport } from './errors.ts';
import { type ConnectionState, emit } from './events.ts';
import type { PortalOrder, PortalOrderStatus } from './order.ts';
import { type OrderChange, OrderWatch } from './order-watch.ts';
import { findGateway, type PortalGateway } from './portal-gateway.ts';
import type { StatusView } from './status-view.ts';
import { mergeStrings, type PartialStrings, type Strings } from './strings.ts';
import { styles } from './styles.ts';
import type { TokenProvider } from './token.ts';
import { readTokenSource, removeTokenAttribute } from './token-source.ts';

const SHORTEST_POLL_SECONDS = 10;
const DEFAULT_POLL_SECONDS = 30;

/** What `<portal-launch>` and `<portal-order-status>` have in common: a gateway, an order, its live status, errors. */
export abstract class PortalElement extends LitElement {
  static override properties: PropertyDeclarations = {
    endpoint: {},
    orderId: { attribute: 'order-id' },
    status: {},
    live: {},
    privacy: {},
    pollInterval: { type: Number, attribute: 'poll-interval' },
    tokenProvider: { attribute: false },
    // Observed only to be removed.
    token: { noAccessor: true },
    strings: { attribute: false },
    statusLabel: { attribute: false },
  };
  static override styles = styles;
  static override shadowRootOptions: ShadowRootInit = {
    ...LitElement.shadowRootOptions,
    delegatesFocus: true,
  };

  declare endpoint: string | null;
  declare orderId: string | null;
  declare status: 'none' | 'text' | 'steps' | null;
  declare live: 'visible' | 'always' | 'off';
  declare privacy: 'minimal' | 'full';
  declare pollInterval: number;
  declare tokenProvider: TokenProvider | null;
  declare strings: PartialStrings | null;
  /** A host's own words for a status; null keeps the gateway's label. */
  declare statusLabel: ((status: PortalOrderStatus) => string | null) | null;

  protected readonly internals = this.attachInternals();
  protected gateway: PortalGateway | null = null;
  protected readonly watch: OrderWatch = new OrderWatch(this, {
    orderChanged: (change) => this.#orderChanged(change),
    connectionChanged: (connection, previous) => {
      if (connection === 'live') this.#failing = null;
      this.requestUpdate();
      emit(this, 'portal-connection', { connection, previous });
    },
    orderFailed: (error) => this.fail(error, 'status'),
  });
  /** What went wrong last and is still shown: with the order's status, or with a launch. */
  protected shownError: { readonly error: PortalErrorReport; readonly about: 'status' | 'launch' } | null =
    null;
  #lastError: PortalErrorReport | null = null;
  #leaveGateway: (() => void) | null = null;
  #isPaused = false;
  #failing: PortalErrorReport['code'] | null = null;
  #reportedEndpoint: string | null = null;

  constructor() {
    super();
    this.endpoint = null;
    this.orderId = null;
    this.status = null;
    this.live = 'visible';
    this.privacy = 'minimal';
    this.pollInterval = DEFAULT_POLL_SECONDS;
    this.tokenProvider = null;
    this.strings = null;
    this.statusLabel = null;
  }

  /** The order as last shown, or null. */
  get order(): PortalOrder | null {
    return this.watch.order;
  }

  get connection(): ConnectionState {
    return this.watch.connection;
  }

  /** The last failure, also when it is no longer shown. */
  get lastError(): PortalErrorReport | null {
    return this.#lastError;
  }

  /** Reads the order once, now. Never rejects. */
  refresh(): Promise<void> {
    return this.watch.refresh();
  }

  /** Tries again what failed. Never rejects. */
  retry(): Promise<void> {
    this.clearError();
    return this.watch.retry();
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

  override connectedCallback(): void {
    super.connectedCallback();
    this.gateway = findGateway(this);
    this.#leaveGateway = this.gateway?.addDependant(this) ?? null;
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leaveGateway?.();
    this.gateway = null;
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name !== 'token') super.attributeChangedCallback(name, old, value);
    else if (removeTokenAttribute(this)) this.fail(new PortalError('TOKEN_IN_ATTRIBUTE'), 'none');
  }

  protected get texts(): Strings {
    return mergeStrings(this.strings);
  }

  /** How the status is shown once the default is applied. */
  protected get shownStatus(): 'none' | 'text' | 'steps' {
    if (this.status === 'none' || this.status === 'text' || this.status === 'steps') return this.status;
    return this.orderId ? 'text' : 'none';
  }

  /** @throws PortalError ENDPOINT_INVALID, also where there is no endpoint at all */
  protected getClient(): PortalClient {
    const ownEndpoint = this.endpoint;
    const endpoint = readEndpoint(ownEndpoint ?? this.gateway?.endpoint ?? '');
    const usesGateway = this.gateway && !this.tokenProvider;
    const { source, provider } = usesGateway
      ? readTokenSource(this.gateway?.tokenProvider ?? null, this.gateway ?? this)
      : readTokenSource(this.tokenProvider, this);
    return shareClient(endpoint, source, provider);
  }

  /** Makes an error known: event, `lastError`, screen readers, and on screen unless the host cancelled it. */
  protected fail(error: PortalError, about: 'status' | 'launch' | 'none'): void {
    const report = error.report();
    // What fails again and again in the background is told once, until it works again.
    if (about === 'status' && this.#failing === report.code) return;
    if (about === 'status') this.#failing = report.code;
    this.#lastError = report;
    const isOurs = emit(this, 'portal-error', report);
    if (!isOurs || about === 'none') return;
    this.shownError = { error: report, about };
    // An order that is on screen stays there: its age says enough.
    const isHidden = about === 'status' && this.order !== null;
    if (!isHidden) announce(this, this.texts.errors[report.code] ?? this.texts.errors.other);
    this.requestUpdate();
  }

  protected clearError(): void {
    this.shownError = null;
    this.#failing = null;
    this.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.has('orderId')) this.clearError();
    this.watch.want({
      feed: this.#readFeed(),
      live: this.live === 'always' || this.live === 'off' ? this.live : 'visible',
      isPaused: this.#isPaused,
      pollIntervalSeconds: this.#readPollInterval(),
    });
    this.setStates();
  }

  /** Custom states for `:state()`; subclasses add theirs. */
  protected setStates(): void {
    this.setState('error', this.shownError !== null);
    this.setState('live', this.connection === 'live');
    this.setState('attention', this.order?.status.needsAttention === true);
    this.setState('terminal', this.order?.status.isTerminal === true);
  }

  protected setState(name: string, isOn: boolean): void {
    if (isOn) this.internals.states.add(name);
    else this.internals.states.delete(name);
  }

  /** Null while there is nothing to follow, or not enough to follow it. */
  #readFeed() {
    const endpoint = this.endpoint ?? this.gateway?.endpoint;
    if (!this.isConnected || !this.orderId || !endpoint || this.shownStatus === 'none') return null;
    try {
      return this.getClient().feed(this.orderId, this.privacy === 'full');
    } catch (cause) {
      if (!(cause instanceof PortalError)) throw cause;
      if (this.#reportedEndpoint !== endpoint) this.fail(cause, 'status');
      this.#reportedEndpoint = endpoint;
      return null;
    }
  }

  #readPollInterval(): number {
    if (this.pollInterval === 0) return 0;
    return this.pollInterval >= SHORTEST_POLL_SECONDS ? this.pollInterval : DEFAULT_POLL_SECONDS;
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
      announce(this, this.texts.changed.replace('{status}', label));
    }
  }

  /** What the status is drawn from now. */
  protected statusView(): StatusView {
    const { order, watch } = this;
    return {
      order,
      hasOrder: this.orderId !== null && this.orderId !== '',
      label: order ? this.readLabel(order.status) : '',
      form: this.shownStatus,
      connection: this.connection,
      confirmedAt: watch.confirmedAt,
      error: this.shownError?.about === 'status' ? this.shownError.error : null,
      texts: this.texts,
      language: this.closest<HTMLElement>('[lang]')?.lang || undefined,
      retry: () => void this.retry(),
    };
  }

  protected readLabel(status: PortalOrderStatus): string {
    return this.statusLabel?.(status) ?? status.label;
  }
}
