import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createViewerTokens } from '../../gateway/auth/viewer-tokens.ts';
import { makeSecrets, prepareGateways } from '../../test/support/fleet.ts';
import { startService } from '../../test/support/order-service.ts';
import { createWorld, planWorld, type WorldPlan } from '../../test/support/order-world.ts';
import { type GatewayVictim, prepareRedis } from '../../test/support/processes.ts';
import type { AskerCalls } from '../load/asker.ts';
import type { ListenerCalls, Wanted } from '../load/listener.ts';
import type { OrderRange, PosterCalls } from '../load/poster.ts';
import { type LoadProcess, startLoadProcess } from '../support/load-process.ts';
import type { Plan } from './plan.ts';

/** Real gateways, the service they ask, and processes that load them. */
export interface Stage extends AsyncDisposable {
  /** Webhooks go to this one. */
  readonly receiving: GatewayVictim;
  /** Subscribers and queries are at this one: another over Redis, the same over SQLite. */
  readonly serving: GatewayVictim;
  readonly poster: LoadProcess<PosterCalls>;
  readonly asker: LoadProcess<AskerCalls>;
  readonly listeners: readonly LoadProcess<ListenerCalls>[];
  readonly gatewayKey: string;
  /** What another poster needs to tell of the same orders. */
  readonly world: { readonly secret: string; readonly plan: WorldPlan };
  /** For files of the stage; deleted with it. */
  readonly folder: string;
  readonly audience: Audience;
  /** A subscription to an order, as its user. */
  readonly orderUpdates: (index: number) => Promise<Wanted>;
  /** A subscription to all orders of the user of an order, as that user. */
  readonly userUpdates: (index: number, after?: string) => Promise<Wanted>;
  /** A subscription of the team to everything. */
  readonly everything: (after?: string) => Wanted;
  readonly orderIdOf: (index: number) => string;
}

/** Which of the world's orders are whose, by their places. */
export interface Audience {
  /** One order of one user, followed by many. */
  readonly star: number;
  /** The orders of one user, of whom the log is full. */
  readonly busy: OrderRange;
  /** Orders of a user each. */
  readonly crowd: OrderRange;
}

const busyOrders = 100;
const listenerProcesses = 2;
const ttlSeconds = 900;
const update = 'cursor kind order { id } event { id }';
const queries = {
  order: `subscription ($id: ID!) { item: orderUpdates(orderId: $id) { ${update} } }`,
  user: `subscription ($id: ID!, $after: EventCursor) { item: userOrderUpdates(userId: $id, after: $after) { ${update} } }`,
  team: `subscription ($after: EventCursor) { item: events(after: $after) { cursor
    ... on OrderEventReceived { order { id notes events { id createdAt status { label } } } } } }`,
};

export async function startStage(plan: Plan): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-bench-'));
  const { world: worldPlan, audience } = planAudience(plan);
  const service = await startService(createWorld(worldPlan));
  const secrets = makeSecrets();
  const world = { secret: secrets.webhookSecret, plan: worldPlan };
  const redis = plan.store === 'redis' ? await prepareRedis(folder) : null;
  const gateways = await prepareGateways({
    folder,
    teamId: worldPlan.teamId,
    secrets,
    service: service.url,
    redis: redis?.url,
    // Where the inspector listens once it is asked for (collectGarbage).
    env: { NODE_OPTIONS: '--inspect-port=0' },
  });
  const [receiving, serving] = [gateways.at(0), gateways.at(-1)];
  if (receiving === undefined || serving === undefined) throw new Error('There is no gateway.');
  const poster = startLoadProcess<PosterCalls>(new URL('../load/poster.ts', import.meta.url));
  const asker = startLoadProcess<AskerCalls>(new URL('../load/asker.ts', import.meta.url));
  const listeners = Array.from({ length: listenerProcesses }, () =>
    startLoadProcess<ListenerCalls>(new URL('../load/listener.ts', import.meta.url)),
  );
  const dispose = async () => {
    await Promise.all([poster, asker, ...listeners].map((load) => load.end()));
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')));
    await redis?.end('SIGKILL');
    service.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await redis?.start();
    await Promise.all(gateways.map((gateway) => gateway.start()));
    await poster.call('prepare', { ...world, url: receiving.url });
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    ...{ receiving, serving, poster, asker, listeners, audience, world, folder },
    gatewayKey: secrets.gatewayKey,
    ...createSubscriptions(worldPlan, { url: serving.url, secrets }),
    [Symbol.asyncDispose]: dispose,
  };
}

function planAudience({ subscribers, idleSockets }: Plan): {
  readonly world: WorldPlan;
  readonly audience: Audience;
} {
  const crowdCount = Math.max(subscribers, idleSockets);
  const parts = [
    planWorld({ users: 1, ordersPerUser: 1 }),
    planWorld({ users: 1, ordersPerUser: busyOrders }),
    planWorld({ users: crowdCount, ordersPerUser: 1 }),
  ] as const;
  return {
    world: { teamId: parts[0].teamId, orders: parts.flatMap(({ orders }) => orders) },
    audience: {
      star: 0,
      busy: { from: 1, count: busyOrders },
      crowd: { from: 1 + busyOrders, count: crowdCount },
    },
  };
}

interface Serving {
  readonly url: string;
  readonly secrets: ReturnType<typeof makeSecrets>;
}

function createSubscriptions({ orders }: WorldPlan, { url, secrets }: Serving) {
  const { mint } = createViewerTokens({ secrets: [secrets.viewerTokenSecret], provider: null });
  const orderAt = (index: number) => {
    const order = orders[index];
    if (order === undefined) throw new Error('There is no such order.');
    return order;
  };
  const tokenOf = async (userId: string) =>
    (await mint({ userId, scopes: ['read:orders'], ttlSeconds, orderIds: null, origins: null })).token;
  return {
    orderIdOf: (index: number) => orderAt(index).id,
    orderUpdates: async (index: number): Promise<Wanted> => {
      const { id, userId } = orderAt(index);
      return { url, token: await tokenOf(userId), query: queries.order, variables: { id } };
    },
    userUpdates: async (index: number, after?: string): Promise<Wanted> => {
      const { userId } = orderAt(index);
      return { url, token: await tokenOf(userId), query: queries.user, variables: { id: userId, after } };
    },
    everything: (after?: string): Wanted => ({
      url,
      token: secrets.gatewayKey,
      query: queries.team,
      variables: { after },
    }),
  };
}

/** Opens subscriptions, shared out over the processes that hold them. */
export async function openAll({ listeners }: Stage, wanted: readonly Wanted[]): Promise<void> {
  await Promise.all(
    listeners.map((listener, turn) =>
      listener.call('open', { wanted: wanted.filter((_, index) => index % listeners.length === turn) }),
    ),
  );
}

export async function closeAll({ listeners }: Stage): Promise<void> {
  await Promise.all(listeners.map((listener) => listener.call('closeAll', null)));
}
