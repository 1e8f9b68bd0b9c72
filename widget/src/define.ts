import { isServer } from 'lit';
import { PortalGateway } from './elements/portal-gateway.ts';
import { PortalLaunch } from './launch/portal-launch.ts';
import { warnOnce } from './page/warn-once.ts';
import { PortalOrderStatus } from './status/portal-order-status.ts';

/** Declares the types of all elements and events, also for a page that imports only this module. */
export type {} from './index.ts';

/** The gateway comes first: the others look for it when they are upgraded. */
const ELEMENTS: readonly (readonly [string, CustomElementConstructor])[] = [
  ['portal-gateway', PortalGateway],
  ['portal-launch', PortalLaunch],
  ['portal-order-status', PortalOrderStatus],
];

/**
 * Registers the elements once per page. On a server it does nothing, even with the DOM of a library such as jsdom, because
 * Lit is not there. The first copy on a page wins; another copy only warns.
 */
function define(): void {
  if (isServer || typeof customElements === 'undefined') return;
  const isOther = ([name, element]: (typeof ELEMENTS)[number]) =>
    (customElements.get(name) ?? element) !== element;
  // All or none: elements of two copies would not share a connection.
  if (ELEMENTS.some(isOther)) {
    warnOnce('already defined; this copy is unused.');
    return;
  }
  for (const [name, element] of ELEMENTS) if (!customElements.get(name)) customElements.define(name, element);
}

define();
