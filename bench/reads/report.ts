import { readFileSync, writeFileSync } from 'node:fs';
import { describeMet, formatMs, formatNumber } from '../support/figures.ts';
import { putMarked } from '../support/marked-page.ts';
import { describeWorkload, formatShare, type Goal, judge } from './goals.ts';
import { type Figure, medianOf } from './measure.ts';
import type { Profile } from './profile.ts';
import { type TargetId, targetNames, targetOrder } from './targets.ts';
import { workloads } from './workloads.ts';

/** The results of the bench. */
export interface ReadsReport {
  readonly figures: readonly Figure[];
  readonly profiles: readonly Profile[];
  /** Workloads that were not measured, and why. */
  readonly notMeasured: readonly string[];
  /** Machine, versions, settings. */
  readonly conditions: string;
}

const page = new URL('../../docs/performance.md', import.meta.url);
const readme = new URL('../../README.md', import.meta.url);
const rounds = new URL('../../docs/performance-rounds.json', import.meta.url);

/** Puts the tables into docs/performance.md and the README, where the text around them stays, and all rounds into a file. */
export function writeReport(report: ReadsReport): void {
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'measured', describeReport(report)));
  writeFileSync(readme, putMarked(readFileSync(readme, 'utf8'), 'measured', describeCosts(report)));
  const { conditions, figures } = report;
  const brief = (_name: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toFixed(4)) : value;
  writeFileSync(rounds, `${JSON.stringify({ conditions, figures }, brief, 1)}\n`);
}

/** The report as Markdown. */
export function describeReport({ figures, conditions, notMeasured }: ReadsReport): string {
  const measured = workloads.filter(({ name }) => figures.some(({ workload }) => workload === name));
  const tables = measured.map(({ name, what }) =>
    section(
      what[0]?.toUpperCase() + what.slice(1),
      toTable(figures.filter(({ workload }) => workload === name)),
    ),
  );
  return [
    `Measured by \`npm run bench\` on ${conditions}.`,
    ...notMeasured,
    section('Which goals are met?', toGoalTable(judge(figures))),
    'Memory has goals of its own: [below](#how-much-memory-does-it-need).',
    ...tables,
  ].join('\n\n');
}

const readmeTargets: readonly TargetId[] = ['ours', 'mercurius', 'apollo', 'yoga', 'tailcall', 'handwritten'];

/** Processor time alone, workloads by servers: for a reader in a hurry. */
function describeCosts({ figures }: ReadsReport): string {
  const rows = workloads.flatMap(({ name, what }) => {
    const own = figures.filter(({ workload }) => workload === name);
    const cells = readmeTargets.map((id) => {
      const figure = own.find(({ target }) => target === id);
      return figure === undefined ? '' : describeMedian(figure);
    });
    return own.length === 0 ? [] : [toRow([what, ...cells])];
  });
  return [
    'Processor time of the server for one request ([all rows, conditions and goals](docs/performance.md)):',
    '',
    toRow(['', ...readmeTargets.map((id) => targetNames[id])]),
    `|---|${readmeTargets.map(() => '---:|').join('')}`,
    ...rows,
  ].join('\n');
}

function describeMedian(figure: Figure): string {
  const micros = figure.fault === null ? medianOf(figure, 'cpuMicros') : null;
  return micros === null ? '' : `${formatNumber(micros)} µs`;
}

function section(title: string, text: string): string {
  return `## ${title}\n\n${text}`;
}

const columns = [
  ...['', 'requests a second', 'processor time', 'p50', 'p99', 'calls', 'memory', 'wrong', 'stolen'],
];

/** One server a row: medians of the rounds, with the least and the most. */
function toTable(figures: readonly Figure[]): string {
  const rows = targetOrder.flatMap((id) => figures.filter(({ target }) => target === id).map(toCells));
  return [toRow(columns), `|---|${'---:|'.repeat(columns.length - 1)}`, ...rows.map(toRow)].join('\n');
}

function toCells(figure: Figure): readonly string[] {
  const name = targetNames[figure.target];
  if (figure.fault !== null || figure.rounds.length === 0)
    return [name, toCell(figure.fault ?? 'not measured'), ...columns.slice(2).map(() => '')];
  const count = (what: 'checked' | 'wrong') => figure.rounds.reduce((total, round) => total + round[what], 0);
  return [
    name,
    describeSpread(figure, 'perSecond', formatNumber),
    describeSpread(figure, 'cpuMicros', (micros) => `${formatNumber(micros)} µs`),
    describeSpread(figure, 'p50Ms', formatMs),
    describeSpread(figure, 'p99Ms', formatMs),
    (medianOf(figure, 'calls') ?? 0).toFixed(2),
    describeLast(figure),
    count('checked') === 0 ? '' : `${count('wrong')} of ${count('checked')}`,
    formatShare(medianOf(figure, 'stolenShare') ?? 0),
  ];
}

/** `1,185 (1,100 to 1,250)`: the median, the least and the most. */
function describeSpread(
  figure: Figure,
  measure: 'perSecond' | 'cpuMicros' | 'p50Ms' | 'p99Ms',
  format: (value: number) => string,
): string {
  const values = figure.rounds.map((round) => round[measure]).filter((value) => value !== null);
  const median = medianOf(figure, measure);
  if (median === null) return '';
  if (values.length === 1) return format(median);
  return `${format(median)} (${format(Math.min(...values))} to ${format(Math.max(...values))})`;
}

function describeLast({ rounds: all }: Figure): string {
  const resident = all.at(-1)?.residentMB;
  return typeof resident === 'number' ? `${formatNumber(resident)} MB` : '';
}

const mostFaultCharacters = 160;

/** A fault in words, as short and plain as a cell of a table needs it. */
function toCell(fault: string): string {
  const line = fault.replaceAll(/\s+/g, ' ').replaceAll('|', '/').replaceAll('`', "'");
  return line.length > mostFaultCharacters ? `${line.slice(0, mostFaultCharacters)} ...` : line;
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function toGoalTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ what, figure, goal, isMet }) => toRow([what, figure, goal, describeMet(isMet)]));
  return [toRow(['what', 'figure', 'goal', 'met']), '|---|---|---|---|', ...rows].join('\n');
}

/** Where the time of one server went, as Markdown. */
export function describeProfile({ workload, target, busyShare, top, parts }: Profile): string {
  const rows = top.map(({ name, place, share }, index) => {
    const part = parts[index];
    const ofPart = part === undefined ? ['', ''] : [formatShare(part.share), part.part];
    return toRow([formatShare(share), name, place, ...ofPart]);
  });
  const busy = Math.round(busyShare * 100);
  const title = `${targetNames[target]}, ${describeWorkload(workload)}: the main thread is busy ${busy} % of the time`;
  const head = toRow(['share', 'function', 'place', 'share', 'part']);
  return [title, '', head, '|---:|---|---|---:|---|', ...rows].join('\n');
}
