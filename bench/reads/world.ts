import { z } from 'zod';
import { createSandbox } from '../../sandbox/sandbox.ts';

/** How many users its lists have, with how many orders each. Equal sizes make equal worlds, in whichever process. */
export interface WorldSize {
  readonly users: number;
  readonly ordersPerUser: number;
}

type Json = Readonly<Record<string, unknown>>;

interface OrderEvent {
  readonly id: number;
  readonly created_at: string;
  readonly status: string;
}

/** An order as the service shows it. */
export type ServiceOrder = Json & {
  readonly id: string;
  readonly user_id: string;
  readonly events: readonly OrderEvent[];
};

/**
 * The service's answers, as full as the sandbox's are. It has a user for each number of twelve digits, and that user's
 * orders end in the same digits: a server that writes digits into a text can answer for all of them, and an answer
 * shows whose it is.
 */
export interface ReadWorld {
  readonly teamId: string;
  /** The users that its list has, and their orders, user by user. */
  readonly userIds: readonly string[];
  readonly orderIds: readonly string[];
  readonly order: (orderId: string) => ServiceOrder | undefined;
  /** Puts a later state in its place. */
  readonly change: (order: ServiceOrder) => void;
  /** Answers as text, null where there is none. */
  readonly userList: (offset: number, limit: number) => string;
  readonly orderAlone: (orderId: string) => string | null;
  readonly userAlone: (userId: string) => string | null;
  readonly ordersOfUser: (userId: string, size: number) => string;
  readonly ordersById: (orderIds: readonly string[]) => string;
}

const userIdForm = /^00000001-0000-4000-8000-(\d{12})$/;
const orderIdForm = /^0000002(\d)-0000-4000-8000-(\d{12})$/;

/** A number as it stands in ids. */
export function toDigits(number: number): string {
  return String(number).padStart(12, '0');
}

export function toUserId(digits: string): string {
  return `00000001-0000-4000-8000-${digits}`;
}

/** @param turn which of the user's orders it is, below ten */
export function toOrderId(digits: string, turn: number): string {
  return `0000002${turn}-0000-4000-8000-${digits}`;
}

const userTemplates = z.object({ users: z.array(z.looseObject({ team_id: z.string() })).min(1) });
const orderTemplates = z.object({
  orders: z
    .array(z.looseObject({ events: z.array(z.looseObject({ status: z.string(), created_at: z.string() })) }))
    .min(1),
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

/** The digits of the one whose answers are the templates of all others. */
export const anyDigits = '987654321098';

export async function createReadWorld({ users, ordersPerUser }: WorldSize): Promise<ReadWorld> {
  const like = await readTemplates();
  const teamId = at(like.users, 0).team_id;
  const numbers = Array.from({ length: users }, (_, number) => toDigits(number));
  const turns = Array.from({ length: ordersPerUser }, (_, turn) => turn);
  // The bench must not measure the service: texts of unchanged orders are only copied.
  const texts = turns.map((turn) => JSON.stringify(nameOrder(at(like.orders, turn), turn, anyDigits)));
  const changed = new Map<string, ServiceOrder>();
  const changedTexts = new Map<string, string>();
  const textOf = (orderId: string): string | null => {
    const [, turn, digits = ''] = orderIdForm.exec(orderId) ?? [];
    return changedTexts.get(orderId) ?? texts[Number(turn)]?.replaceAll(anyDigits, digits) ?? null;
  };
  const order = (orderId: string): ServiceOrder | undefined => {
    const [, turn, digits] = orderIdForm.exec(orderId) ?? [];
    if (digits === undefined || Number(turn) >= ordersPerUser) return undefined;
    return changed.get(orderId) ?? nameOrder(at(like.orders, Number(turn)), Number(turn), digits);
  };
  const user = (digits: string): Json => ({
    ...at(like.users, 0),
    user_id: toUserId(digits),
    client_user_id: `client-${digits}`,
  });
  const list = (ids: readonly string[], total: number): string => {
    const rows = ids.map(textOf).filter((text) => text !== null);
    return `{"orders":[${rows.join(',')}],"total":${total},"page":1,"size":${ids.length}}`;
  };
  return {
    teamId,
    userIds: numbers.map(toUserId),
    orderIds: numbers.flatMap((digits) => turns.map((turn) => toOrderId(digits, turn))),
    order,
    change: (later) => {
      changed.set(later.id, later);
      changedTexts.set(later.id, JSON.stringify(later));
    },
    userList: (offset, limit) => {
      const rows = numbers.slice(offset, offset + limit).map(user);
      return JSON.stringify({ users: rows, total: users, offset, limit });
    },
    userAlone: (userId) => {
      const digits = userIdForm.exec(userId)?.[1];
      return digits === undefined ? null : JSON.stringify(user(digits));
    },
    orderAlone: textOf,
    ordersOfUser: (userId, size) => {
      const digits = userIdForm.exec(userId)?.[1];
      // Newest first, as it is asked for.
      const ids = digits === undefined ? [] : turns.map((turn) => toOrderId(digits, turn)).toReversed();
      return list(ids.slice(0, size), ids.length);
    },
    ordersById: (ids) => list(ids, ids.length),
  };
}

/** An order like this one, of the user with these digits. */
function nameOrder(like: Templates['orders'][number], turn: number, digits: string): ServiceOrder {
  const events = like.events.map((event, index) => ({
    ...event,
    id: turn * 100 + index + 1,
    // As every peer prints it, also the one that cannot convert it.
    created_at: new Date(event.created_at).toISOString(),
  }));
  return {
    ...like,
    id: toOrderId(digits, turn),
    user_id: toUserId(digits),
    sample_id: `kit-${turn}-${digits}`,
    order_transaction: null,
    events,
    last_event: events.at(-1),
  };
}

/** The item of this turn, from the beginning again after the last. */
function at<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length];
  if (item === undefined) throw new Error('The list is empty.');
  return item;
}
