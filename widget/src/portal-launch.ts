import { readPortalUrl } from './addresses.ts';
import { announce } from './announcer.ts';
import { type Child, type Drawing, h } from './dom.ts';
import { declareProperties } from './element.ts';
import { PortalError, type PortalErrorCode, toPortalError } from './errors.ts';
import { emit } from './events.ts';
import { type Fields, readFields } from './fields.ts';
import { type LaunchWindow, openLaunchWindow, useThisPage } from './launch-window.ts';
import { CREATE_LAUNCH_TICKET, CREATE_PORTAL_URL } from './operations.ts';
import { PortalElement } from './portal-element.ts';
import { drawError, drawSlot, drawStatus } from './status-view.ts';

const LAUNCH_LIMIT_MS = 15_000;
const LINK_LIFE_MS = 60_000;

/** What each refusal means; a type this widget does not know is GATEWAY_ERROR. */
const REFUSALS: Readonly<Record<string, PortalErrorCode>> = {
  PortalUrlRejected: 'PORTAL_REJECTED',
  FeatureNotEnabled: 'FEATURE_NOT_ENABLED',
  NotFound: 'NOT_FOUND',
  InputRejected: 'INPUT_REJECTED',
};

/**
 * A button that opens the patient portal, with the order's status beside it.
 *
 * @element portal-launch
 * @attr mode - `tab`: in a new tab; `redirect`: in this one; `post`: in a new tab, through the gateway's `POST /launch`
 * @fires portal-before-launch - cancel it to stop the launch
 * @fires portal-launched - the tab is on its way to the portal
 * @fires portal-blocked - the browser held the tab back; cancel it to show no link
 * @fires portal-returned - the person came back to this page
 * @slot - label of the button; a plain link here stands in where there are no scripts, and gives the label where there are
 * @slot icon - before the label
 * @slot loading - label while the portal opens
 * @slot blocked - label of the link that stands in for a blocked tab
 * @slot error - replaces the text of every error; `error-<code>` that of one
 * @slot footer - below everything
 */
export class PortalLaunch extends PortalElement {
  declare mode: 'tab' | 'redirect' | 'post';
  declare disabled: boolean;
  declare portalOrigins: string | null;
  #phase: 'idle' | 'opening' | 'link' = 'idle';
  /** Only while the link is on screen: at most a minute, and once. Null for `post`, whose ticket is made by the click. */
  #linkUrl: string | null = null;
  #linkEnd: ReturnType<typeof setTimeout> | undefined;
  /** Ends the launch that is under way. */
  #launch = new AbortController();
  #isAway = false;
  #hadFocus = false;
  #page = new AbortController();

  static {
    declareProperties(PortalLaunch, {
      mode: ['mode', 'tab'],
      disabled: ['disabled', false, () => true],
      portalOrigins: ['portal-origins', null],
    });
  }

  get phase(): 'idle' | 'opening' | 'link' {
    return this.#phase;
  }

  /**
   * Opens the portal. Call it in the task of a click, or the browser will hold the tab back and a link is shown
   * instead. Settles when the portal is on its way or the launch has failed; never rejects.
   */
  async launch(): Promise<void> {
    if (this.disabled || this.#phase === 'opening') return;
    const { orderId, mode, texts } = this;
    if (!emit(this, 'portal-before-launch', { orderId })) return;
    // Nothing may be awaited before this line: see openLaunchWindow.
    const tab = mode === 'redirect' ? useThisPage() : openLaunchWindow(texts.opening);
    if (!tab && !emit(this, 'portal-blocked', { orderId })) return;
    this.#reset();
    this.clearError();
    if (!tab && mode === 'post') return this.#showLink(null);
    this.#setPhase('opening');
    announce(this, texts.opening);
    const { signal } = this.#launch;
    try {
      const limit = AbortSignal.timeout(LAUNCH_LIMIT_MS);
      await this.#send(tab, AbortSignal.any([signal, limit]));
      // This page stays busy until it is left; a person who stops that gets the button back.
      if (mode === 'redirect') limit.addEventListener('abort', () => signal.aborted || this.#reset());
    } catch (cause) {
      tab?.close();
      if (signal.aborted) return;
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
    const returned = () => this.#returned();
    document.addEventListener('visibilitychange', () => document.hidden || returned(), { signal });
    addEventListener('focus', returned, { signal });
    addEventListener(
      'pageshow',
      ({ persisted }) => {
        if (!persisted) return;
        this.#reset();
        returned();
      },
      { signal },
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
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

  protected override drawing(): readonly Child[] {
    const { shownError, texts } = this;
    const error = shownError?.about === 'launch' ? shownError.error : null;
    const isLink = this.#phase === 'link';
    return [
      h(
        'div',
        'launch',
        {},
        this.#linkUrl ? this.#drawLink(this.#linkUrl) : this.#drawButton(error !== null),
        isLink && h('p', 'note', {}, texts.blocked),
        error && drawError(error, texts, null),
        ...drawStatus(this.statusView()),
        drawSlot('footer', null),
      ),
    ];
  }

  protected override update(): void {
    super.update();
    // The button became a link or the other way round under the person's focus.
    if (this.#hadFocus) this.#control?.focus();
    this.#hadFocus = false;
  }

  get #control(): HTMLElement | null {
    return this.root.querySelector<HTMLElement>('.button');
  }

  #drawButton(hasError: boolean): Drawing {
    const { texts } = this;
    const isOpening = this.#phase === 'opening';
    const words = this.#phase === 'link' ? drawSlot('blocked', texts.openLink) : this.#drawWords();
    return h(
      'button',
      isOpening ? 'button opening' : 'button',
      {
        type: 'button',
        disabled: this.disabled,
        'aria-disabled': isOpening && 'true',
        'aria-describedby': hasError && 'error',
        onclick: this.#clicked,
      },
      ...drawLabel(words, drawSlot('loading', texts.opening)),
    );
  }

  /** The host's words, else ours. Beside the slot and not in it: a line break alone counts as filling a slot. */
  #drawWords(): Drawing {
    const nodes = [...this.childNodes];
    // A plain link is for browsers without scripts. Here it only gives its words, from a slot that is never drawn.
    const link = nodes.find((node) => node instanceof HTMLAnchorElement && /^(link)?$/.test(node.slot));
    if (link instanceof Element) link.slot = 'link';
    const isFilled = nodes.some((node) => (node instanceof Element ? !node.slot : node.textContent?.trim()));
    const words = !isFilled && (link?.textContent?.trim() || this.texts.open);
    return h('span', '', {}, h('slot', '', { onslotchange: this.#slotChanged }), words);
  }

  #drawLink(href: string): Drawing {
    return h(
      'a',
      'button link',
      {
        href,
        target: '_blank',
        rel: 'noopener noreferrer',
        referrerpolicy: 'no-referrer',
        onclick: this.#followLink,
        onauxclick: this.#followLink,
      },
      ...drawLabel(drawSlot('blocked', this.texts.openLink), null),
    );
  }

  readonly #clicked = () => this.launch();
  readonly #slotChanged = () => this.requestUpdate();

  /** Asks the gateway for the way to the portal and goes there, or shows the link where there is no tab to go in. */
  async #send(tab: LaunchWindow | null, signal: AbortSignal): Promise<void> {
    const client = this.getClient();
    const isPost = this.mode === 'post';
    const { orderId } = this;
    const query = isPost ? CREATE_LAUNCH_TICKET : CREATE_PORTAL_URL;
    const { launch } = await client.execute(
      { query, variables: { orderId }, scope: 'launch', orderId },
      signal,
    );
    const answer = readFields(launch);
    const url = isPost ? readTicketAddress(client.endpoint, answer) : this.#readUrl(answer);
    if (!tab) return this.#showLink(url);
    const isOnItsWay = isPost ? tab.post(url, String(answer.ticket)) : tab.navigate(url);
    if (this.mode !== 'redirect') this.#setPhase('idle');
    if (isOnItsWay) this.#launched();
  }

  #readUrl(answer: Fields): string {
    if (answer.__typename !== 'PortalUrl') throw toRefusal(answer);
    return readPortalUrl(answer.url, this.portalOrigins ?? this.gateway?.portalOrigins ?? null);
  }

  #showLink(url: string | null): void {
    this.#linkUrl = url;
    this.#setPhase('link');
    announce(this, this.texts.blocked);
    this.#linkEnd = setTimeout(() => this.#reset(), LINK_LIFE_MS);
  }

  /** The browser reads the address after the listeners, so it is dropped one task later. */
  #followLink = (event: MouseEvent): void => {
    if (event.type === 'auxclick' && event.button !== 1) return;
    setTimeout(() => {
      this.#reset();
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

  /** What was under way belongs to nobody now: its answer is not heard, and its address is gone. */
  #reset(): void {
    this.#launch.abort();
    this.#launch = new AbortController();
    clearTimeout(this.#linkEnd);
    this.#linkUrl = null;
    this.#setPhase('idle');
  }

  #setPhase(phase: 'idle' | 'opening' | 'link'): void {
    if (phase === this.#phase) return;
    const { activeElement } = this.root;
    this.#hadFocus = activeElement !== null && activeElement === this.#control;
    this.#phase = phase;
    this.requestUpdate();
  }
}

/** Both labels lie on one another, so that the button never changes its size. */
function drawLabel(...labels: readonly Child[]): readonly Drawing[] {
  const layers = labels.map((label) => label && h('span', 'layer', {}, label));
  return [
    drawSlot('icon', null),
    h('span', 'button-label', {}, ...layers),
    h(
      'svg',
      'away-icon',
      { viewBox: '0 0 16 16', 'aria-hidden': 'true' },
      h('path', '', { d: 'M6 3h7v7M13 3 4 12' }),
    ),
  ];
}

function readTicketAddress(endpoint: string, answer: Fields): string {
  if (answer.__typename !== 'LaunchTicket') throw toRefusal(answer);
  return new URL('/launch', endpoint).href;
}

function toRefusal(answer: Fields): PortalError {
  if (answer.demographicsMissing === true) return new PortalError('DEMOGRAPHICS_MISSING');
  return new PortalError(REFUSALS[String(answer.__typename)] ?? 'GATEWAY_ERROR');
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-launch': PortalLaunch;
  }
}
