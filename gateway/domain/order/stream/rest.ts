import type { Service } from '../../../service/service.ts';
import { listOrderRows, maxOrderPage, type OrderRow } from '../read/rest.ts';

/** 100,000 orders: more do not change within one look back. */
const maxPages = 1000;

/** An order that changed, as the webhook would have told it. */
export interface ChangedOrder {
  readonly changedAt: Date | null;
  readonly message: {
    readonly type: string;
    readonly userId: string;
    readonly clientUserId: null;
    readonly teamId: string | null;
    readonly subject: { readonly id: string; readonly version: number };
    readonly body: Buffer;
  };
}

/**
 * Every order that changed since then, each page as it comes. A service that does not filter by time is walked
 * through whole. Orders added meanwhile push others to later pages, so one may come twice; none is passed over.
 * @throws GatewayError what the service answered with
 */
export async function* listChangedOrders(service: Service, since: Date): AsyncGenerator<ChangedOrder> {
  const seen = new Set<string>();
  for (let page = 1; page <= maxPages; page += 1) {
    const request = { page, size: maxOrderPage };
    const { rows } = await listOrderRows(service, { updatedAfter: since }, request);
    const orders = rows.filter((row) => row !== null);
    for (const row of orders) if (!seen.has(row.order.id)) yield* toChanged(row);
    // A service that does not page answers the same over and over.
    const isRepeated = orders.length > 0 && orders.every(({ order }) => seen.has(order.id));
    if (rows.length < maxOrderPage || isRepeated) return;
    for (const { order } of orders) seen.add(order.id);
  }
}

/** Nothing for an order without a numbered event: it has no version to compare. */
function* toChanged({ json, order }: OrderRow): Generator<ChangedOrder> {
  const version = Number(order.lastEvent?.id);
  if (!Number.isSafeInteger(version)) return;
  const type = 'labtest.order.updated';
  const userId = order.userId.toLowerCase();
  const teamId = order.teamId?.toLowerCase() ?? null;
  const envelope = { event_type: type, user_id: userId, team_id: teamId, data: json };
  yield {
    changedAt: order.updatedAt ?? order.lastEvent?.createdAt ?? null,
    message: {
      type,
      userId,
      clientUserId: null,
      teamId,
      subject: { id: order.id.toLowerCase(), version },
      body: Buffer.from(JSON.stringify(envelope)),
    },
  };
}
