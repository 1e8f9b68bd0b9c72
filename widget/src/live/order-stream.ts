import { readFields, readText } from '../gateway/fields.ts';
import { type PortalOrder, readOrder } from './order.ts';

/** How an update came about: the kinds of the gateway, and READ for an order read over HTTP. */
type UpdateKind = 'SNAPSHOT' | 'CHANGED' | 'RECONCILED' | 'RESYNC' | 'READ';

/** One update of one order. `cursor` is null where there is none to resume from. */
export interface OrderUpdate {
  readonly kind: UpdateKind;
  readonly order: PortalOrder;
  readonly eventId: string | null;
  readonly cursor: string | null;
}

/** The shown state of an order, and the cursor to resume from. In memory only. */
export interface OrderStream {
  readonly order: PortalOrder | null;
  readonly cursor: string | null;
  /** Number of the newest order event shown: nothing older is shown after it. */
  readonly highWater: bigint | null;
  /** True until the first item of a subscription: only that item may replace the shown order. */
  readonly opening: boolean;
}

/** A stream that has shown nothing yet. */
export const emptyStream: OrderStream = { order: null, cursor: null, highWater: null, opening: true };

/** To be called whenever a subscription starts: its first SNAPSHOT or RESYNC is the truth. */
export function beginSubscription(stream: OrderStream): OrderStream {
  return { ...stream, opening: true };
}

/** Forgets the cursor after BAD_CURSOR, and when a stream is complete: the next subscription starts with a SNAPSHOT. */
export function forgetCursor(stream: OrderStream): OrderStream {
  return { ...stream, cursor: null };
}

/**
 * The stream after an update. Returns the same object if the update is older than the shown order. Its cursor is
 * ignored too: resuming too early only repeats, and resuming too late would lose an update.
 */
export function applyUpdate(stream: OrderStream, update: OrderUpdate): OrderStream {
  const number = readEventNumber(update);
  const replaces = stream.opening && (update.kind === 'SNAPSHOT' || update.kind === 'RESYNC');
  if (!replaces && isOlder(number, stream.highWater)) return stream;
  return {
    order: update.order,
    cursor: update.cursor ?? stream.cursor,
    highWater: number ?? (replaces ? null : stream.highWater),
    opening: update.kind === 'READ' && stream.opening,
  };
}

const KINDS: readonly UpdateKind[] = ['SNAPSHOT', 'RESYNC', 'RECONCILED'];

/** An update out of untrusted JSON; null when it names no order. An unknown kind counts as CHANGED: forward only. */
export function readUpdate(value: unknown, full = false): OrderUpdate | null {
  const fields = readFields(value);
  const order = readOrder(fields.order, full);
  if (!order) return null;
  const kind = KINDS.find((each) => each === fields.kind) ?? 'CHANGED';
  return { kind, order, eventId: readText(readFields(fields.event).id), cursor: readText(fields.cursor) };
}

/** The order rendered decides; the event's own id only where the order lists none. */
function readEventNumber(update: OrderUpdate): bigint | null {
  const id = update.order.events.at(-1)?.id ?? update.eventId;
  return id && /^\d+$/.test(id) ? BigInt(id) : null;
}

/** An update without a number is older than one with a number. */
function isOlder(number: bigint | null, highWater: bigint | null): boolean {
  return (number ?? -1n) < (highWater ?? -1n);
}
