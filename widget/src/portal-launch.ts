import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { readPortalUrl } from './addresses.ts';
import { announce } from './announcer.ts';
import { PortalError, type PortalErrorCode, toPortalError } from './errors.ts';
import { emit } from './events.ts';
import { type LaunchWindow, openLaunchWindow } from './launch-window.ts';
import { CREATE_PORTAL_URL } from './operations.ts';
import { isFields } from './order.ts';
import { PortalElement } from './portal-element.ts';
import { renderError, renderStatus } from './status-view.ts';

const LAUNCH_LIMIT_MS = 15_000;
const LINK_LIFE_MS = 60_000;

/** What each refusal of `createPortalUrl` means; a type this widget does not know is GATEWAY_ERROR. */
const REFUSALS: Readonly<Record<string, PortalErrorCode>> = {
  PortalUrlRejected: 'PORTAL_REJECTED',
  FeatureNotEnabled: 'FEATURE_NOT_ENABLED',
  NotFound: 'NOT_FOUND',
  InputRejected: 'INPUT_REJECTED',
};

/**
 * A button that opens the patient portal in a new tab, with the order's status beside it.
 *
 * @element portal-launch
 * @fires portal-before-launch - cancel it to stop the launch
 * @fires portal-launched - the tab is on its way to the portal
 * @fires portal-blocked - the browser held the tab back; cancel it to show no link
 * @fires portal-returned - the person came back to this page
 * @slot - label of the button
 * @slot icon - before the label
 * @slot loading - label while the portal opens
 * @slot blocked - label of the link that stands in for a blocked tab
 * @slot error - replaces the text of every error; `error-<code>` that of one
 * @slot footer - below everything
 */
export class PortalLaunch extends PortalElement {
  static override properties: PropertyDeclarations = {
    disabled: { type: Boolean },
    portalOrigins: { attribute: 'portal-origins' },
  };

  declare disabled: boolean;
  declare portalOrigins: string | null;
  #phase: 'idle' | 'opening' | 'link' = 'idle';
  /** Only while the link is on screen: at most a minute, and once. */
  #linkUrl: string | null = null;
  #linkEnd: ReturnType<typeof setTimeout> | undefined;
  #launches = 0;
  #isAway = false;
  #hadFocus = false;
  #page: AbortController | null = null;

  constructor() {
    super();
    this.disabled = false;
    this.portalOrigins = null;
  }

  get phase(): 'idle' | 'opening' | 'link' {
    return this.#phase;
  }

  /**
   * Opens the portal in a new tab. Call it in the task of a click, or the browser will hold the tab back and a
   * link is shown instead. Settles when the tab is on its way or the launch has failed; never rejects.
   */
  async launch(): Promise<void> {
    if (this.disabled || this.#phase === 'opening') return;
    const { orderId } = this;
    if (!emit(this, 'portal-before-launch', { orderId })) return;
    // Nothing may be awaited before this line: see openLaunchWindow.
    const tab = openLaunchWindow(this.texts.opening);
    if (!tab && !emit(this, 'portal-blocked', { orderId })) return;
    this.#launches += 1;
    const launch = this.#launches;
    this.#dropLink();
    this.clearError();
    this.#setPhase('opening');
    announce(this, this.texts.opening);
    try {
      const url = await this.#createPortalUrl(orderId);
      if (launch !== this.#launches) return tab?.close();
      this.#send(url, tab);
    } catch (cause) {
      tab?.close();
      if (launch !== this.#launches) return;
      this.#setPhase('idle');
      this.fail(toPortalError(cause, 'GATEWAY_ERROR'), 'launch');
    }
  }

  override click(): void {
    this.#control?.click();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#page = new AbortController();
    const { signal } = this.#page;
    document.addEventListener('visibilitychange', () => document.hidden || this.#returned(), { signal });
    window.addEventListener('focus', () => this.#returned(), { signal });
    window.addEventListener('pageshow', (event) => event.persisted && this.#restored(), { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#page?.abort();
    this.#reset();
  }

  protected override setStates(): void {
    super.setStates();
    this.setState('opening', this.#phase === 'opening');
    this.setState('blocked', this.#phase === 'link');
    this.setState('disabled', this.disabled);
  }

  protected override updated(changed: PropertyValues): void {
    super.updated(changed);
    const control = this.#control;
    // The button became a link or the other way round under the person's focus.
    if (this.#hadFocus && control) control.focus();
    this.#hadFocus = false;
  }

  override render() {
    const launchError = this.shownError?.about === 'launch' ? this.shownError.error : null;
    return html`
      <div part="launch" class="launch">
        ${this.#phase === 'link' ? this.#renderLink() : this.#renderButton(launchError !== null)}
        ${this.#phase === 'link' ? html`<p class="note" part="note">${this.texts.blocked}</p>` : nothing}
        ${launchError ? html`<div id="error">${renderError(launchError, this.texts, null)}</div>` : nothing}
        ${this.shownStatus === 'none' ? nothing : renderStatus(this.statusView())}
        <slot name="footer"></slot>
      </div>`;
  }

  get #control(): HTMLElement | null {
    return this.renderRoot?.querySelector<HTMLElement>('[part~="button"]') ?? null;
  }

  #renderButton(hasError: boolean): TemplateResult {
    const { texts } = this;
    const isOpening = this.#phase === 'opening';
    return html`
      <button
        part="button"
        class="button ${isOpening ? 'opening' : ''}"
        type="button"
        ?disabled=${this.disabled}
        aria-disabled=${isOpening ? 'true' : nothing}
        aria-describedby=${hasError ? 'error' : nothing}
        @click=${() => this.launch()}
      >
        <slot name="icon"></slot>
        <span class="label" part="label">
          <span><slot>${texts.open}</slot></span>
          <span><slot name="loading">${texts.opening}</slot></span>
        </span>
        <svg class="away" part="away-icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M6 3h7v7M13 3 4 12" /></svg>
      </button>`;
  }

  #renderLink(): TemplateResult {
    return html`
      <a
        part="button link"
        class="button"
        href=${this.#linkUrl ?? nothing}
        target="_blank"
        rel="noopener noreferrer"
        referrerpolicy="no-referrer"
        @click=${this.#followLink}
        @auxclick=${this.#followLink}
      >
        <slot name="icon"></slot>
        <span class="label" part="label"><span><slot name="blocked">${this.texts.openLink}</slot></span></span>
        <svg class="away" part="away-icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M6 3h7v7M13 3 4 12" /></svg>
      </a>`;
  }

  async #createPortalUrl(orderId: string | null): Promise<string> {
    const request = { query: CREATE_PORTAL_URL, variables: { orderId }, scope: 'launch', orderId } as const;
    const answer = await this.getClient().execute(request, AbortSignal.timeout(LAUNCH_LIMIT_MS));
    const result = answer.createPortalUrl;
    if (!isFields(result)) throw new PortalError('GATEWAY_ERROR');
    if (result.__typename === 'PortalUrl') {
      return readPortalUrl(result.url, this.portalOrigins ?? this.gateway?.portalOrigins ?? null);
    }
    if (result.demographicsMissing === true) throw new PortalError('DEMOGRAPHICS_MISSING');
    throw new PortalError(REFUSALS[String(result.__typename)] ?? 'GATEWAY_ERROR');
  }

  #send(url: string, tab: LaunchWindow | null): void {
    if (tab) {
      this.#setPhase('idle');
      if (tab.navigate(url)) this.#launched();
      return;
    }
    this.#linkUrl = url;
    this.#setPhase('link');
    announce(this, this.texts.blocked);
    this.#linkEnd = setTimeout(() => this.#dropLink(), LINK_LIFE_MS);
  }

  /** The browser reads the address after the listeners, so it is dropped one task later. */
  #followLink = (event: MouseEvent): void => {
    if (event.type === 'auxclick' && event.button !== 1) return;
    setTimeout(() => {
      this.#dropLink();
      this.#launched();
    });
  };

  #launched(): void {
    this.#isAway = true;
    emit(this, 'portal-launched', { orderId: this.orderId });
  }

  #returned(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    emit(this, 'portal-returned', { orderId: this.orderId });
    void this.refresh();
  }

  #dropLink(): void {
    clearTimeout(this.#linkEnd);
    this.#linkUrl = null;
    if (this.#phase === 'link') this.#setPhase('idle');
  }

  #restored(): void {
    this.#reset();
    this.#returned();
  }

  /** What was under way when the page was left belongs to nobody now. */
  #reset(): void {
    this.#launches += 1;
    this.#dropLink();
    this.#setPhase('idle');
  }

  #setPhase(phase: 'idle' | 'opening' | 'link'): void {
    if (phase === this.#phase) return;
    this.#hadFocus = this.shadowRoot?.activeElement === this.#control && this.#control !== null;
    this.#phase = phase;
    this.requestUpdate();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-launch': PortalLaunch;
  }
}
