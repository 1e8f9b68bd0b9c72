import type { Service } from '../../../service/service.ts';
import { isLastPage, listOrders, maxOrderPage, walkOrders } from './rest.ts';
import type { OrderFilter } from './rest-filter.ts';
import type { CurrentOrder, Order } from './rest-order.ts';

/**
 * The orders of the filter that changed last, at most 100. The service cannot sort by change, so the newest are read first,
 * and then older ones that changed after the hundredth of those read: one call for a user with more than 100 orders, and
 * another one if there are more than 100 such orders.
 */
export async function listLastChangedOrders(
  service: Service,
  filter: OrderFilter,
): Promise<readonly CurrentOrder[]> {
  const orders = new Map<string, CurrentOrder>();
  const add = (rows: readonly (CurrentOrder | null)[]) => {
    for (const order of rows) if (order !== null) orders.set(order.id, order);
  };
  let isWhole = false;
  // Further pages are read only when the service does not filter or gives fewer.
  for await (const { rows, isLast } of walkOrders(service, filter, 20)) {
    add(rows);
    isWhole = isLast;
    if (orders.size >= maxOrderPage) break;
  }
  for (let calls = 0; calls < 2 && !isWhole && orders.size >= maxOrderPage; calls += 1) {
    const until = firstPlaced([...orders.values()]);
    const request = { page: 1, size: maxOrderPage, until };
    const updatedAfter = lastChanged(orders).at(-1)?.updatedAt;
    const older = await listOrders(service, { ...filter, updatedAfter }, request);
    add(older.rows);
    const ignoresBound = older.times?.some((time) => time !== null && until !== null && time > until);
    isWhole = ignoresBound === true || isLastPage(older, { page: 1, count: older.rows.length });
  }
  return lastChanged(orders);
}

function lastChanged(orders: ReadonlyMap<string, CurrentOrder>): readonly CurrentOrder[] {
  return [...orders.values()].toSorted((a, b) => changedAt(b) - changedAt(a)).slice(0, maxOrderPage);
}

/** When an order last changed, in milliseconds of the epoch; 0 where the service does not show it. */
export function changedAt({ updatedAt, createdAt }: Order): number {
  return (updatedAt ?? createdAt)?.getTime() ?? 0;
}

function firstPlaced(orders: readonly Order[]): Date | null {
  const times = orders.flatMap(({ createdAt }) => createdAt?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.min(...times));
}
