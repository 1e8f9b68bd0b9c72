import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { createWorld, type World, type WorldPlan } from '../../test/support/order-world.ts';
import { createWebhookPost } from '../../test/support/post-webhook.ts';
import { nowMs } from '../support/clock.ts';
import { serveCalls } from '../support/load-process.ts';

/** The process that posts webhooks, as the service would. */
export type PosterCalls = typeof calls;

/** A range of the world's orders. */
export interface OrderRange {
  readonly from: number;
  readonly count: number;
}

/** One message: what subscribers see of it (`<order id>:<event id>`), and how its post went. */
export interface Posted {
  readonly key: string;
  readonly sentMs: number;
  readonly tookMs: number;
  /** Of the answer; 0 when none came. */
  readonly status: number;
  readonly isAcknowledged: boolean;
}

const timeoutMs = 15_000;
/** Often enough to be exact, seldom enough to leave the processor to the gateway. */
const retryMs = 5;

interface Sending {
  readonly world: World;
  readonly secret: string;
  readonly post: ReturnType<typeof createWebhookPost>;
}

let sending: Sending | null = null;
/** Ends idle connections long before the gateway does (5 s): a machine that stands still makes both late. */
const agent = new Agent({ keepAlive: true, timeout: 1000 });

const calls = {
  prepare: async ({ url, secret, plan }: { url: string; secret: string; plan: WorldPlan }) => {
    const post = createWebhookPost({ address: () => url, agent, timeoutMs });
    sending = { world: createWorld(plan), secret, post };
  },
  /** Posts this number of messages; each connection posts its next one after an answer. */
  postAll: async ({
    count,
    concurrency,
    orders,
  }: {
    count: number;
    concurrency: number;
    orders: OrderRange;
  }) => {
    let begun = 0;
    return await postConcurrently({ concurrency, orders, isWanted: () => begun++ < count });
  },
  /** Posts as fast as the connections allow, for this time. */
  flood: async ({
    seconds,
    concurrency,
    orders,
  }: {
    seconds: number;
    concurrency: number;
    orders: OrderRange;
  }) => {
    const end = nowMs() + seconds * 1000;
    return await postConcurrently({ concurrency, orders, isWanted: () => nowMs() < end });
  },
  /** Posts at this rate, one order after the other; waits for answers about the same order only. */
  postSteadily: async ({
    perSecond,
    seconds,
    orders,
  }: {
    perSecond: number;
    seconds: number;
    orders: OrderRange;
  }) => {
    const startedMs = nowMs();
    const newest = new Map<number, Promise<Posted>>();
    const posts = Array.from({ length: perSecond * seconds }, async (_, index) => {
      await wait(Math.max(0, startedMs + (index * 1000) / perSecond - nowMs()));
      const order = orders.from + (index % orders.count);
      // Messages of one order never overtake each other, or the older one would be no change.
      const posting = Promise.resolve(newest.get(order)).then(() => postOne(order));
      newest.set(order, posting);
      return await posting;
    });
    return await Promise.all(posts);
  },
  postOne: ({ order }: { order: number }) => postOne(order),
  /** Posts again and again until one is acknowledged; resolves with the moment. */
  postUntilAcknowledged: async ({ order }: { order: number }): Promise<number> => {
    while (!(await postOne(order)).isAcknowledged) await wait(retryMs);
    return nowMs();
  },
};

interface Concurrency {
  readonly concurrency: number;
  readonly orders: OrderRange;
  readonly isWanted: () => boolean;
}

/** Each worker has its own orders, so that messages of one order never overtake each other. */
async function postConcurrently({ concurrency, orders, isWanted }: Concurrency): Promise<readonly Posted[]> {
  const posted: Posted[] = [];
  const work = async (worker: number) => {
    const own = Math.max(1, Math.floor((orders.count - worker - 1) / concurrency) + 1);
    for (let turn = 0; isWanted(); turn += 1) {
      posted.push(await postOne(orders.from + (((turn % own) * concurrency + worker) % orders.count)));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, worker) => work(worker)));
  return posted;
}

async function postOne(index: number): Promise<Posted> {
  const order = sending?.world.orders[index];
  if (sending === null || order === undefined) throw new Error('There is no such order.');
  const { world, secret, post } = sending;
  const version = world.advance(order);
  const message = world.report(order, version);
  const sentMs = nowMs();
  const status = await post(message, secret);
  const isAcknowledged = status >= 200 && status < 300;
  return { key: `${order.id}:${version}`, sentMs, tookMs: nowMs() - sentMs, status, isAcknowledged };
}

serveCalls(calls);
