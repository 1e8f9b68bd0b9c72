import { readFileSync, writeFileSync } from 'node:fs';
import { formatMs, formatNumber } from '../support/figures.ts';
import { putMarked } from '../support/marked-page.ts';
import { describeWorkload, type Goal, judge } from './goals.ts';
import type { Figure } from './measure.ts';
import { drawCosts, drawLatencies, drawRates } from './plots.ts';
import type { Profile } from './profile.ts';
import { targetNames, targetOrder } from './targets.ts';
import { workloads } from './workloads.ts';

/** What the bench found out. */
export interface ReadsReport {
  readonly figures: readonly Figure[];
  readonly profiles: readonly Profile[];
  /** What was measured on and with: machine, versions, settings. */
  readonly conditions: string;
  /** The share of the processors' time that the host gave to others meanwhile; null where nobody says. */
  readonly stolenShare: number | null;
}

const docs = new URL('../../docs/', import.meta.url);
const page = new URL('performance.md', docs);
const images = { rates: 'reads-rates.svg', latencies: 'reads-latencies.svg', costs: 'reads-costs.svg' };

/** Puts tables and plots into docs/performance.md and docs/images; what people wrote around them stays. */
export function writeReport(report: ReadsReport): void {
  const plots = [
    [images.rates, drawRates],
    [images.latencies, drawLatencies],
    [images.costs, drawCosts],
  ] as const;
  for (const [file, draw] of plots) writeFileSync(new URL(`images/${file}`, docs), draw(report.figures));
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'measured', describeReport(report, images)));
}

/** The report as Markdown; with plots where their files are named. */
export function describeReport(report: ReadsReport, plots: Partial<typeof images> = {}): string {
  const { figures, profiles, conditions } = report;
  const goals = judge(figures);
  const sections = [
    `Measured by \`npm run bench\` on ${conditions}.`,
    section('Goals', toGoalTable(goals)),
    section(
      'Requests a second',
      toTable(figures, ({ perSecond }) => formatNumber(perSecond)),
      plots.rates,
    ),
    section(
      'Latency',
      `${describeTails(report)}\n\n${toTable(
        figures,
        ({ p50Ms, p99Ms }) => `${formatMs(p50Ms)}, ${formatMs(p99Ms)}`,
      )}`,
      plots.latencies,
    ),
    section('What a user more costs', describeCosts(figures), plots.costs),
    section('Calls to the service', describeCalls(figures)),
    section('Where a goal is missed', describeMisses(goals, profiles)),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function section(title: string, text: string, image?: string): string {
  if (text === '') return '';
  return `## ${title}\n\n${text}${image === undefined ? '' : `\n\n![${title}](images/${image})`}`;
}

/** With what the machine itself adds to the slowest of them. */
function describeTails({ figures, stolenShare }: ReadsReport): string {
  const bare = figures.filter(({ target }) => target === 'bare').map(({ p50Ms, p99Ms }) => p99Ms / p50Ms);
  return [
    'Half of the requests took at most the first time, 99 of 100 at most the second.',
    ...(stolenShare === null
      ? []
      : [`The host gave ${(stolenShare * 100).toFixed(1)} % of the processors' time to others meanwhile.`]),
    ...(bare.length === 0
      ? []
      : [
          `The second time of bare node:http, which does nothing, is ${Math.max(...bare).toFixed(1)} times its first at worst.`,
        ]),
  ].join(' ');
}

/** Workloads by servers; a cell is empty where one was not asked. */
function toTable(figures: readonly Figure[], toCell: (figure: Figure) => string): string {
  const targets = targetOrder.filter((id) => figures.some(({ target }) => target === id));
  const rows = workloads.flatMap(({ name, what }) => {
    const own = figures.filter(({ workload }) => workload === name);
    const cells = targets.map((id) =>
      own
        .filter(({ target }) => target === id)
        .map(toCell)
        .join(''),
    );
    return own.length === 0 ? [] : [toRow([what, ...cells])];
  });
  const rule = `|---|${targets.map(() => '---:|').join('')}`;
  return [toRow(['', ...targets.map((id) => targetNames[id])]), rule, ...rows].join('\n');
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function toGoalTable(goals: readonly Goal[]): string {
  if (goals.length === 0) return '';
  const rows = goals.map(({ what, figure, goal, isMet }) =>
    toRow([what, figure, goal, isMet ? 'yes' : '**no**']),
  );
  return [toRow(['what', 'figure', 'goal', 'met']), '|---|---|---|---|', ...rows].join('\n');
}

function describeCosts(figures: readonly Figure[]): string {
  if (!figures.some(({ workload }) => workload === 'nested-100')) return '';
  return 'Of a nested request, by how many users it asks for: a line that is level or falls means that nothing grows faster than the answer does.';
}

function describeCalls(figures: readonly Figure[]): string {
  const rows = targetOrder.flatMap((id) =>
    figures
      .filter(({ target, callsPerThousand }) => target === id && callsPerThousand !== null)
      .map(({ callsPerThousand }) => toRow([targetNames[id], formatNumber(callsPerThousand ?? 0)])),
  );
  if (rows.length === 0) return '';
  const head = toRow([
    'of 20 users and their orders, beside writes and webhooks',
    'lists asked for by 1,000 nested reads',
  ]);
  return [head, '|---|---:|', ...rows].join('\n');
}

function describeMisses(goals: readonly Goal[], profiles: readonly Profile[]): string {
  const missed = goals.filter(({ isMet }) => !isMet);
  if (missed.length === 0) return goals.length === 0 ? '' : 'None is.';
  const lines = missed.map(({ what, figure, goal }) => `- ${what}: ${figure}, goal ${goal}.`);
  const looked = profiles.filter(({ workload, target }) =>
    missed.some(({ of }) => of.workload === workload && of.target === target),
  );
  return [lines.join('\n'), ...looked.map(describeProfile)].join('\n\n');
}

/** Where the time of one server went, as Markdown. */
export function describeProfile({ workload, target, busyShare, top, parts }: Profile): string {
  const rows = top.map(({ name, place, share }, index) => {
    const part = parts[index];
    const ofPart = part === undefined ? ['', ''] : [formatShare(part.share), part.part];
    return toRow([formatShare(share), name, place, ...ofPart]);
  });
  const busy = Math.round(busyShare * 100);
  const title = `${targetNames[target]}, ${describeWorkload(workload)}: its main thread is busy ${busy} % of the time, with`;
  const head = toRow(['of that', 'function', 'where', 'and of that', 'all of']);
  return [title, '', head, '|---:|---|---|---:|---|', ...rows].join('\n');
}

function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
