import { PortalError } from './errors.ts';
import { PortalTokenRequestEvent } from './events.ts';
import type { TokenProvider } from './token.ts';

/** Who gives the tokens: `source` is the identity by which connections are shared. */
export interface TokenSource {
  readonly source: object;
  readonly provider: TokenProvider;
}

/** A host's function, or an element that asks the page by event. */
export function readTokenSource(provider: TokenProvider | null, asker: HTMLElement): TokenSource {
  if (provider) return { source: provider, provider };
  return { source: asker, provider: (request) => askPage(asker, new PortalTokenRequestEvent(request)) };
}

function askPage(asker: HTMLElement, event: PortalTokenRequestEvent) {
  asker.dispatchEvent(event);
  if (!event.answer) throw new PortalError('TOKEN_UNAVAILABLE');
  return event.answer;
}

/** Reports and removes a `token` attribute: markup ends up in logs, caches and other people's tools. */
export function removeTokenAttribute(element: Element): boolean {
  if (!element.hasAttribute('token')) return false;
  element.removeAttribute('token');
  return true;
}
