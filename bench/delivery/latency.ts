import type { Arrival } from '../load/listener.ts';
import type { OrderRange, Posted } from '../load/poster.ts';
import { formatQuantiles, quantile, type Row } from '../support/figures.ts';
import { timesOf } from './append.ts';
import type { Plan } from './plan.ts';
import { closeAll, openAll, type Stage } from './stage.ts';

/**
 * From a webhook's post to the subscriber's socket: each subscriber follows an order of its own. Once by
 * themselves, then beside a stalled subscriber that requests everything from the log's beginning.
 * @param beginning the cursor of the team's stream where the log began
 */
export async function measureLatency(stage: Stage, plan: Plan, beginning: string): Promise<readonly Row[]> {
  const orders = { from: stage.audience.crowd.from, count: plan.subscribers };
  const wanted = Array.from({ length: orders.count }, (_, index) => stage.orderUpdates(orders.from + index));
  await openAll(stage, await Promise.all(wanted));
  const alone = await measureSteadily(stage, plan, orders);
  await stage.listeners[0]?.call('openStalled', { wanted: stage.everything(beginning) });
  const beside = await measureSteadily(stage, plan, orders);
  await closeAll(stage);

  const goalMs = plan.store === 'sqlite' ? 25 : 50;
  const name = `webhook to subscriber, ${plan.subscribers} subscribers, ${plan.webhooksPerSecond} webhooks a second`;
  const ratio = (share: number) => (quantile(beside, share) / quantile(alone, share)).toFixed(2);
  return [
    { ...describe(name, alone), goal: `p99 at most ${goalMs} ms`, isMet: quantile(alone, 0.99) <= goalMs },
    {
      ...describe('the same, beside a stalled subscriber', beside),
      goal: `p99 at most ${goalMs} ms`,
      isMet: quantile(beside, 0.99) <= goalMs,
    },
    {
      what: 'ratio: beside a stalled subscriber to without',
      goal: 'no change',
      figure: `p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`,
      samples: alone.length + beside.length,
      isMet: null,
    },
  ];
}

function describe(what: string, samples: readonly number[]): Row {
  return { what, goal: null, figure: formatQuantiles(samples), samples: samples.length, isMet: null };
}

async function measureSteadily(stage: Stage, plan: Plan, orders: OrderRange): Promise<readonly number[]> {
  const perSecond = plan.webhooksPerSecond;
  const post = async (seconds: number) => {
    const posted = await stage.poster.call('postSteadily', { perSecond, seconds, orders });
    timesOf(posted);
    return toLatencies(posted, await receive(stage, posted.length));
  };
  await post(plan.warmUpSeconds);
  return await post(plan.steadySeconds);
}

const timeoutMs = 15_000;

/** The changes that the subscribers received, once there are `count` of them. */
export async function receive({ listeners }: Stage, count: number): Promise<readonly Arrival[]> {
  const arrivals: Arrival[] = [];
  const end = Date.now() + timeoutMs;
  while (arrivals.length < count && Date.now() < end) {
    for (const listener of listeners) arrivals.push(...(await listener.call('takeArrivals', null)));
  }
  if (arrivals.length !== count) {
    throw new Error(`The subscribers received ${arrivals.length} instead of ${count} changes.`);
  }
  return arrivals;
}

/** Milliseconds from the post of each change to its arrival. */
export function toLatencies(posted: readonly Posted[], arrivals: readonly Arrival[]): readonly number[] {
  const sent = new Map(posted.map(({ key, sentMs }) => [key, sentMs]));
  return arrivals.map(({ key, atMs }) => atMs - (sent.get(key) ?? Number.NaN));
}
