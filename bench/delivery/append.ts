import { setTimeout as wait } from 'node:timers/promises';
import type { Posted } from '../load/poster.ts';
import { formatMs, formatNumber, formatQuantiles, type Row } from '../support/figures.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

const warmUps = 300;

/** From a webhook's post to its 2xx, one at a time and many at once. This also fills the log. */
export async function measureAppend(
  { poster, receiving, audience }: Stage,
  plan: Plan,
): Promise<readonly Row[]> {
  const orders = audience.busy;
  const { concurrency } = plan;
  await poster.call('postAll', { count: Math.min(warmUps, plan.logEvents), concurrency, orders });
  const alone = timesOf(await poster.call('postAll', { count: plan.alone, concurrency: 1, orders }));
  const before = await readAppendTimes(receiving.url);
  const posted = await poster.call('postAll', { count: plan.logEvents, concurrency, orders });
  const after = await readAppendTimes(receiving.url);
  const many = timesOf(posted);
  const inside = { count: after.count - before.count, seconds: after.seconds - before.seconds };
  const figures = [
    ['webhook to 2xx, one at a time', formatQuantiles(alone), alone.length],
    [`webhook to 2xx, ${concurrency} at once`, formatQuantiles(many), many.length],
    [`webhooks a second, ${concurrency} at once`, formatNumber(perSecond(posted)), posted.length],
    [
      `of that the append itself (\`/metrics\`), ${concurrency} at once`,
      `mean ${formatMs((inside.seconds / inside.count) * 1000)}`,
      inside.count,
    ],
  ] as const;
  return figures.map(([what, figure, samples]) => ({ what, goal: null, figure, samples, isMet: null }));
}

/** @throws Error when one was not acknowledged: then the figures would be of something else */
export function timesOf(posted: readonly Posted[], receiver = 'Labgraph'): readonly number[] {
  const refused = posted.filter(({ isAcknowledged }) => !isAcknowledged);
  if (refused.length > 0) {
    const statuses = [...new Set(refused.map(({ status }) => status))].join(', ');
    throw new Error(
      `${receiver} did not acknowledge ${refused.length} of ${posted.length} webhooks (status ${statuses}; 0 is no answer).`,
    );
  }
  return posted.map(({ tookMs }) => tookMs);
}

/** How many were acknowledged in a second, from the first post to the last answer. */
export function perSecond(posted: readonly Posted[]): number {
  const acknowledged = posted.filter(({ isAcknowledged }) => isAcknowledged);
  const bounds = posted.reduce(
    ({ start, end }, { sentMs, tookMs }) => ({
      start: Math.min(start, sentMs),
      end: Math.max(end, sentMs + tookMs),
    }),
    { start: Number.POSITIVE_INFINITY, end: 0 },
  );
  return (acknowledged.length * 1000) / (bounds.end - bounds.start);
}

async function readAppendTimes(url: string): Promise<{ readonly count: number; readonly seconds: number }> {
  // The gateway serves the same text for a second.
  await wait(1100);
  const text = await (await fetch(`${url}/metrics`)).text();
  const read = (part: string) =>
    Number(new RegExp(`^labgraph_event_append_seconds_${part} (\\S+)$`, 'm').exec(text)?.[1]);
  return { count: read('count'), seconds: read('sum') };
}
