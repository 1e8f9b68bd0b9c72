import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type BenchTools, ensureBenchTools } from '../../test/support/tools.ts';
import { describeMachine } from '../support/machine.ts';
import { describeGoal, judge } from './goals.ts';
import { createLoader } from './load.ts';
import { type Measured, measureWorkload } from './measure.ts';
import { describePeers, ensurePeers } from './peers.ts';
import { makePlan, type Plan } from './plan.ts';
import { prepareProfilers } from './profile.ts';
import { describeProfile, describeReport, type ReadsReport, writeReport } from './report.ts';
import { startStage } from './stage.ts';
import { type TargetId, targetOrder } from './targets.ts';
import { type Workload, workloads } from './workloads.ts';

const usage = `npm run bench -- reads [workload]... [--vary NAME=value]... [--profile] [--smoke | --short] [--write]

Measures queries of a real gateway beside the servers that a team might choose instead, in one run of about 25 minutes,
and prints whether each goal is met. Workloads: ${workloads.map(({ name }) => name).join(', ')}; all without a name.
--vary measures one more gateway with these settings. --profile prints where the gateway's time goes. --smoke measures
one round of a second. --short shows in seconds that the command works, without the peers. The figures of both mean little.
--write, without names, puts the tables into docs/performance.md and the README, and all rounds into
docs/performance-rounds.json.`;

/** Runs the bench and prints its tables. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      vary: { type: 'string', multiple: true, default: [] },
      profile: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  if (values.write && positionals.length > 0)
    throw new Error('--write needs all workloads: leave out their names.');
  const plan = makePlan({ isShort: values.short, isSmoke: values.smoke });
  const tools = values.short ? { nginx: null, wrk: null } : ensureBenchTools();
  const settings = readSettings(values.vary);
  const wanted = { workloads: pickWorkloads(positionals), isProfiling: values.profile, settings, tools };
  const report = { ...(await measureAll(plan, wanted)), conditions: describeConditions(plan, wanted) };
  if (values.write) writeReport(report);
  const goals = judge(report.figures).map(describeGoal);
  const profiles = report.profiles.map((profile) => `${describeProfile(profile)}\n`);
  process.stdout.write([describeReport(report), '', ...profiles, ...goals, ''].join('\n'));
}

/** @throws Error for a name that no workload has */
function pickWorkloads(names: readonly string[]): readonly Workload[] {
  const unknown = names.find((wanted) => workloads.every(({ name }) => name !== wanted));
  if (unknown !== undefined) throw new Error(`There is no workload ${unknown}.\n\n${usage}`);
  return workloads.filter(({ name }) => names.length === 0 || names.includes(name));
}

function readSettings(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
}

interface Wanted {
  readonly workloads: readonly Workload[];
  readonly isProfiling: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly tools: BenchTools;
}

/** One workload after the other, each over servers of its own. One that cannot be measured does not end the run. */
async function measureAll(plan: Plan, wanted: Wanted): Promise<Omit<ReadsReport, 'conditions'>> {
  if (plan.withPeers) installPeers();
  const measured: Measured[] = [];
  const notMeasured: string[] = [];
  for (const workload of wanted.workloads) {
    process.stderr.write(`${workload.what} ...\n`);
    try {
      measured.push(await measureOne(workload, plan, wanted));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      notMeasured.push(`Not measured: ${workload.what}. ${reason}`);
      process.stderr.write(`${notMeasured.at(-1)}\n`);
    }
  }
  return {
    figures: measured.flatMap(({ figures }) => figures),
    profiles: measured.flatMap(({ profiles }) => profiles),
    notMeasured,
  };
}

/** Without them the report says of each peer that it did not start. */
function installPeers(): void {
  try {
    ensurePeers();
  } catch (error) {
    process.stderr.write(`The peers could not be installed: ${String(error)}\n`);
  }
}

async function measureOne(
  workload: Workload,
  plan: Plan,
  { settings, tools, isProfiling }: Wanted,
): Promise<Measured> {
  const ids = targetOrder.filter((id) => isMeasured(id, { plan, settings, workload }));
  const { nginx, wrk } = tools;
  const { world: size, viewers } = plan;
  await using stage = await startStage({ size, viewers, nginx, ids, settings, workload });
  await using loader = createLoader(wrk, stage.folder);
  const profilers = isProfiling ? await prepareProfilers(stage.targets.running) : new Map();
  return await measureWorkload({ stage, plan, loader, workload, profilers });
}

interface Choice {
  readonly plan: Plan;
  readonly settings: Wanted['settings'];
  readonly workload: Workload;
}

const peers: readonly TargetId[] = ['mercurius', 'apollo', 'yoga', 'handwritten'];

function isMeasured(id: TargetId, { plan, settings, workload }: Choice): boolean {
  if (id === 'ours-varied') return Object.keys(settings).length > 0;
  if (id === 'ours' || id === 'ours-uncached') return true;
  if (peers.includes(id)) return plan.withPeers;
  return workload.also.includes(id) && (plan.withPeers || id === 'bare');
}

function describeConditions(
  { rounds, seconds, withPeers, world }: Plan,
  { settings, tools }: Wanted,
): string {
  const varied = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    describeMachine(),
    `load by ${describeTool(tools.wrk)} over 32 connections where nothing else is said`,
    `service: ${describeTool(tools.nginx)}, ${world.ordersPerUser} orders for each user`,
    `medians of ${rounds} times ${seconds} s`,
    ...(withPeers ? [describePeers()] : []),
    ...(varied.length > 0 ? [`varied: ${varied.join(', ')}`] : []),
  ].join('; ');
}

/** `wrk debian/4.1.0-3+b2`, `nginx/1.22.1`: as the tool names itself. */
function describeTool(path: string | null): string {
  if (path === null) return 'a process of Node';
  const { stdout, stderr } = spawnSync(path, ['-v'], { encoding: 'utf8' });
  return /(?:wrk |nginx\/)\S+/.exec(stdout + stderr)?.[0] ?? basename(path);
}
