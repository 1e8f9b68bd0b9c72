import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type BenchTools, ensureBenchTools } from '../../test/support/tools.ts';
import { describeMachine, watchStolenTime } from '../support/machine.ts';
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
import { userCounts } from './world.ts';

const usage = `npm run bench -- reads [--only <workload>,...] [--users <number>] [--vary NAME=value]... [--profile] [--short] [--write]

Measures queries of a real gateway beside Apollo Server, Mercurius and bare node:http in one run, and prints whether each
goal is met. --only selects workloads: ${workloads.map(({ name }) => name).join(', ')}.
--users sets the number of users of the service (1000 by default), with five orders each.
--vary measures one more gateway with these settings. --profile prints where the gateway's time goes.
--short shows in seconds that the command works, without the peers; its figures mean little. --write puts the tables into
docs/performance.md.`;

/** Runs the bench and prints its tables. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      users: { type: 'string' },
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
  const plan = makePlan(values.short, readCount(values.users));
  const tools = values.short ? { nginx: null, wrk: null } : ensureBenchTools();
  const settings = readSettings(values.vary);
  const wanted = { workloads: pickWorkloads(values.only), isProfiling: values.profile, settings, tools };
  const stolen = watchStolenTime();
  const measured = await measureAll(plan, wanted);
  const report = { ...measured, conditions: describeConditions(plan, wanted), stolenShare: stolen() };
  if (values.write) writeReport(report);
  const goals = judge(report.figures).map(describeGoal);
  const profiles = report.profiles.map((profile) => `${describeProfile(profile)}\n`);
  process.stdout.write([describeReport(report), '', ...profiles, ...goals, ''].join('\n'));
}

/** @throws Error for a text that is not a number, or too few users for the nested workloads */
function readCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const most = Math.max(...userCounts);
  if (/^\d+$/.test(text) && Number(text) >= most) return Number(text);
  throw new Error(`${usage}\n\n--users takes a whole number of at least ${most}.`);
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
  readonly workloads: readonly Workload[];
  readonly isProfiling: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly tools: BenchTools;
}

/** Workloads with writes need a service that can change. All others read constant answers from nginx, if it is there. */
async function measureAll(plan: Plan, wanted: Wanted): Promise<Pick<ReadsReport, 'figures' | 'profiles'>> {
  if (plan.withPeers) ensurePeers();
  const measured: Measured[] = [];
  for (const some of shareOut(wanted)) measured.push(...(await measureSome(plan, some)));
  return {
    figures: measured.flatMap(({ figures }) => figures),
    profiles: measured.flatMap(({ profiles }) => profiles),
  };
}

function shareOut(wanted: Wanted): readonly Wanted[] {
  const { tools, workloads: all } = wanted;
  if (tools.nginx === null) return [wanted];
  return [
    { ...wanted, workloads: all.filter(({ isLive }) => !isLive) },
    { ...wanted, workloads: all.filter(({ isLive }) => isLive), tools: { ...tools, nginx: null } },
  ];
}

/** Measures these workloads over one service. */
async function measureSome(plan: Plan, wanted: Wanted): Promise<readonly Measured[]> {
  const { settings, tools, isProfiling } = wanted;
  if (wanted.workloads.length === 0) return [];
  const ids = targetOrder.filter((id) => isMeasured(id, { plan, settings }));
  await using stage = await startStage({ size: plan.world, nginx: tools.nginx, ids, settings });
  await using loader = createLoader(tools.wrk, stage.folder);
  const profilers = isProfiling ? await prepareProfilers(stage.targets) : new Map();
  const measured: Measured[] = [];
  for (const workload of wanted.workloads) {
    process.stderr.write(`${workload.what} ...\n`);
    measured.push(await measureWorkload({ stage, plan, loader, profilers }, workload));
  }
  return measured;
}

interface Choice {
  readonly plan: Plan;
  readonly settings: Wanted['settings'];
}

function isMeasured(id: TargetId, { plan, settings }: Choice): boolean {
  if (id === 'apollo' || id === 'mercurius') return plan.withPeers;
  return id !== 'ours-varied' || Object.keys(settings).length > 0;
}

function describeConditions(
  { rounds, seconds, withPeers, world, connections }: Plan,
  { settings, tools }: Wanted,
): string {
  const varied = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return [
    describeMachine(),
    `load by ${describeTool(tools.wrk)} over ${connections} connections`,
    `service: ${describeTool(tools.nginx)}, ${world.users} users with ${world.ordersPerUser} orders each`,
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
