import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import type { World, WorldOrder } from '../support/order-world.ts';
import { subscribeOverSse, subscribeOverWebSocket, transports } from '../support/subscribe.ts';
import { type Item, type Subscriber, startSubscriber, type Wish } from './subscriber.ts';

export interface AudienceOptions {
  readonly world: World;
  readonly gatewayKey: string;
  readonly viewerTokenSecret: string;
  /** Where the next one connects; several gateways take turns. */
  readonly address: () => string;
}

/** A subscriber together with the orders whose changes it must receive, null for the team's stream of everything. */
export interface Listener {
  readonly subscriber: Subscriber;
  readonly orders: readonly WorldOrder[] | null;
}

/** Comes without a cursor again and again, while messages come. */
const newcomer = 'newcomer';

const update = 'cursor kind order { id userId lastEvent { id } }';
/** With a read of the service for each change: while it is under way, more changes come. */
const slowUpdate = 'cursor kind order { id userId lastEvent { id } user { id } }';
const queries = {
  order: `subscription ($id: ID!, $after: EventCursor) { orderUpdates(orderId: $id, after: $after) { ${update} } }`,
  user: `subscription ($id: ID!, $after: EventCursor) { userOrderUpdates(userId: $id, after: $after) { ${update} } }`,
  slowly: `subscription ($id: ID!, $after: EventCursor) { userOrderUpdates(userId: $id, after: $after) { ${slowUpdate} } }`,
  team: `subscription ($after: EventCursor) { events(after: $after) { __typename cursor
    ... on OrderEventReceived { order { id userId notes lastEvent { id } } } } }`,
};

/**
 * Who listens: each user over WebSocket with a token that ends soon, the team to each user over SSE, some to
 * single orders over every transport, some of them always anew, and one server of the team to everything.
 */
export function startAudience(options: AudienceOptions): readonly Listener[] {
  const { world, address, gatewayKey } = options;
  const { mint } = createViewerTokens({ secrets: [options.viewerTokenSecret], provider: null });
  const asTeam = async () => gatewayKey;
  const asUser = (userId: string) => async () =>
    (await mint({ userId, scopes: ['read:orders'], ttlSeconds: 60, orderIds: null, origins: null })).token;
  const ordersOf = (userId: string) => world.orders.filter((order) => order.userId === userId);

  const ofUsers = world.users.flatMap((userId) => {
    const wish = { variables: { id: userId }, read: readUpdate, isMine: isOf(userId) };
    return [
      listen(
        'user',
        subscribeOverWebSocket,
        { ...wish, query: queries.user, token: asUser(userId) },
        ordersOf(userId),
      ),
      listen(
        'user for the team',
        subscribeOverSse,
        { ...wish, query: queries.slowly, token: asTeam },
        ordersOf(userId),
      ),
    ];
  });
  const ofOrders = world.orders
    .filter((_, index) => index % 5 === 0)
    .map((order, index) => {
      const [, subscribe] = transports[index % transports.length] ?? ['SSE', subscribeOverSse];
      const isMine = ({ orderId }: Item) => orderId === order.id;
      const wish = { query: queries.order, variables: { id: order.id }, read: readUpdate, isMine };
      return listen('order', subscribe, { ...wish, token: asUser(order.userId) }, [order]);
    });
  const newcomers = world.orders
    .filter((_, index) => index % 5 === 1)
    .map((order) => {
      const isMine = ({ orderId }: Item) => orderId === order.id;
      const wish = { query: queries.order, variables: { id: order.id }, read: readUpdate, isMine };
      return listen(newcomer, subscribeOverSse, { ...wish, token: asTeam }, [order]);
    });
  const team = { query: queries.team, variables: {}, token: asTeam, read: readEvent, isMine: () => true };
  return [...ofUsers, ...ofOrders, ...newcomers, listen('team', subscribeOverSse, team, null)];

  function listen(
    name: string,
    subscribe: typeof subscribeOverSse,
    wish: Wish,
    orders: readonly WorldOrder[] | null,
  ): Listener {
    const isForgetful = name === newcomer;
    const isByMessage = orders === null;
    const subscriber = startSubscriber({ name, subscribe, address, wish, isByMessage, isForgetful });
    return { subscriber, orders };
  }
}

function isOf(userId: string): Wish['isMine'] {
  return (item) => item.userId === userId;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read like a client reads them, field by field.
function readUpdate(data: any): Item {
  const { cursor, kind, order } = data.orderUpdates ?? data.userOrderUpdates;
  const version = Number(order.lastEvent.id);
  return { cursor, kind, orderId: order.id, userId: order.userId, version, message: null };
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function readEvent(data: any): Item {
  const { __typename: kind, cursor, order } = data.events;
  return {
    cursor,
    kind,
    orderId: order?.id ?? '',
    userId: order?.userId ?? '',
    version: Number(order?.lastEvent.id ?? 0),
    message: order ? Number(/\d+$/.exec(order.notes)?.[0]) : null,
  };
}
