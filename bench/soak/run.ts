import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import type { Passed } from '../load/passers.ts';
import type { Visit } from '../load/visitor.ts';
import { nowMs } from '../support/clock.ts';
import { findInspector, openInspector } from '../support/inspector.ts';
import { type Harm, isQuiet, type Plan, planHarm } from './plan.ts';
import { describeVisits, readProcess, type Sample } from './sample.ts';
import { type Stage, startStage } from './stage.ts';

/** The totals of a soak, and a sample for each period. */
export interface Soaked {
  readonly plan: Plan;
  readonly samples: readonly Sample[];
  readonly visits: Readonly<Record<Visit['outcome'], number>>;
  /** Webhooks that were sent, and those that were never acknowledged. */
  readonly webhooks: { readonly sent: number; readonly lost: number };
  readonly passed: Passed;
  readonly crashes: number;
}

/** One of so many messages is sent twice at once. */
const twiceEvery = 20;
/** How long a subscriber stays at most, in periods. */
const stayPeriods = 0.3;

export async function soak(plan: Plan, onSample: (sample: Sample) => void): Promise<Soaked> {
  await using stage = await startStage(plan);
  const { gateway } = stage;
  // Opened once: each opening would be one more thing that the process holds.
  using inspector = await openInspector(await findInspector(gateway.pid() ?? 0, gateway.output));
  await runPeriod(stage, { ...plan, periodSeconds: plan.warmUpSeconds });

  const samples: Sample[] = [];
  const visits = { answered: 0, refused: 0, unanswered: 0 };
  const webhooks = { sent: 0, lost: 0 };
  const passed: Passed = { streams: 0, items: 0, broken: 0, wrong: 0 };
  for (let period = 0; period < plan.periods; period += 1) {
    const ran = await runPeriod(stage, plan);
    for (const { outcome } of ran.visits) visits[outcome] += 1;
    for (const key of ['streams', 'items', 'broken', 'wrong'] as const) passed[key] += ran.passed[key];
    webhooks.sent += Math.floor(plan.webhooksPerSecond * plan.periodSeconds);
    webhooks.lost += ran.lostWebhooks;
    const sample = { ...(await readProcess(gateway, inspector)), ...describeVisits(ran.quietVisits) };
    samples.push(sample);
    onSample(sample);
  }
  return { plan, samples, visits, webhooks, passed, crashes: gateway.crashes() };
}

interface Period {
  readonly visits: readonly Visit[];
  readonly quietVisits: readonly Visit[];
  readonly lostWebhooks: number;
  readonly passed: Passed;
}

/** Runs all clients at once, while the service fails in one way after the other. */
async function runPeriod(stage: Stage, plan: Plan): Promise<Period> {
  const { gateway, service, visitor, passers, orders, secrets } = stage;
  const { periodSeconds: seconds, passers: count } = plan;
  const [url, viewerTokenSecret] = [gateway.url, secrets.viewerTokenSecret];
  const receiver = { url, secret: secrets.webhookSecret, twiceEvery };
  const visiting = { url, gatewayKey: secrets.gatewayKey, viewerTokenSecret, orders };
  const startedMs = nowMs();
  const [visits, lostWebhooks, passed] = await Promise.all([
    visitor.call('visit', { ...visiting, perSecond: plan.visitsPerSecond, seconds }),
    service.call('change', { perSecond: plan.webhooksPerSecond, seconds, orders: orders.length, receiver }),
    passers.call('pass', {
      url,
      viewerTokenSecret,
      orders,
      count,
      stayMs: stayPeriods * seconds * 1000,
      seconds,
    }),
    harmInTurn(stage, plan),
  ]);
  const windows = planHarm(plan);
  const quietVisits = visits.filter(({ sentMs, tookMs }) => {
    const fromMs = sentMs - startedMs;
    return isQuiet(windows, { fromMs, toMs: fromMs + tookMs });
  });
  return { visits, quietVisits, lostWebhooks, passed };
}

async function harmInTurn(stage: Stage, plan: Plan): Promise<void> {
  const startedMs = nowMs();
  for (const { harm, fromMs, toMs } of planHarm(plan)) {
    await wait(Math.max(0, startedMs + fromMs - nowMs()));
    await doHarm(stage, harm, toMs - fromMs);
  }
}

async function doHarm({ service }: Stage, harm: Harm, forMs: number): Promise<void> {
  if (harm === 'closed') return await service.call('closeFor', forMs);
  if (harm === 'stopped') {
    process.kill(service.pid, 'SIGSTOP');
    await wait(forMs);
    process.kill(service.pid, 'SIGCONT');
    return;
  }
  await service.call('misbehave', harm);
  await wait(forMs);
  await service.call('misbehave', null);
}
