import type { OrderRange } from '../load/poster.ts';
import { formatMs, formatNumber, formatQuantiles, quantile, type Row } from '../support/figures.ts';
import { readUsage } from '../support/process-usage.ts';
import { timesOf } from './append.ts';
import { receive, toLatencies } from './latency.ts';
import type { Plan } from './plan.ts';
import { type Publisher, startPublishers } from './publishers.ts';
import { closeAll, openAll, type Stage } from './stage.ts';

/** What people's pages and a team's screens do, beside servers that publish in memory. */
export async function measureLive(stage: Stage, plan: Plan): Promise<readonly Row[]> {
  await using publishers = await startPublishers(stage, plan);
  const own: Row[] = [];
  for (const publisher of publishers.all) own.push(await measureOwn(stage, plan, publisher));
  return [...own, ...(await measureShared(stage, plan, publishers.all))];
}

const maxMicrosPerWebhook = 600;

/** Each subscriber follows an order of its own. */
async function measureOwn(stage: Stage, plan: Plan, publisher: Publisher): Promise<Row> {
  const { subscribers, ownPerSecond: perSecond } = plan;
  const orders: OrderRange = { from: stage.audience.crowd.from, count: subscribers };
  const wanted = Array.from({ length: orders.count }, (_, index) =>
    publisher.orderUpdates(orders.from + index),
  );
  await openAll(stage, await Promise.all(wanted));
  const post = async (seconds: number) => {
    const posted = await publisher.poster.call('postSteadily', { perSecond, seconds, orders });
    timesOf(posted, publisher.name);
    return toLatencies(posted, await receive(stage, posted.length));
  };
  await post(plan.warmUpSeconds);
  const usedBefore = readMicros(publisher);
  const latencies = await post(plan.steadySeconds);
  const micros = (readMicros(publisher) - usedBefore) / latencies.length;
  await closeAll(stage);
  return {
    what: `own orders, ${subscribers} subscribers, ${perSecond} webhooks a second: ${publisher.name}`,
    figure: `${formatQuantiles(latencies)}, ${formatNumber(micros)} µs of processor a webhook`,
    samples: latencies.length,
    ...judge(isOurs(publisher) && plan.store === 'sqlite', {
      goal: `at most ${maxMicrosPerWebhook} µs`,
      isMet: micros <= maxMicrosPerWebhook,
    }),
  };
}

const minItemsPerSecond = 20_000;
const maxLastMs = 40;

/** All subscribers follow one order. The servers take turns, so that a minute of a busy machine meets all of them. */
async function measureShared(
  stage: Stage,
  plan: Plan,
  publishers: readonly Publisher[],
): Promise<readonly Row[]> {
  const { star } = stage.audience;
  const runs = publishers.map((publisher) => ({ publisher, last: [] as number[], micros: 0 }));
  for (const { orderUpdates } of publishers) {
    const wanted = Array.from({ length: plan.subscribers }, () => orderUpdates(star));
    await openAll(stage, await Promise.all(wanted));
  }
  for (let round = -warmUpRounds; round < plan.fanOuts; round += 1) {
    for (const run of runs) {
      const usedBefore = readMicros(run.publisher);
      const posted = await run.publisher.poster.call('postOne', { order: star });
      const latencies = toLatencies([posted], await receive(stage, plan.subscribers));
      if (round < 0) continue;
      run.last.push(Math.max(...latencies));
      run.micros += readMicros(run.publisher) - usedBefore;
    }
  }
  await closeAll(stage);
  return runs.map(({ publisher, last, micros }) => {
    const items = plan.fanOuts * plan.subscribers;
    const perSecond = (items * 1000) / last.reduce((sum, ms) => sum + ms, 0);
    const lastMs = quantile(last, 0.99);
    return {
      what: `one order, ${plan.subscribers} subscribers: ${publisher.name}`,
      figure: `${formatNumber(perSecond)} items a second, last p50 ${formatMs(quantile(last, 0.5))}, last p99 ${formatMs(lastMs)}, ${formatNumber(micros / items)} µs of processor an item`,
      samples: plan.fanOuts,
      ...judge(isOurs(publisher) && plan.store === 'sqlite', {
        goal: `at least ${formatNumber(minItemsPerSecond)} a second, last p99 at most ${maxLastMs} ms`,
        isMet: perSecond >= minItemsPerSecond && lastMs <= maxLastMs,
      }),
    };
  });
}

const warmUpRounds = 3;

function isOurs({ name }: Publisher): boolean {
  return name === 'Labgraph';
}

function judge(hasGoal: boolean, judged: Pick<Row, 'goal' | 'isMet'>): Pick<Row, 'goal' | 'isMet'> {
  return hasGoal ? judged : { goal: null, isMet: null };
}

function readMicros({ victims }: Publisher): number {
  return victims.reduce((sum, victim) => sum + (readUsage(victim.pid())?.cpuMicros ?? 0), 0);
}
