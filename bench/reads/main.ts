import process from 'node:process';
import { parseArgs } from 'node:util';
import { type BenchTools, ensureBenchTools } from '../../test/support/tools.ts';
import { describeMachine } from '../support/machine.ts';
import { describeGoal, judge } from './goals.ts';
import { createHammer, createWrk, type Loader } from './load.ts';
import { type Figure, measureWorkload } from './measure.ts';
import { ensurePeers } from './peers.ts';
import { makePlan, type Plan } from './plan.ts';
import { startStage } from './stage.ts';
import type { TargetId } from './targets.ts';
import { type Workload, workloads } from './workloads.ts';

const usage = `npm run bench -- reads [--only <workload>,...] [--vary NAME=value]... [--profile] [--short] [--write]

Measures queries of a real gateway beside Apollo Server, Mercurius and bare node:http, all in one run, and says for each
goal whether it is met. --only takes some of the workloads: ${workloads.map(({ name }) => name).join(', ')}.
--vary measures one gateway more, with these settings. --profile says afterwards where the gateway's time goes.
--short shows that the command works, in seconds, without the peers; its figures mean little. --write puts tables and
plots into docs/performance.md and docs/images.`;

/** Runs the bench and prints its tables. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      vary: { type: 'string', multiple: true, default: [] },
      profile: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const plan = makePlan(values.short);
  const figures = await measureAll(plan, {
    wanted: pickWorkloads(values.only),
    settings: readSettings(values.vary),
    tools: values.short ? { nginx: null, wrk: null } : ensureBenchTools(),
  });
  for (const f of figures) process.stdout.write(`${JSON.stringify(f)}\n`);
  for (const goal of judge(figures)) process.stdout.write(`${describeGoal(goal)}\n`);
  process.stdout.write(`${describeMachine()}\n`);
}

/** @throws Error for a name that no workload has */
function pickWorkloads(names: string | undefined): readonly Workload[] {
  if (names === undefined) return workloads;
  return names.split(',').map((name) => {
    const workload = workloads.find((each) => each.name === name);
    if (workload === undefined) throw new Error(usage);
    return workload;
  });
}

function readSettings(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
}

interface Wanted {
  readonly wanted: readonly Workload[];
  readonly settings: Readonly<Record<string, string>>;
  readonly tools: BenchTools;
}

async function measureAll(plan: Plan, { wanted, settings, tools }: Wanted): Promise<readonly Figure[]> {
  if (plan.withPeers) ensurePeers();
  const ids: readonly TargetId[] = [
    'bare',
    ...(plan.withPeers ? (['apollo', 'mercurius'] as const) : []),
    ...(['ours', 'ours-uncached'] as const),
    ...(Object.keys(settings).length > 0 ? (['ours-varied'] as const) : []),
  ];
  const figures: Figure[] = [];
  for (const isLive of [false, true]) {
    const some = wanted.filter((workload) => workload.isLive === isLive);
    if (some.length === 0) continue;
    const nginx = isLive ? null : tools.nginx;
    await using stage = await startStage({ size: plan.world, nginx, ids, settings });
    const loader: Loader = tools.wrk === null ? createHammer() : createWrk(tools.wrk, '/tmp');
    for (const workload of some) {
      process.stderr.write(`${workload.what} ...\n`);
      figures.push(...(await measureWorkload({ stage, plan, loader }, workload)));
    }
    await loader.end();
  }
  return figures;
}
