import { nowMs } from '../support/clock.ts';
import { formatMs, formatNumber, quantile, type Row } from '../support/figures.ts';
import type { Plan } from './plan.ts';
import type { Stage } from './stage.ts';

const goalMs = 500;

/** From starting a gateway that was killed to its first 2xx for a webhook. */
export async function measureRestart({ receiving, poster, audience }: Stage, plan: Plan): Promise<Row> {
  const tookMs: number[] = [];
  // The first one reads the files for the first time.
  for (let round = 0; round <= plan.restarts; round += 1) {
    await receiving.end('SIGKILL');
    const startedMs = nowMs();
    const [acknowledgedMs] = await Promise.all([
      poster.call('postUntilAcknowledged', { order: audience.busy.from }),
      receiving.start(),
    ]);
    if (round > 0) tookMs.push(acknowledgedMs - startedMs);
  }
  return {
    what: `kill -9 to the first acknowledged webhook, ${formatNumber(plan.logEvents)} events in the log`,
    goal: `at most ${goalMs} ms`,
    figure: `median ${formatMs(quantile(tookMs, 0.5))}, slowest ${formatMs(Math.max(...tookMs))}`,
    samples: tookMs.length,
    isMet: Math.max(...tookMs) <= goalMs,
  };
}
