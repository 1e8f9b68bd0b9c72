import { html, nothing, type PropertyDeclarations, type PropertyValues } from 'lit';
import { type Drawing, drawError } from '../elements/drawing.ts';
import { toPortalError } from '../gateway/errors.ts';
import { withinLimit } from '../gateway/token.ts';
import { announce } from '../page/announcer.ts';
import { emit } from '../page/events.ts';
import { EXCLUDED, setMarks } from '../page/masks.ts';
import { PortalElement } from '../status/portal-element.ts';
import { drawStatus } from '../status/status-view.ts';
import type { Strings } from '../words/strings.ts';
import { requestLaunch } from './launch-request.ts';
import { drawLaunch } from './launch-view.ts';
import { goToPortal, isWebView, openLaunchWindow } from './launch-window.ts';

const LINK_LIFE_MS = 60_000;

/**
 * A button that opens the patient portal, with the order's status beside it.
 * Its public interface is in build/contract.ts.
 */
export class PortalLaunch extends PortalElement {
  static override properties: PropertyDeclarations = {
    mode: { useDefault: true },
    disabled: { type: Boolean },
    portalOrigins: { attribute: 'portal-origins' },
  };

  declare mode: 'tab' | 'redirect' | 'post';
  declare disabled: boolean;
  declare portalOrigins: string | null;
  #phase: 'idle' | 'opening' | 'link' = 'idle';
  /** Set only while the link is on screen: at most a minute, for one click. Null for `post`: its ticket is issued by the click. */
  #linkUrl: string | null = null;
  /** The aim of the last launch and of its link. */
  #aim = this.aim;
  #linkEnd: ReturnType<typeof setTimeout> | undefined;
  /** Aborts the launch in progress. */
  #launch = new AbortController();
  #isAway = false;
  #page = new AbortController();

  constructor() {
    super();
    this.mode = 'tab';
    this.disabled = false;
    this.portalOrigins = null;
    // Updates the label. A text node that changes in place, as those of frameworks do, causes no `slotchange`.
    const changes = { childList: true, characterData: true, subtree: true, attributeFilter: ['slot'] };
    new MutationObserver(() => this.requestUpdate()).observe(this, changes);
  }

  get phase(): 'idle' | 'opening' | 'link' {
    return this.#phase;
  }

  /**
   * Opens the portal. Call it in the task of a click; otherwise the browser blocks the tab and a link is shown
   * instead. Settles when the portal is on its way or the launch has failed; never rejects.
   */
  async launch(): Promise<void> {
    if (this.disabled || this.#phase === 'opening') return;
    if (!emit(this, 'portal-before-launch', { orderId: this.orderId })) return;
    // Read after the event: a listener may have changed them.
    const { orderId, mode, texts } = this;
    // Nothing may be awaited before this line: see openLaunchWindow.
    const tab =
      mode === 'redirect' || isWebView() ? window : openLaunchWindow(readWaiting(texts), this.language);
    if (!tab && !emit(this, 'portal-blocked', { orderId })) return;
    this.#reset();
    this.hideError('launch');
    this.#aim = this.aim;
    if (!tab && mode === 'post') return this.#showLink(null);
    this.#setPhase('opening');
    announce(this, texts.opening, this.language);
    const { signal } = this.#launch;
    try {
      const limit = withinLimit(signal);
      await this.#send(tab, limit);
      // The button stays busy until the page is left; it returns if the person stops the navigation.
      if (tab === window) limit.addEventListener('abort', () => signal.aborted || this.#reset());
    } catch (cause) {
      if (tab !== window) tab?.close();
      if (signal.aborted) return;
      this.#setPhase('idle');
      this.fail(toPortalError(cause, 'GATEWAY_ERROR'), 'launch');
    }
  }

  override click(): void {
    this.shadowRoot?.querySelector<HTMLElement>('.button')?.click();
  }

  protected override entered(): void {
    super.entered();
    this.#page = new AbortController();
    const options = { signal: this.#page.signal };
    const returned = () => this.#returned();
    const shown = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) return;
      this.#reset();
      returned();
    };
    document.addEventListener('visibilitychange', () => document.hidden || returned(), options);
    addEventListener('focus', returned, options);
    addEventListener('pageshow', shown, options);
  }

  protected override left(): void {
    super.left();
    this.#page.abort();
    this.#reset();
  }

  protected override readStates(): readonly (string | null)[] {
    const phase = this.#phase;
    return [
      ...super.readStates(),
      phase === 'opening' ? phase : null,
      phase === 'link' ? 'blocked' : null,
      this.disabled ? 'disabled' : null,
    ];
  }

  protected override drawing(): Drawing {
    const { texts } = this;
    const error = this.shownError('launch');
    const phase = this.#phase;
    const view = {
      phase,
      linkUrl: this.#linkUrl,
      isDisabled: this.disabled,
      hasError: Boolean(error),
      texts,
      launch: () => this.launch(),
      followLink: (event: MouseEvent) => this.#followLink(event),
    };
    return html`
      <div class="launch" part="launch">
        ${drawLaunch(view, this)}
        ${phase === 'link' ? html`<p class="note" part="note">${texts.blocked}</p>` : nothing}
        ${error ? drawError(error, { texts, id: 'error' }) : nothing}
        ${drawStatus(this.statusView())}
        <slot name="footer"></slot>
      </div>`;
  }

  protected override willUpdate(): void {
    const { aim } = this;
    // A link is for one order, gateway and person, and is removed if one of them changes. A launch is for one person.
    const isOver =
      this.#phase === 'link' ? this.disabled || this.#aim !== aim : this.#aim.source !== aim.source;
    if (isOver) this.#reset();
    super.willUpdate();
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    const link = this.renderRoot.querySelector('.link');
    if (link) setMarks(link, EXCLUDED, true);
  }

  /** Requests the portal's address and navigates the tab, or shows the link if there is no tab. */
  async #send(tab: Window | null, signal: AbortSignal): Promise<void> {
    const { orderId, mode } = this;
    const origins = this.portalOrigins ?? this.gateway?.portalOrigins ?? null;
    const target = await requestLaunch(
      this.getClient(),
      { orderId, isPost: mode === 'post', origins },
      signal,
    );
    if (!tab) {
      if (this.#aim === this.aim) this.#showLink(target.url);
      else this.#reset();
      return;
    }
    const isOnItsWay = goToPortal(tab, target);
    if (tab !== window) this.#setPhase('idle');
    if (isOnItsWay) this.#launched();
  }

  #showLink(url: string | null): void {
    this.#linkUrl = url;
    this.#setPhase('link');
    announce(this, this.texts.blocked, this.language);
    this.#linkEnd = setTimeout(() => this.#reset(), LINK_LIFE_MS);
  }

  /** The browser reads the address after the listeners, so it is dropped one task later. */
  #followLink(event: MouseEvent): void {
    // Only the first and the middle button follow a link.
    if (event.button > 1) return;
    setTimeout(() => {
      this.#reset();
      this.#launched();
    });
  }

  #launched(): void {
    this.#isAway = true;
    emit(this, 'portal-launched', { orderId: this.#aim.orderId });
  }

  #returned(): void {
    if (!this.#isAway) return;
    this.#isAway = false;
    emit(this, 'portal-returned', { orderId: this.#aim.orderId });
    void this.refresh();
  }

  /** Aborts the launch in progress: its answer is ignored, and its address is dropped. */
  #reset(): void {
    this.#launch.abort();
    this.#launch = new AbortController();
    clearTimeout(this.#linkEnd);
    this.#linkUrl = null;
    this.#setPhase('idle');
  }

  #setPhase(phase: 'idle' | 'opening' | 'link'): void {
    this.#phase = phase;
    this.requestUpdate();
  }
}

/** For the tab that waits: who opens what. */
function readWaiting({ waiting, opening }: Strings): string {
  const { host } = location;
  return host ? waiting.replace('{page}', () => host) : opening;
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-launch': PortalLaunch;
  }
}
