import { formatNumber, formatQuantiles, type Row } from '../support/figures.ts';
import { perSecond } from './append.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

const queriesPerSecond = 50;
const query = 'query ($id: ID!) { order(id: $id) { id status { label } } }';

/** The latency of a simple query, first without other load and then during a flood of webhooks. */
export async function measureFlood(stage: Stage, plan: Plan): Promise<readonly Row[]> {
  const { asker, poster, audience } = stage;
  const seconds = plan.floodSeconds;
  const asked = {
    url: stage.serving.url,
    token: stage.gatewayKey,
    query,
    variables: { id: stage.orderIdOf(audience.crowd.from) },
    perSecond: queriesPerSecond,
    seconds,
  };
  await asker.call('askSteadily', { ...asked, seconds: plan.warmUpSeconds });
  const quiet = await asker.call('askSteadily', asked);
  const flooding = { seconds, concurrency: plan.concurrency, orders: audience.busy };
  const [flooded, posted] = await Promise.all([
    asker.call('askSteadily', asked),
    poster.call('flood', flooding),
  ]);
  const rate = `${formatNumber(perSecond(posted))} webhooks a second`;
  const measured = [
    ['a simple query, in quiet', quiet],
    ['a simple query, in a flood of webhooks', flooded],
  ] as const;
  return measured.map(([what, samples]) => ({
    what: samples === flooded ? `${what} (${rate})` : what,
    goal: null,
    figure: formatQuantiles(samples),
    samples: samples.length,
    isMet: null,
  }));
}
