import { execFileSync } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';
import { measureAppend } from './append.ts';
import { measureCatchUp, noteBeginnings } from './catch-up.ts';
import { measureFlood } from './flood.ts';
import { measureIdle } from './idle.ts';
import { measureLatency } from './latency.ts';
import { measureLive } from './live.ts';
import { descriptorsNeeded, makePlan, type Plan } from './plan.ts';
import { type DeliveryReport, writeReports } from './report.ts';
import { measureRestart } from './restart.ts';
import { startStage } from './stage.ts';

const usage = `npm run bench -- delivery [--store sqlite|redis] [--short] [--write]

Measures real gateways from outside, each load in a process of its own. Without --store it measures both stores, one
after the other. --short shows that the command works (30 s a store); its figures mean little. --write puts the tables
into docs/performance-delivery.md. Needs about 10,500 open files per process (ulimit -n).`;

/** Runs the bench and prints its tables. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string' },
      short: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const stores = (['sqlite', 'redis'] as const).filter((store) => (values.store ?? store) === store);
  if (stores.length === 0) throw new Error(usage);
  const reports: DeliveryReport[] = [];
  for (const store of stores) {
    const plan = makePlan(store, values.short);
    requireDescriptors(plan);
    const report = await measure(plan);
    reports.push(report);
    process.stdout.write(`\n## Over ${store}\n\n${toTable(report.rows)}\n\n${describeMachine()}\n`);
  }
  if (values.write) writeReports(reports);
}

/** @throws Error that says what is needed */
function requireDescriptors(plan: Plan): void {
  const needed = descriptorsNeeded(plan);
  const allowed = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || Infinity;
  if (allowed >= needed) return;
  throw new Error(`The bench opens up to ${needed} files in a process. Run it after: ulimit -n ${needed}`);
}

async function measure(plan: Plan): Promise<DeliveryReport> {
  const note = (what: string) => process.stderr.write(`${plan.store}: ${what} ...\n`);
  await using stage = await startStage(plan);
  const beginnings = await noteBeginnings(stage);
  note('append');
  const append = await measureAppend(stage, plan);
  note('restart');
  const restart = await measureRestart(stage, plan);
  note('catching up');
  const catchUp = await measureCatchUp(stage, plan, beginnings);
  note('webhook to subscriber');
  const latency = await measureLatency(stage, plan, beginnings.team);
  note('own orders, and one order for all');
  const live = await measureLive(stage, plan);
  note('flood');
  const flood = await measureFlood(stage, plan);
  note('idle sockets');
  const idle = await measureIdle(stage, plan);
  return {
    store: plan.store,
    rows: [...append, ...latency, ...live, ...idle, ...catchUp, restart, ...flood],
  };
}
