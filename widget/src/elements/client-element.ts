import {
  type CSSResultGroup,
  html,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  render,
  unsafeCSS,
} from 'lit';
import { joinClient, leaveClients, type PortalClient } from '../client/client.ts';
import { type Diagnosis, diagnose } from '../client/diagnosis.ts';
import { PortalError, type PortalErrorReport, reportError } from '../gateway/errors.ts';
import type { TokenProvider } from '../gateway/token.ts';
import { announce } from '../page/announcer.ts';
import { emit, PortalTokenRequestEvent } from '../page/events.ts';
import { MASKED, setMarks } from '../page/masks.ts';
import { warnOnce } from '../page/warn-once.ts';
import {
  isSpoken,
  readLanguage,
  readStrings,
  reportMissing,
  whenLanguageChanged,
} from '../words/language.ts';
import type { PartialStrings, Strings } from '../words/strings.ts';
import type { Drawing } from './drawing.ts';
import { findGateway, type PortalGateway } from './portal-gateway.ts';
import styles from './styles.css?inline';
import { WidgetElement } from './widget-element.ts';

/** A page may name its gateway and give its token a little later than it shows the element. */
const TIME_FOR_PAGE_MS = 3000;
const ASK_AGAIN_MS = 250;

/** Where an element shows an error: one of each at a time. */
export type ErrorPlace = 'status' | 'launch' | 'results';

/** What an element shows: an order of a gateway, for the person whose token comes from this source. */
export interface Aim {
  readonly orderId: string | null;
  /** Empty where the page names none. */
  readonly endpoint: string;
  readonly source: object;
}

/** Base of every element that shows something: its gateway and client, its texts, its errors, the frame around it. */
export abstract class ClientElement extends WidgetElement {
  static override styles: CSSResultGroup = unsafeCSS(styles);
  static override properties: PropertyDeclarations = {
    endpoint: {},
    orderId: { attribute: 'order-id' },
    live: { useDefault: true },
    privacy: { useDefault: true },
    tokenProvider: { attribute: false },
    client: { attribute: false },
    strings: { attribute: false },
  };

  declare endpoint: string | null;
  declare orderId: string | null;
  declare live: 'visible' | 'always' | 'off';
  declare privacy: 'minimal' | 'full';
  declare tokenProvider: TokenProvider | null;
  declare client: PortalClient | null;
  declare strings: PartialStrings | null;

  protected gateway: PortalGateway | null = null;
  #aim: Aim | null = null;
  readonly #shownErrors = new Map<ErrorPlace, PortalErrorReport>();
  #lastError: PortalErrorReport | null = null;
  #isPageDue = false;
  #pageDue: ReturnType<typeof setTimeout> | undefined;
  /** Whether something drawn was replaced, as translators do. Lit would change what is gone. */
  #isReplaced = false;
  readonly #inspect = (changes: readonly MutationRecord[]) => {
    this.#isReplaced ||= changes.some(({ removedNodes }) => removedNodes.length);
  };
  readonly #changes = new MutationObserver(this.#inspect);
  #leaveGateway: (() => void) | undefined;
  #leaveLanguage: (() => void) | undefined;

  constructor() {
    super();
    this.endpoint = null;
    this.orderId = null;
    this.live = 'visible';
    this.privacy = 'minimal';
    this.tokenProvider = null;
    this.client = null;
    this.strings = null;
  }

  /** The last failure, also when it is no longer shown. */
  get lastError(): PortalErrorReport | null {
    return this.#lastError;
  }

  /** In place of `delegatesFocus`, with which a click on the text beside the button would focus it. */
  override focus(options?: FocusOptions): void {
    this.shadowRoot?.querySelector<HTMLElement>('button:enabled,a')?.focus(options);
  }

  /** Tries the way to the gateway step by step and names the first thing that is in its way. Never rejects. */
  diagnose(): Promise<Diagnosis> {
    return diagnose(() => this.getClient());
  }

  protected override entered(): void {
    this.#leaveLanguage = whenLanguageChanged(() => this.requestUpdate());
    this.#pageDue = setTimeout(() => {
      this.#isPageDue = true;
      this.requestUpdate();
    }, TIME_FOR_PAGE_MS);
    this.moved();
  }

  protected override moved(): void {
    this.#leaveGateway?.();
    this.gateway = findGateway(this);
    this.#leaveGateway = this.gateway?.addDependant(this);
    this.requestUpdate();
  }

  protected override left(): void {
    clearTimeout(this.#pageDue);
    this.#leaveLanguage?.();
    this.#leaveGateway?.();
    this.gateway = null;
    leaveClients(this);
  }

  /** The same object until one of its three values changes. After a change, nothing shown before is valid. */
  protected get aim(): Aim {
    const { orderId, gateway } = this;
    const endpoint = this.endpoint || gateway?.endpoint || '';
    // Elements that ask by event ask the same page, so they share too.
    const source = this.#ownClient ?? this.#provider ?? gateway ?? document;
    const aim = { orderId, endpoint, source };
    if (differ(aim, this.#aim)) this.#aim = aim;
    return this.#aim ?? aim;
  }

  /** The language of the texts: the page's, or English where the page's is not there or it names none. */
  protected get language(): string {
    const language = readLanguage(this);
    return language && (isSpoken(language) || this.strings) ? language : 'en';
  }

  protected get texts(): Strings {
    return readStrings(this.language, this.strings);
  }

  /** Whether `getClient` is worth a call: there is a gateway, or it is time to say that there is none. */
  protected get isEndpointDue(): boolean {
    return Boolean(this.#ownClient || this.aim.endpoint || this.#isPageDue);
  }

  /** @throws PortalError ENDPOINT_INVALID, also where there is no endpoint at all */
  protected getClient(): PortalClient {
    const { aim, gateway } = this;
    const provider = this.#provider;
    const isDue = () => this.#isPageDue || !this.isConnected || this.#provider;
    return this.#ownClient ?? joinClient(this, aim, (user) => provider ?? askPage(gateway ?? user, isDue));
  }

  /** Makes an error known: event, `lastError`, screen readers, and in its place on screen unless the host cancelled it. */
  protected fail(error: PortalError, place: ErrorPlace | null): void {
    // These are the page's own faults: its developer looks into the console.
    if (/^(ENDPOINT|TOKEN)/.test(error.code)) warnOnce(`${error.code} (docs/embedding.md).`);
    const report = reportError(error, this.texts);
    this.#lastError = report;
    if (!emit(this, 'portal-error', report) || !place) return;
    this.#shownErrors.set(place, report);
    announce(this, report.message, this.language);
    this.requestUpdate();
  }

  /** The error shown in this place, if there is one. */
  protected shownError(place: ErrorPlace): PortalErrorReport | undefined {
    return this.#shownErrors.get(place);
  }

  protected hideError(place: ErrorPlace): void {
    if (this.#shownErrors.delete(place)) this.requestUpdate();
  }

  protected override tokenRemoved(): void {
    this.fail(new PortalError('TOKEN_IN_ATTRIBUTE'), null);
  }

  get #provider(): TokenProvider | null | undefined {
    return this.tokenProvider ?? this.gateway?.tokenProvider;
  }

  /** The host's client. An endpoint of the element's own counts more than a client of the gateway around it. */
  get #ownClient(): PortalClient | null {
    return this.client ?? (this.endpoint ? null : (this.gateway?.client ?? null));
  }

  /** Custom states for `:state()`; null ones are off. */
  protected readStates(): readonly (string | null)[] {
    return [this.#shownErrors.size ? 'error' : null];
  }

  protected override render(): Drawing {
    const { language } = this;
    const wished = readLanguage(this);
    if (language !== wished) reportMissing(wished);
    // Translators do not look for these around a shadow tree. English on a page in another language is read out as English.
    return html`<div class="frame" part="frame" lang=${language} translate=${this.translate ? nothing : 'no'}>${this.drawing()}</div>`;
  }

  protected override update(changed: PropertyValues): void {
    const { renderRoot } = this;
    const focused = this.shadowRoot?.activeElement;
    this.#inspect(this.#changes.takeRecords());
    if (this.#isReplaced) render(nothing, renderRoot);
    super.update(changed);
    this.#isReplaced = false;
    // The changes of this update are not counted.
    this.#changes.disconnect();
    this.#changes.observe(renderRoot, { childList: true, subtree: true });
    const states = this.readStates();
    // Browsers have these states since 2024. Older ones have none, or others.
    try {
      this.internals.states.clear();
      for (const state of states) if (state) this.internals.states.add(state);
    } catch {}
    const [frame, button] = renderRoot.querySelectorAll<HTMLElement>('.frame,.button');
    if (frame) setMarks(frame, MASKED, this.privacy !== 'full');
    // The focused control is gone: its replacement gets the focus, or the frame, until the person moves on.
    if (!focused || this.shadowRoot?.activeElement) return;
    if (frame && !button) {
      frame.tabIndex = -1;
      frame.onblur = () => frame.removeAttribute('tabindex');
    }
    (button ?? frame)?.focus();
  }

  /** The current content. */
  protected abstract drawing(): Drawing;
}

/** Whether two objects of one type differ in a value. */
export function differ<Value extends object>(one: Value, other: Value | null): boolean {
  for (const key in one) if (one[key] !== other?.[key]) return true;
  return false;
}

/** A provider that asks the page by event, on behalf of this element: again and again until the page should have loaded. */
function askPage(asker: HTMLElement, isDue: () => unknown): TokenProvider {
  return async (request) => {
    for (;;) {
      const event = new PortalTokenRequestEvent(request);
      asker.dispatchEvent(event);
      // No answer is refused as an empty one is.
      if (event.answer || isDue()) return event.answer ?? '';
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  };
}
