import { css, html, LitElement } from 'lit';
import { PortalError } from './errors.ts';
import { emit } from './events.ts';
import type { TokenProvider } from './token.ts';
import { removeTokenAttribute } from './token-source.ts';

/**
 * Gives endpoint, token and one shared connection to every element inside. Shows nothing of its own.
 *
 * @element portal-gateway
 * @fires portal-token-request - when no `tokenProvider` is set
 * @slot - the page's own content
 */
export class PortalGateway extends LitElement {
  static override properties = {
    endpoint: {},
    portalOrigins: { attribute: 'portal-origins' },
    tokenProvider: { attribute: false },
    // Observed only to be removed.
    token: { noAccessor: true },
  };
  static override styles = css`:host { display: contents } :host([hidden]) { display: none }`;

  declare endpoint: string | null;
  declare portalOrigins: string | null;
  declare tokenProvider: TokenProvider | null;
  readonly #dependants = new Set<LitElement>();

  constructor() {
    super();
    this.endpoint = null;
    this.portalOrigins = null;
    this.tokenProvider = null;
  }

  override attributeChangedCallback(name: string, old: string | null, value: string | null): void {
    if (name !== 'token') super.attributeChangedCallback(name, old, value);
    else if (removeTokenAttribute(this)) {
      emit(this, 'portal-error', new PortalError('TOKEN_IN_ATTRIBUTE').report());
    }
  }

  /** An element inside that is to be updated when something here changes; call the answer when it leaves. */
  addDependant(element: LitElement): () => void {
    this.#dependants.add(element);
    return () => this.#dependants.delete(element);
  }

  override updated(): void {
    for (const element of this.#dependants) element.requestUpdate();
  }

  override render() {
    return html`<slot></slot>`;
  }
}

/** The nearest gateway around an element, through shadow roots. */
export function findGateway(element: Element): PortalGateway | null {
  const found = element.closest('portal-gateway');
  if (found instanceof PortalGateway) return found;
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? findGateway(root.host) : null;
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-gateway': PortalGateway;
  }
}
