import { PortalGateway } from './elements/portal-gateway.ts';
import { PortalLaunch } from './launch/portal-launch.ts';
import { warnOnce } from './page/warn-once.ts';
import { PortalOrderStatus } from './status/portal-order-status.ts';

/** The gateway comes first: the others look for it when they are upgraded. */
const ELEMENTS: readonly (readonly [string, CustomElementConstructor])[] = [
  ['portal-gateway', PortalGateway],
  ['portal-launch', PortalLaunch],
  ['portal-order-status', PortalOrderStatus],
];

/**
 * Registers the elements once per page; where there is no DOM it does nothing. The first copy on a page wins,
 * another one warns and stays silent.
 */
function define(): void {
  if (typeof customElements === 'undefined') return;
  const free = ELEMENTS.filter(([name]) => !customElements.get(name));
  // All or none: elements of two copies would not share a connection.
  if (free.length < ELEMENTS.length) {
    const isSame = ELEMENTS.every(([name, element]) => customElements.get(name) === element);
    if (!isSame) warnOnce('already defined; this copy is unused.');
    return;
  }
  for (const [name, element] of free) customElements.define(name, element);
}

define();
