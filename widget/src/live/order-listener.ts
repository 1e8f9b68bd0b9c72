import type { PortalError } from '../gateway/errors.ts';
import type { PortalOrder } from './order.ts';

/** How fresh the shown order is. */
export type ConnectionState = 'idle' | 'connecting' | 'live' | 'stale' | 'polling' | 'offline' | 'closed';

/** Where a status came from. */
export type StatusSource = 'snapshot' | 'changed' | 'reconciled' | 'resync' | 'read';

/** One element's listener to an order. */
export interface OrderListener {
  /** Seconds between two reads while the order cannot be followed live; 0 = never. */
  pollIntervalSeconds(): number;
  orderChanged(order: PortalOrder, source: StatusSource): void;
  connectionChanged(connection: ConnectionState): void;
  orderFailed(error: PortalError): void;
}

/** A mistake of the page behind one listener is reported to the page, and costs neither the connection nor the others. */
export function notify(listeners: ReadonlySet<OrderListener>, say: (listener: OrderListener) => void): void {
  for (const listener of [...listeners]) {
    try {
      say(listener);
    } catch (cause) {
      globalThis.reportError(cause);
    }
  }
}
