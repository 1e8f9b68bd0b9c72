import { randomUUID } from 'node:crypto';

/** An order of a simulated world: its user, its history, and the items that its subscribers must get. */
export interface WorldOrder {
  readonly id: string;
  readonly userId: string;
  /** The ids of its events so far; the last is its version. */
  readonly eventIds: number[];
  /** Versions that were acknowledged as changes, in the order of their acknowledgement: what must be delivered. */
  readonly expected: number[];
}

/** One message as it is signed and sent; its number travels in the order's notes. */
export interface WorldMessage {
  readonly id: string;
  readonly number: number;
  readonly order: WorldOrder;
  readonly version: number;
  readonly body: string;
}

export interface World {
  readonly teamId: string;
  readonly users: readonly string[];
  readonly orders: readonly WorldOrder[];
  /** Lets something happen to an order. */
  readonly advance: (order: WorldOrder) => number;
  /** Says what happened, as a message of its own; twice for one version makes two messages of one event. */
  readonly report: (order: WorldOrder, version: number) => WorldMessage;
}

/** The start of a world: enough to make the same one in another process. */
export interface WorldPlan {
  readonly teamId: string;
  readonly orders: readonly { readonly id: string; readonly userId: string }[];
}

/** Users with orders of which nobody is a real person. */
export function planWorld(counts: { readonly users: number; readonly ordersPerUser: number }): WorldPlan {
  const users = Array.from({ length: counts.users }, () => randomUUID());
  const orders = users.flatMap((userId) =>
    Array.from({ length: counts.ordersPerUser }, () => ({ id: randomUUID(), userId })),
  );
  return { teamId: randomUUID(), orders };
}

/** Event ids grow over the whole service. */
export function createWorld(plan: WorldPlan): World {
  const { teamId } = plan;
  let [lastEventId, lastNumber] = [0, 0];
  const nextEventId = () => {
    lastEventId += 1;
    return lastEventId;
  };
  const users = [...new Set(plan.orders.map(({ userId }) => userId))];
  const orders = plan.orders.map((order) => ({ ...order, eventIds: [nextEventId()], expected: [] }));
  return {
    teamId,
    users,
    orders,
    advance: (order) => {
      const version = nextEventId();
      order.eventIds.push(version);
      return version;
    },
    report: (order, version) => {
      lastNumber += 1;
      const number = lastNumber;
      const data = { ...presentOrder(order, teamId, version), notes: `message ${number}` };
      const envelope = { event_type: 'labtest.order.updated', team_id: teamId, user_id: order.userId, data };
      return { id: `msg_${randomUUID()}`, number, order, version, body: JSON.stringify(envelope) };
    },
  };
}

const startOfTime = Date.UTC(2026, 0, 1);

/** The order as the service shows it when its last event had this id. */
export function presentOrder(order: WorldOrder, teamId: string, version = order.eventIds.at(-1) ?? 0) {
  // The newest ten: an order that lives through thousands of events would fill every message with them.
  const end = order.eventIds.lastIndexOf(version) + 1;
  const events = order.eventIds.slice(Math.max(0, end - 10), end).map((id) => ({
    id,
    created_at: new Date(startOfTime + id * 1000).toISOString(),
    status: 'sample_with_lab.walk_in_test.partial_results',
  }));
  return {
    id: order.id,
    team_id: teamId,
    user_id: order.userId,
    status: 'sample_with_lab',
    events,
    last_event: events.at(-1),
    created_at: new Date(startOfTime).toISOString(),
    updated_at: new Date(startOfTime + version * 1000).toISOString(),
  };
}
