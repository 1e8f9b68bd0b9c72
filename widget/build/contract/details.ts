import type { PortalEventDetails } from '../../src/page/events.ts';

/** The `detail` of each event. The compiler compares it with the source: every field, and no other. */
const DETAILS: { readonly [Name in keyof PortalEventDetails]: Record<keyof PortalEventDetails[Name], true> } =
  {
    'portal-before-launch': { orderId: true },
    'portal-launched': { orderId: true },
    'portal-blocked': { orderId: true },
    'portal-returned': { orderId: true },
    'portal-status': { order: true, previous: true, source: true },
    'portal-connection': { connection: true, previous: true },
    'portal-error': { code: true, message: true, retryable: true, requestId: true },
  };

/** As a destructuring host writes it; empty for an event without `detail`. */
export function describeDetail(event: string): string {
  const found = Object.entries(DETAILS).find(([name]) => name === event);
  return found ? `{ ${Object.keys(found[1]).join(', ')} }` : '';
}
