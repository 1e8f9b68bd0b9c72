import { z } from 'zod';
import { createSandbox } from '../../sandbox/sandbox.ts';

/** How many users the nested query asks for: the work must grow with them, and not faster. */
export const userCounts = [1, 10, 20, 50, 100] as const;

/** How many there are. Equal counts make equal worlds, in whichever process. */
export interface WorldSize {
  readonly users: number;
  readonly ordersPerUser: number;
}

type Json = Readonly<Record<string, unknown>>;

interface OrderEvent {
  readonly id: number;
  readonly status: string;
}

/** An order as the service shows it. */
export type ServiceOrder = Json & {
  readonly id: string;
  readonly user_id: string;
  readonly events: readonly OrderEvent[];
};

/** The service's answers about users and orders nobody is behind, as full as the sandbox's are. */
export interface ReadWorld {
  readonly teamId: string;
  readonly userIds: readonly string[];
  /** User by user. */
  readonly orderIds: readonly string[];
  readonly order: (orderId: string) => ServiceOrder | undefined;
  /** Puts a later state in its place. */
  readonly change: (order: ServiceOrder) => void;
  /** Answers as text, null where there is none. */
  readonly userList: (offset: number, limit: number) => string;
  readonly orderAlone: (orderId: string) => string | null;
  readonly userAlone: (userId: string) => string | null;
  readonly ordersOfUser: (userId: string) => string;
  readonly ordersById: (orderIds: readonly string[]) => string;
}

/** Orders of a visitor. */
const visitorOrders = 3;
const visitorId = /^00000003-0000-4000-8000-(\d{12})$/;

/** Users besides those of the lists, as many as wanted: each is asked for once. */
export function toVisitorId(index: number): string {
  return toUuid(3, index);
}

const userTemplates = z.object({ users: z.array(z.looseObject({ team_id: z.string() })).min(1) });
const orderTemplates = z.object({
  orders: z.array(z.looseObject({ events: z.array(z.looseObject({ status: z.string() })) })).min(1),
});
type Templates = z.output<typeof userTemplates> & z.output<typeof orderTemplates>;

/** The sandbox's own answers, as templates. */
async function readTemplates(): Promise<Templates> {
  const apiKey = 'the key of a sandbox that nobody else reaches';
  const sandbox = createSandbox({ apiKey, webhookSecret: `whsec_${Buffer.alloc(24).toString('base64')}` });
  const ask = async (path: string): Promise<unknown> => {
    const request = new Request(`http://sandbox${path}`, { headers: { 'x-service-api-key': apiKey } });
    return await (await sandbox.fetch(request)).json();
  };
  const users = userTemplates.parse(await ask('/v2/user/'));
  const orders = orderTemplates.parse(await ask('/orders?size=100'));
  await sandbox.close();
  return { ...users, ...orders };
}

export async function createReadWorld({ users, ordersPerUser }: WorldSize): Promise<ReadWorld> {
  const like = await readTemplates();
  const teamId = at(like.users, 0).team_id;
  const userIds = Array.from({ length: users }, (_, index) => toUuid(1, index));
  const orderIds = Array.from({ length: users * ordersPerUser }, (_, index) => toUuid(2, index));
  const orders = orderIds.map((id, index): [string, ServiceOrder] => {
    const userId = at(userIds, Math.floor(index / ordersPerUser));
    return [id, nameOrder(at(like.orders, index), { id, index, userId, teamId })];
  });
  const userRows = userIds.map((userId, index) => ({
    ...at(like.users, index),
    user_id: userId,
    client_user_id: `client-${index}`,
  }));
  const answers = createAnswers({ userRows, orders: new Map(orders), ordersPerUser, orderIds });
  const visitors = createVisitors(like);
  return {
    ...{ teamId, userIds, orderIds },
    ...answers,
    userAlone: visitors.userAlone,
    ordersOfUser: (userId) => visitors.ordersOfUser(userId) ?? answers.ordersOfUser(userId),
  };
}

/**
 * Visitors differ from each other in the twelve digits at the end of every id, so a server that writes twelve digits into
 * a text can answer for all of them.
 */
function createVisitors(like: Templates) {
  const teamId = at(like.users, 0).team_id;
  const turns = Array.from({ length: visitorOrders }, (_, index) => index);
  const write = (userId: string, toText: (digits: string) => string): string | null => {
    const digits = visitorId.exec(userId)?.[1];
    return digits === undefined ? null : toText(digits);
  };
  return {
    userAlone: (userId: string) =>
      write(userId, (digits) =>
        JSON.stringify({ ...at(like.users, 0), user_id: userId, client_user_id: `visitor-${digits}` }),
      ),
    ordersOfUser: (userId: string) =>
      write(userId, (digits) => {
        const orders = turns.map((index) => {
          const id = `000004${String(index).padStart(2, '0')}-0000-4000-8000-${digits}`;
          return nameOrder(at(like.orders, index), { id, index, userId, teamId });
        });
        return JSON.stringify({ orders, total: visitorOrders, page: 1, size: visitorOrders });
      }),
  };
}

interface OrderName {
  readonly id: string;
  readonly index: number;
  readonly userId: string;
  readonly teamId: string;
}

/** An order like this one, of somebody else. */
function nameOrder(
  { events, ...like }: Templates['orders'][number],
  { id, index, userId, teamId }: OrderName,
): ServiceOrder {
  const own = events.map((event, turn) => ({ ...event, id: index * 100 + turn + 1 }));
  const named = { id, team_id: teamId, user_id: userId, sample_id: `kit-${index}`, order_transaction: null };
  return { ...like, ...named, events: own, last_event: own.at(-1) };
}

interface Rows {
  readonly userRows: readonly Json[];
  readonly orders: Map<string, ServiceOrder>;
  readonly orderIds: readonly string[];
  readonly ordersPerUser: number;
}

function createAnswers({ userRows, orders, orderIds, ordersPerUser }: Rows) {
  const texts = new Map<string, string>();
  /** Serialized once, until the order changes: the bench must not measure the service. */
  const textOf = (orderId: string): string | null => {
    const order = orders.get(orderId);
    if (order === undefined) return null;
    const text = texts.get(orderId) ?? JSON.stringify(order);
    texts.set(orderId, text);
    return text;
  };
  const list = (ids: readonly string[]) => {
    const rows = ids.map(textOf).filter((text) => text !== null);
    return `{"orders":[${rows.join(',')}],"total":${rows.length},"page":1,"size":100}`;
  };
  const firstOrderOf = new Map(userRows.map((user, index) => [user.user_id, index * ordersPerUser]));
  return {
    order: (orderId: string) => orders.get(orderId),
    change: (order: ServiceOrder) => {
      orders.set(order.id, order);
      texts.delete(order.id);
    },
    userList: (offset: number, limit: number) =>
      JSON.stringify({
        users: userRows.slice(offset, offset + limit),
        total: userRows.length,
        offset,
        limit,
      }),
    orderAlone: textOf,
    ordersOfUser: (userId: string) => {
      const from = firstOrderOf.get(userId);
      // Newest first, as it is asked for.
      return list(from === undefined ? [] : orderIds.slice(from, from + ordersPerUser).toReversed());
    },
    ordersById: list,
  };
}

/** The item of this turn, from the beginning again after the last. */
function at<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}

function toUuid(kind: number, index: number): string {
  return `0000000${kind}-0000-4000-8000-${String(index).padStart(12, '0')}`;
}
