import { adoptStyles, LitElement } from 'lit';

/**
 * A LitElement for pages that it does not know: they set properties before the upgrade, move elements into other
 * documents, and write tokens into attributes.
 */
export abstract class WidgetElement extends LitElement {
  protected readonly internals = this.attachInternals();
  #isReady = false;
  #isInPage = false;

  static override get observedAttributes(): string[] {
    // biome-ignore lint/complexity/noThisInStatic: Lit's own list for the class that is asked, not for LitElement
    return [...super.observedAttributes, 'token'];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Values from before the upgrade are newer than the attributes. Lit applies them with the first update, which is here
    // and draws nothing: the page may not have set everything yet.
    this.performUpdate();
    this.#isReady = true;
    this.requestUpdate();
    if (this.#isInPage) this.moved();
    else this.entered();
    this.#isInPage = true;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    // An element that is only moved returns in the same task. Until then it goes on as it was.
    queueMicrotask(() => {
      if (this.isConnected || !this.#isInPage) return;
      this.#isInPage = false;
      this.left();
    });
  }

  /** Moved by `moveBefore`, which neither removes nor inserts it. */
  connectedMoveCallback(): void {
    this.moved();
  }

  /** In another document, or back from one: the browser has taken the styles off. */
  adoptedCallback(): void {
    const { ownerDocument, shadowRoot } = this;
    const view = ownerDocument.defaultView;
    // Without a window it is only a store, as that of a template, and shows nothing.
    if (!shadowRoot || !view) return;
    const { elementStyles } = this.constructor as typeof LitElement;
    if (ownerDocument === document) {
      adoptStyles(shadowRoot, elementStyles);
      return;
    }
    // A document takes only sheets that were made in it.
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(elementStyles.join(''));
    shadowRoot.adoptedStyleSheets = [sheet];
  }

  override attributeChangedCallback(name: string, previous: string | null, text: string | null): void {
    if (name !== 'token') {
      super.attributeChangedCallback(name, previous, text);
    } else if (text !== null) {
      // Markup ends up in logs, caches and other people's tools.
      this.removeAttribute(name);
      this.tokenRemoved();
    }
  }

  protected override createRenderRoot(): ShadowRoot {
    const root = this.attachShadow({ mode: 'open' });
    this.adoptedCallback();
    return root;
  }

  /** Nothing is drawn outside the page: there is nobody to see it. */
  protected override shouldUpdate(): boolean {
    return this.#isReady && this.isConnected;
  }

  /** The element is in the page now. */
  protected entered(): void {}

  /** The element is at another place of the page. */
  protected moved(): void {}

  /** The element has left the page. */
  protected left(): void {}

  protected abstract tokenRemoved(): void;
}
