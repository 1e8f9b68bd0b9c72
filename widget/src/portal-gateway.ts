import type { PortalClient } from './client.ts';
import { findAround } from './dom.ts';
import { declareProperties, WidgetElement } from './element.ts';
import { PortalError, reportError } from './errors.ts';
import { emit } from './events.ts';
import { readLanguage, readStrings } from './language.ts';
import type { TokenProvider } from './token.ts';

/**
 * Gives endpoint, token and one shared connection to every element inside. Shows nothing of its own.
 * Its public interface is in build/contract.ts.
 */
export class PortalGateway extends WidgetElement {
  declare endpoint: string | null;
  declare portalOrigins: string | null;
  declare tokenProvider: TokenProvider | null;
  /** A client of the host's own, instead of endpoint and token. */
  declare client: PortalClient | null;
  readonly #dependants = new Set<WidgetElement>();

  static {
    declareProperties(PortalGateway, {
      endpoint: ['endpoint', null],
      portalOrigins: ['portal-origins', null],
      tokenProvider: [null, null],
      client: [null, null],
    });
  }

  constructor() {
    super(false);
    this.root.append(document.createElement('slot'));
  }

  /** An element inside that is to be updated when something here changes; call the answer when it leaves. */
  addDependant(element: WidgetElement): () => void {
    this.#dependants.add(element);
    return () => this.#dependants.delete(element);
  }

  protected override update(): void {
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
