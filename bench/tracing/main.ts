import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startCollector } from '../../test/support/collector.ts';
import { makeSecrets, prepareGateways } from '../../test/support/fleet.ts';
import { type BenchTools, ensureBenchTools } from '../../test/support/tools.ts';
import { createLoader } from '../reads/load.ts';
import { type Figure, measureWorkload } from '../reads/measure.ts';
import type { Plan } from '../reads/plan.ts';
import { startStage } from '../reads/stage.ts';
import type { TargetId } from '../reads/targets.ts';
import { type Workload, type WorkloadName, workloads } from '../reads/workloads.ts';
import { formatNumber, quantile, type Row, toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';
import { readUsage } from '../support/process-usage.ts';

const usage = `npm run bench -- tracing [--sampled 0.1] [--short]

Measures what tracing costs: a gateway without it beside one that records this share of the traces and sends them to a
collector, by turns. The figures are processor time, of a start and of a request; the ratio is the median over pairs of
rounds. --short shows that the command works.`;

/** Many short rounds: what else the machine does is the same for both rounds of a pair. */
const full = { rounds: 31, seconds: 1, warmUpSeconds: 12, starts: 9 };
const short = { rounds: 1, seconds: 0.1, warmUpSeconds: 0.02, starts: 1 };

interface Options {
  readonly length: typeof full;
  readonly tools: BenchTools;
  /** The share of the traces that is recorded. */
  readonly sampled: string;
}

/** With tracing a gateway answers at least so many times what it answers without. */
const leastRatio = 0.9;

/** A workload, and how it is measured. */
interface Case {
  readonly workload: Workload;
  readonly what: string;
  readonly without: TargetId;
  readonly settings: Readonly<Record<string, string>>;
}

const cases: readonly Case[] = [
  {
    workload: findWorkload('first-page'),
    what: 'one user with orders and events, another each time: 2 calls to the service',
    without: 'ours',
    settings: {},
  },
  {
    // One at a time, because equal reads of several requests are joined.
    workload: { ...findWorkload('nested'), connections: 1 },
    what: '20 users with their orders, nothing cached: 21 calls to the service',
    without: 'ours-uncached',
    settings: { READ_CACHE_SECONDS: '0' },
  },
  {
    workload: findWorkload('nested'),
    what: '20 users with their orders, the answer is cached: no call',
    without: 'ours',
    settings: {},
  },
];

function findWorkload(wanted: WorkloadName): Workload {
  const found = workloads.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`There is no workload ${wanted}.`);
  return found;
}

/** Runs the bench and prints its table. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sampled: { type: 'string', default: '0.1' },
      short: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const { sampled } = values;
  const options = values.short
    ? { sampled, length: short, tools: { nginx: null, wrk: null } }
    : { sampled, length: full, tools: ensureBenchTools() };
  const rows = await measureStarts(options);
  for (const each of cases) {
    process.stderr.write(`${each.what} ...\n`);
    rows.push(...(await measureCase(each, options)));
  }
  process.stdout.write(`\n${toTable(rows)}\n\n${describeMachine()}\n`);
}

function traceTo(url: string, sampled: string): Readonly<Record<string, string>> {
  return { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER_ARG: sampled };
}

async function measureCase(
  { workload, what, without, settings }: Case,
  { sampled, length: { rounds, seconds, warmUpSeconds }, tools: { nginx, wrk } }: Options,
): Promise<readonly Row[]> {
  await using collector = await startCollector();
  const size = { users: 100, ordersPerUser: 5 };
  const plan: Plan = {
    ...{ world: size, viewers: 0, webhooksPerSecond: 0, withPeers: false },
    ...{ rounds, seconds, warmUpSeconds },
  };
  const ids = [without, 'ours-varied' as const];
  const traced = { ...settings, ...traceTo(collector.url, sampled) };
  await using stage = await startStage({ size, viewers: 0, nginx, ids, settings: traced, workload });
  await using loader = createLoader(wrk, stage.folder);
  const { figures } = await measureWorkload({ stage, plan, loader, workload, profilers: new Map() });
  const [off, on] = figures.map(readCosts);
  return compare(`${what}; ${formatNumber(collector.spans.length)} spans`, off ?? [], on ?? []);
}

/** Processor time of a request in each round. */
function readCosts({ rounds, fault }: Figure): readonly number[] {
  if (fault !== null) throw new Error(fault);
  return rounds.map(({ cpuMicros }) => cpuMicros ?? Number.NaN);
}

/** Processor time from the start of a process until it listens. */
async function measureStarts({ sampled, length: { starts } }: Options): Promise<Row[]> {
  await using collector = await startCollector();
  const folder = mkdtempSync(join(tmpdir(), 'labgraph-bench-'));
  const measured: readonly [number[], number[]] = [[], []];
  const settings = [{}, traceTo(collector.url, sampled)];
  // The first start of each fills the cache of compiled code.
  for (let start = 0; start <= starts; start += 1) {
    for (const [index, env] of settings.entries()) {
      const cpuMicros = await startOnce(join(folder, String(index)), env);
      if (start > 0) measured[index]?.push(cpuMicros);
    }
  }
  rmSync(folder, { recursive: true, force: true });
  const [off, on] = measured;
  return [
    describe('a start, without tracing', off, { goal: null, isMet: null }),
    describe('a start, with tracing', on, { goal: null, isMet: null }),
  ];
}

async function startOnce(folder: string, env: Readonly<Record<string, string>>): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const around = { folder, teamId: crypto.randomUUID(), secrets: makeSecrets(), redis: undefined };
  // Nothing is asked of the service.
  const [gateway] = await prepareGateways({ ...around, service: 'http://127.0.0.1:9', env });
  await gateway?.start();
  const cpuMicros = readUsage(gateway?.pid() ?? null)?.cpuMicros ?? Number.NaN;
  await gateway?.end('SIGKILL');
  return cpuMicros;
}

function compare(what: string, off: readonly number[], on: readonly number[]): readonly Row[] {
  const ratio = quantile(
    off.map((micros, round) => micros / (on[round] ?? Number.NaN)),
    0.5,
  );
  const goal = `at least ${leastRatio}x`;
  return [
    describe(`${what}: without tracing`, off, { goal: null, isMet: null }),
    describe(`the same, with tracing: ${ratio.toFixed(2)}x as many requests in the same processor time`, on, {
      goal,
      isMet: ratio >= leastRatio,
    }),
  ];
}

/** The median, with the least and the most. */
function describe(what: string, micros: readonly number[], goal: Pick<Row, 'goal' | 'isMet'>): Row {
  const [median, least, most] = [quantile(micros, 0.5), Math.min(...micros), Math.max(...micros)];
  const figure = `${formatMicros(median)} (${formatMicros(least)} to ${formatMicros(most)})`;
  return { what, figure, samples: micros.length, ...goal };
}

function formatMicros(micros: number): string {
  return micros < 100 ? `${micros.toFixed(1)} µs` : `${formatNumber(micros)} µs`;
}
