import { formatMs } from '../support/figures.ts';
import type { Figure } from './measure.ts';
import { type TargetId, targetNames } from './targets.ts';
import { type WorkloadName, workloads } from './workloads.ts';
import { userCounts } from './world.ts';

/** A goal and its figure. */
export interface Goal {
  readonly what: string;
  readonly figure: string;
  readonly goal: string;
  readonly isMet: boolean;
}

type Find = (workload: WorkloadName, target: TargetId) => Figure | undefined;

interface Rate {
  readonly workload: WorkloadName;
  readonly ours?: 'ours' | 'ours-uncached';
  readonly beside: TargetId;
  readonly times: number;
}

const rates: readonly Rate[] = [
  { workload: 'nested-20', beside: 'apollo', times: 100 },
  { workload: 'nested-20', beside: 'mercurius', times: 60 },
  { workload: 'nested-20', ours: 'ours-uncached', beside: 'apollo', times: 20 },
  { workload: 'same-order', beside: 'mercurius', times: 3 },
  { workload: 'same-order', beside: 'bare', times: 0.55 },
  { workload: 'many-orders', ours: 'ours-uncached', beside: 'mercurius', times: 1 },
  { workload: 'many-orders', beside: 'mercurius', times: 1.6 },
  { workload: 'trivial', beside: 'mercurius', times: 1 },
];

interface Cpu {
  readonly workload: WorkloadName;
  readonly ours: 'ours' | 'ours-uncached';
  readonly beside: TargetId;
  /** At most so many times its processor time. */
  readonly times: number;
}

/** What a first view costs; a cache cannot answer it. */
const cpuTimes: readonly Cpu[] = [{ workload: 'first-page', ours: 'ours', beside: 'mercurius', times: 1 }];

/** All goals whose figures were measured. */
export function judge(figures: readonly Figure[]): readonly Goal[] {
  const find: Find = (workload, target) =>
    figures.find((figure) => figure.workload === workload && figure.target === target);
  const judged = [
    ...cpuTimes.map((cpu) => judgeCpu(find, cpu)),
    ...rates.map((rate) => judgeRate(find, rate)),
    judgeOwnOrders(find),
    judgeTail(find),
    ...workloads.map(({ name }) => judgeTailBesideMercurius(find, name)),
    ...(['ours', 'ours-uncached'] as const).map((target) => judgeGrowth(figures, target)),
  ];
  return judged.filter((goal) => goal !== null);
}

function judgeCpu(find: Find, { workload, ours, beside, times }: Cpu): Goal | null {
  const [own, other] = [find(workload, ours)?.cpuMicros, find(workload, beside)?.cpuMicros];
  if (!own || !other) return null;
  return {
    what: `${describeWorkload(workload)}, processor time`,
    figure: `${(own / other).toFixed(2)}x ${targetNames[beside]} (${Math.round(own)} µs)`,
    goal: `at most ${times.toFixed(2)}x`,
    isMet: own <= times * other,
  };
}

function judgeRate(find: Find, { workload, ours = 'ours', beside, times }: Rate): Goal | null {
  const [own, other] = [find(workload, ours), find(workload, beside)];
  if (own === undefined || other === undefined) return null;
  const ratio = own.perSecond / other.perSecond;
  return {
    what: `${describeWorkload(workload)}, ${describeCache(ours)}`,
    figure: `${formatRatio(ratio, times)} ${targetNames[beside]}`,
    goal: formatRatio(times, times),
    isMet: ratio >= times,
  };
}

/** Many callers with tokens of their own must cost little more than one caller. */
function judgeOwnOrders(find: Find): Goal | null {
  const [own, one] = [find('own-orders', 'ours'), find('many-orders', 'ours')];
  if (own === undefined || one === undefined) return null;
  const share = own.perSecond / one.perSecond;
  return {
    what: describeWorkload('own-orders'),
    figure: `${formatRatio(share, 0.8)} of ${describeWorkload('many-orders')}`,
    goal: formatRatio(0.8, 0.8),
    isMet: share >= 0.8,
  };
}

function judgeTail(find: Find): Goal | null {
  const own = find('nested-20', 'ours');
  if (own === undefined) return null;
  const times = own.p99Ms / own.p50Ms;
  return {
    what: `${describeWorkload('nested-20')}, p99`,
    figure: `${formatRatio(times, 3)} its p50 (${formatMs(own.p50Ms)})`,
    goal: 'at most 3x',
    isMet: times <= 3,
  };
}

function judgeTailBesideMercurius(find: Find, workload: WorkloadName): Goal | null {
  const [own, other] = [find(workload, 'ours'), find(workload, 'mercurius')];
  if (own === undefined || other === undefined) return null;
  return {
    what: `${describeWorkload(workload)}, p99`,
    figure: formatMs(own.p99Ms),
    goal: `at most that of Mercurius, ${formatMs(other.p99Ms)}`,
    isMet: own.p99Ms <= other.p99Ms,
  };
}

const steadyGrowth = 1.5;

/**
 * One more user among many must cost about as much as each of half as many. Comparing with few users would compare
 * noise: from a cached answer, a user costs a tenth of a microsecond.
 */
function judgeGrowth(figures: readonly Figure[], target: 'ours' | 'ours-uncached'): Goal | null {
  const costs = nestedCosts(figures, target);
  const [some, many] = [costs.at(-2), costs.at(-1)];
  if (some === undefined || many === undefined || costs.length < userCounts.length) return null;
  const each = some.microseconds / some.users;
  const more = (many.microseconds - some.microseconds) / (many.users - some.users);
  return {
    what: `nested, cost of one more user, ${describeCache(target)}`,
    figure: `${more.toFixed(2)} µs beyond ${some.users} users, each of those ${each.toFixed(2)} µs`,
    goal: `at most ${steadyGrowth}x`,
    isMet: more <= steadyGrowth * each,
  };
}

/** The cost of one nested request on an otherwise idle server. */
export interface Cost {
  readonly users: number;
  readonly microseconds: number;
}

export function nestedCosts(figures: readonly Figure[], target: TargetId): readonly Cost[] {
  return userCounts.flatMap((users) =>
    figures
      .filter((figure) => figure.workload === `nested-${users}` && figure.target === target)
      .map(({ perSecond }) => ({ users, microseconds: 1e6 / perSecond })),
  );
}

function describeCache(target: 'ours' | 'ours-uncached'): string {
  return target === 'ours' ? 'cached' : 'no cache, in-flight reads joined';
}

export function describeWorkload(name: WorkloadName): string {
  return workloads.find((workload) => workload.name === name)?.what ?? name;
}

/** `112x`, or `61 %` where the goal is less than all of it. */
function formatRatio(ratio: number, goal: number): string {
  if (goal < 1) return `${Math.round(ratio * 100)} %`;
  return `${ratio < 10 ? ratio.toFixed(2) : Math.round(ratio)}x`;
}

/** One line a goal. */
export function describeGoal({ what, figure, goal, isMet }: Goal): string {
  return `${what}: ${figure} (goal ${goal}) ${isMet ? 'met' : 'MISSED'}`;
}
