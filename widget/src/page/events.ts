import type { PortalErrorReport } from '../gateway/errors.ts';
import type { TokenAnswer, TokenRequest } from '../gateway/token.ts';
import type { PortalOrder } from '../live/order.ts';
import type { ConnectionState, StatusSource } from '../live/order-listener.ts';

/** Asks the page for a token: a listener calls `respondWith`, once, before it returns. */
export class PortalTokenRequestEvent extends Event {
  readonly request: TokenRequest;
  #answer: Promise<TokenAnswer> | null = null;

  constructor(request: TokenRequest) {
    super('portal-token-request', { bubbles: true, composed: true });
    this.request = request;
  }

  /** The first answer counts. */
  respondWith(answer: TokenAnswer | Promise<TokenAnswer>): void {
    this.#answer ??= Promise.resolve(answer);
    this.stopImmediatePropagation();
  }

  /** The page's answer; null while nobody has answered. */
  get answer(): Promise<TokenAnswer> | null {
    return this.#answer;
  }
}

/** The events of the elements and what each carries: never a URL, never a token. */
export interface PortalEventDetails {
  'portal-before-launch': { readonly orderId: string | null };
  'portal-launched': { readonly orderId: string | null };
  'portal-blocked': { readonly orderId: string | null };
  'portal-returned': { readonly orderId: string | null };
  'portal-status': {
    readonly order: PortalOrder;
    readonly previous: PortalOrder | null;
    readonly source: StatusSource;
  };
  'portal-connection': { readonly connection: ConnectionState; readonly previous: ConnectionState };
  'portal-error': PortalErrorReport;
}

/** Dispatches one event; false when a listener cancelled it. */
export function emit<Name extends keyof PortalEventDetails>(
  target: EventTarget,
  name: Name,
  detail: PortalEventDetails[Name],
): boolean {
  // `portal-before-launch`, `portal-blocked` and `portal-error`.
  const cancelable = /before|blocked|error/.test(name);
  return target.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, cancelable, detail }));
}

type PortalEventMap = { [Name in keyof PortalEventDetails]: CustomEvent<PortalEventDetails[Name]> } & {
  'portal-token-request': PortalTokenRequestEvent;
};

declare global {
  /** Elements, document and window: the events bubble. */
  interface GlobalEventHandlersEventMap extends PortalEventMap {}
}
