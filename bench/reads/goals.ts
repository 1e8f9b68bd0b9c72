import { formatMs } from '../support/figures.ts';
import { type Figure, medianOf } from './measure.ts';
import { type TargetId, targetNames } from './targets.ts';
import { type WorkloadName, workloads } from './workloads.ts';

/** A goal and its figure. */
export interface Goal {
  readonly what: string;
  readonly figure: string;
  readonly goal: string;
  readonly isMet: boolean;
}

type Find = (workload: WorkloadName, target: TargetId) => Figure | undefined;

/** A measure of the gateway with default settings beside that of another server. */
interface Ratio {
  readonly workload: WorkloadName;
  readonly beside: TargetId;
  readonly measure: 'perSecond' | 'cpuMicros';
  readonly times: number;
}

const ratio = (
  workload: WorkloadName,
  measure: Ratio['measure'],
  beside: TargetId,
  times: number,
): Ratio => ({
  ...{ workload, measure, beside, times },
});

/** Processor time at most so many times the other's, requests a second at least so many times. */
const coldRatios: readonly Ratio[] = [
  ratio('first-page', 'cpuMicros', 'mercurius', 1),
  ratio('first-page', 'cpuMicros', 'handwritten', 1.5),
  ratio('first-pages', 'cpuMicros', 'mercurius', 1),
  ratio('first-pages', 'cpuMicros', 'handwritten', 1.5),
  ratio('cold-order', 'cpuMicros', 'mercurius', 1),
  ratio('cold-order', 'cpuMicros', 'tailcall', 1.2),
  ratio('own-nested', 'perSecond', 'mercurius', 5),
];

const repeatRatios: readonly Ratio[] = [
  ratio('nested', 'perSecond', 'apollo', 100),
  ratio('nested', 'perSecond', 'mercurius', 60),
  ratio('same-order', 'perSecond', 'mercurius', 3),
  ratio('same-order', 'perSecond', 'bare', 0.6),
  ratio('same-order', 'cpuMicros', 'tailcall', 1.5),
  ratio('trivial', 'perSecond', 'mercurius', 1.3),
  ratio('trivial', 'cpuMicros', 'tailcall', 1.5),
];

/** All goals whose figures were measured. */
export function judge(figures: readonly Figure[]): readonly Goal[] {
  const find: Find = (workload, target) =>
    figures.find((figure) => figure.workload === workload && figure.target === target);
  const judged = [
    ...coldRatios.map((wanted) => judgeRatio(find, wanted)),
    judgeCalls(find),
    ...repeatRatios.map((wanted) => judgeRatio(find, wanted)),
    ...workloads.flatMap(({ name }) => [judgeTail(find, name), judgeTailBesideMercurius(find, name)]),
    judgeAddedTime(find),
    judgeAnswers(figures),
  ];
  return judged.filter((goal) => goal !== null);
}

function judgeRatio(find: Find, { workload, beside, measure, times }: Ratio): Goal | null {
  const [own, other] = [
    medianOrNull(find(workload, 'ours'), measure),
    medianOrNull(find(workload, beside), measure),
  ];
  if (own === null || other === null) return null;
  const isCost = measure === 'cpuMicros';
  return {
    what: `${describeWorkload(workload)}: ${isCost ? 'processor time' : 'requests a second'}`,
    figure: `${formatRatio(own / other)} ${targetNames[beside]}${isCost ? ` (${Math.round(own)} µs)` : ''}`,
    goal: `at ${isCost ? 'most' : 'least'} ${formatRatio(times)}`,
    isMet: isCost ? own <= times * other : own >= times * other,
  };
}

const mostNestedCalls = 21;

function judgeCalls(find: Find): Goal | null {
  const calls = medianOrNull(find('own-nested', 'ours'), 'calls');
  if (calls === null) return null;
  return {
    what: `${describeWorkload('own-nested')}: calls to the service for a request`,
    figure: calls.toFixed(2),
    goal: `at most ${mostNestedCalls}`,
    isMet: calls <= mostNestedCalls,
  };
}

const mostTail = 3;

function judgeTail(find: Find, workload: WorkloadName): Goal | null {
  const figure = find(workload, 'ours');
  const [p50, p99] = [medianOrNull(figure, 'p50Ms'), medianOrNull(figure, 'p99Ms')];
  if (figure === undefined || p50 === null || p99 === null) return null;
  const bare = find(workload, 'bare');
  const [bareP50, bareP99] = [medianOrNull(bare, 'p50Ms'), medianOrNull(bare, 'p99Ms')];
  const ofBare =
    bareP50 === null || bareP99 === null ? '' : `; bare node:http ${formatRatio(bareP99 / bareP50)}`;
  return {
    what: `${describeWorkload(workload)}: p99`,
    figure: `${formatRatio(p99 / p50)} its p50 (${formatMs(p50)})${ofBare}${describeStolen(figure)}`,
    goal: `at most ${mostTail}x`,
    isMet: p99 <= mostTail * p50,
  };
}

function judgeTailBesideMercurius(find: Find, workload: WorkloadName): Goal | null {
  const [own, other] = [
    medianOrNull(find(workload, 'ours'), 'p99Ms'),
    medianOrNull(find(workload, 'mercurius'), 'p99Ms'),
  ];
  if (own === null || other === null) return null;
  return {
    what: `${describeWorkload(workload)}: p99`,
    figure: formatMs(own),
    goal: `at most that of Mercurius, ${formatMs(other)}`,
    isMet: own <= other,
  };
}

/** The machine's own share of a tail. */
function describeStolen(figure: Figure): string {
  const share = medianOf(figure, 'stolenShare');
  return share === null ? '' : `; the host took ${formatShare(share)}`;
}

const mostAddedMs = 1.5;
/** A user, and then that user's orders: most servers wait for the user. */
const readsInTurn = 2;

function judgeAddedTime(find: Find): Goal | null {
  const workload = 'first-page-4ms';
  const [own, read] = [
    medianOrNull(find(workload, 'ours'), 'p50Ms'),
    medianOrNull(find(workload, 'service'), 'p50Ms'),
  ];
  if (own === null || read === null) return null;
  const added = own - readsInTurn * read;
  return {
    what: `${describeWorkload(workload)}: p50 over that of ${readsInTurn} reads in turn`,
    figure: `${formatMs(added)} (${formatMs(own)}, a read ${formatMs(read)})`,
    goal: `at most ${formatMs(mostAddedMs)}`,
    isMet: added <= mostAddedMs,
  };
}

function judgeAnswers(figures: readonly Figure[]): Goal | null {
  const rounds = figures.filter(({ target }) => target.startsWith('ours')).flatMap((figure) => figure.rounds);
  const [checked, wrong] = [
    sum(rounds.map((round) => round.checked)),
    sum(rounds.map((round) => round.wrong)),
  ];
  if (checked === 0) return null;
  return { what: 'wrong answers', figure: `${wrong} of ${checked}`, goal: '0', isMet: wrong === 0 };
}

export function describeWorkload(name: WorkloadName): string {
  return workloads.find((workload) => workload.name === name)?.what ?? name;
}

function medianOrNull(figure: Figure | undefined, measure: Parameters<typeof medianOf>[1]): number | null {
  return figure === undefined ? null : medianOf(figure, measure);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function formatRatio(value: number): string {
  return `${value < 10 ? value.toFixed(2) : Math.round(value)}x`;
}

export function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** One line a goal. */
export function describeGoal({ what, figure, goal, isMet }: Goal): string {
  return `${what}: ${figure} (goal ${goal}) ${isMet ? 'met' : 'MISSED'}`;
}
