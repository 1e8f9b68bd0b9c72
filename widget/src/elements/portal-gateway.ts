import { html, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';
import type { PortalClient } from '../client/client.ts';
import { PortalError, reportError } from '../gateway/errors.ts';
import type { TokenProvider } from '../gateway/token.ts';
import { emit } from '../page/events.ts';
import { findAround } from '../page/find-around.ts';
import { readLanguage, readStrings } from '../words/language.ts';
import { WidgetElement } from './widget-element.ts';

/**
 * Gives endpoint, token and one shared connection to every element inside. Shows nothing of its own.
 * Its public interface is in build/contract.ts.
 */
export class PortalGateway extends WidgetElement {
  static override styles = unsafeCSS(':host{display:contents}:host([hidden]){display:none}');
  static override properties: PropertyDeclarations = {
    endpoint: {},
    portalOrigins: { attribute: 'portal-origins' },
    tokenProvider: { attribute: false },
    client: { attribute: false },
  };

  declare endpoint: string | null;
  declare portalOrigins: string | null;
  declare tokenProvider: TokenProvider | null;
  /** A client of the host's own, instead of endpoint and token. */
  declare client: PortalClient | null;
  readonly #dependants = new Set<WidgetElement>();

  constructor() {
    super();
    this.endpoint = null;
    this.portalOrigins = null;
    this.tokenProvider = null;
    this.client = null;
  }

  /** An element inside that is to be updated when something here changes; call the answer when it leaves. */
  addDependant(element: WidgetElement): () => void {
    this.#dependants.add(element);
    return () => this.#dependants.delete(element);
  }

  protected override render(): TemplateResult {
    return html`<slot></slot>`;
  }

  protected override updated(): void {
    for (const element of this.#dependants) element.requestUpdate();
  }

  protected override tokenRemoved(): void {
    const texts = readStrings(readLanguage(this), null);
    emit(this, 'portal-error', reportError(new PortalError('TOKEN_IN_ATTRIBUTE'), texts));
  }
}

/** The nearest gateway around an element, through shadow roots. */
export function findGateway(element: Element): PortalGateway | null {
  const found = findAround(element, 'portal-gateway');
  return found instanceof PortalGateway ? found : null;
}

declare global {
  interface HTMLElementTagNameMap {
    'portal-gateway': PortalGateway;
  }
}
