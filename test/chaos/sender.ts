import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { World, WorldMessage, WorldOrder } from '../support/order-world.ts';
import { createWebhookPost } from '../support/post-webhook.ts';

export interface Sent {
  /** Different messages sent. */
  messages: number;
  /** Posts of them, repeated ones included. */
  posts: number;
  acknowledged: number;
  /** Forged messages that were let in: must stay 0. */
  forgedAccepted: number;
}

export interface SenderOptions {
  readonly world: World;
  readonly secret: string;
  /** Where to post next; several gateways take turns. */
  readonly address: () => string;
  /** Whether more are wanted after so many. */
  readonly isNeeded: (messages: number) => boolean;
  /** How many orders are reported at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Null: everything comes by webhook. */
  readonly broker: {
    readonly publish: (body: string) => Promise<boolean>;
    readonly isDelivered: (number: number) => boolean;
  } | null;
}

/** Of the real sender: one message of an order at a time, and again until it is acknowledged. */
const timeoutMs = 2000;
const retryWaitMs = 60;
/** After this time a message through the broker counts as lost, and the next one of its order is sent. */
const deliveryMs = 60_000;

/**
 * Changes orders and reports the changes, with what the real world adds: the same message twice at once,
 * one event under two message ids, a later event sent before an earlier one, forged messages.
 * @param numbers filled with the number of each acknowledged message
 */
export async function sendAll(options: SenderOptions, numbers: Set<number>): Promise<Sent> {
  const sent: Sent = { messages: 0, posts: 0, acknowledged: 0, forgedAccepted: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: options.concurrency * 3 });
  const post = createWebhookPost({ address: options.address, agent, timeoutMs });

  const repeat = async (attempt: () => Promise<boolean>): Promise<boolean> => {
    while (!options.signal.aborted) {
      sent.posts += 1;
      if (await attempt()) return true;
      await wait(retryWaitMs);
    }
    return false;
  };
  const postOnce = async (message: WorldMessage) => isOk(await post(message, options.secret));
  const send = async (message: WorldMessage): Promise<boolean> => {
    const { broker } = options;
    if (broker === null) return await repeat(() => postOnce(message));
    const isDoubled = Math.random() < 0.5;
    const [isPublished] = await Promise.all([
      repeat(() => broker.publish(message.body)),
      isDoubled ? repeat(() => postOnce(message)) : true,
    ]);
    return isPublished;
  };
  const bring = async (message: WorldMessage): Promise<void> => {
    sent.messages += 1;
    if (!(await send(message))) return;
    sent.acknowledged += 1;
    numbers.add(message.number);
    noteChange(message);
    // The next change of the order may take the other route, and must not overtake this one.
    const until = Date.now() + deliveryMs;
    while (options.broker?.isDelivered(message.number) === false && Date.now() < until) await wait(10);
  };
  const reportOrder = async (order: WorldOrder): Promise<void> => {
    const { world } = options;
    const dice = Math.random();
    const version = world.advance(order);
    const message = world.report(order, version);
    if (dice < 0.05) {
      sent.posts += 1;
      await Promise.all([bring(message), post(message, options.secret)]);
    } else if (dice < 0.1 && options.broker === null) {
      // Through a broker these two would be one event.
      await bring(message);
      await bring(world.report(order, version));
    } else if (dice < 0.15) {
      const later = world.advance(order);
      await bring(world.report(order, later));
      await bring(message);
    } else if (dice < 0.17) {
      const status = await post(message, `whsec_${Buffer.alloc(24, 7).toString('base64')}`);
      if (isOk(status)) sent.forgedAccepted += 1;
      await bring(message);
    } else await bring(message);
  };
  const loops = Math.min(options.concurrency, options.world.orders.length);
  // Each loop has orders of its own, so that one order is never reported twice at once.
  const work = async (loop: number) => {
    const orders = options.world.orders.filter((_, index) => index % loops === loop);
    for (let turn = 0; options.isNeeded(sent.messages); turn += 1) {
      const order = orders[turn % orders.length];
      if (order === undefined || options.signal.aborted) return;
      await reportOrder(order);
    }
  };
  await Promise.all(Array.from({ length: loops }, (_, loop) => work(loop)));
  agent.destroy();
  return sent;
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Acknowledged and newer than anything acknowledged before: subscribers must receive it. */
function noteChange({ order, version }: WorldMessage): void {
  if (version > (order.expected.at(-1) ?? 0)) order.expected.push(version);
}
