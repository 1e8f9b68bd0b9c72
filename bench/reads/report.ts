import { readFileSync, writeFileSync } from 'node:fs';
import { formatMs, formatNumber } from '../support/figures.ts';
import { putMarked } from '../support/marked-page.ts';
import { describeWorkload, type Goal, judge, nestedCosts } from './goals.ts';
import type { Figure } from './measure.ts';
import type { Profile } from './profile.ts';
import { targetNames, targetOrder } from './targets.ts';
import { workloads } from './workloads.ts';
import { userCounts } from './world.ts';

/** The results of the bench. */
export interface ReadsReport {
  readonly figures: readonly Figure[];
  readonly profiles: readonly Profile[];
  /** Machine, versions, settings. */
  readonly conditions: string;
  /** The share of the processors' time that the host gave to other machines; null where it is unknown. */
  readonly stolenShare: number | null;
}

const page = new URL('../../docs/performance.md', import.meta.url);

/** Puts the tables into docs/performance.md; the text around them stays. */
export function writeReport(report: ReadsReport): void {
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'measured', describeReport(report)));
}

/** The report as Markdown. */
export function describeReport(report: ReadsReport): string {
  const { figures, conditions } = report;
  const sections = [
    `Measured by \`npm run bench\` on ${conditions}.`,
    section('Which goals are met?', toGoalTable(judge(figures))),
    section(
      'How many requests a second?',
      toTable(figures, ({ perSecond }) => formatNumber(perSecond)),
    ),
    section('How long does a request take?', toLatencyTable(report)),
    section('What does a request take of the server?', toUsageTable(figures)),
    section('What does one more user cost?', toCostTable(figures)),
    section('How many calls does the service get?', toCallTable(figures)),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function section(title: string, text: string): string {
  return text === '' ? '' : `## ${title}\n\n${text}`;
}

function toLatencyTable(report: ReadsReport): string {
  const table = toTable(report.figures, ({ p50Ms, p99Ms }) => `${formatMs(p50Ms)}, ${formatMs(p99Ms)}`);
  return `${describeTails(report)}\n\n${table}`;
}

/** The share of the slowest requests that the machine itself explains. */
function describeTails({ figures, stolenShare }: ReadsReport): string {
  const bare = figures.filter(({ target }) => target === 'bare').map(({ p50Ms, p99Ms }) => p99Ms / p50Ms);
  return [
    'The first time is the median (p50), the second the 99th percentile (p99).',
    ...(stolenShare === null
      ? []
      : [`The host gave ${(stolenShare * 100).toFixed(1)} % of the processors' time to other machines.`]),
    ...(bare.length === 0
      ? []
      : [
          `For bare node:http, which does no work, p99 is up to ${Math.max(...bare).toFixed(1)} times its p50.`,
        ]),
  ].join(' ');
}

function toUsageTable(figures: readonly Figure[]): string {
  if (!figures.some(({ cpuMicros }) => cpuMicros !== null)) return '';
  const lead =
    'Processor time of the server for one request, user and system, and its resident memory after the last round. It depends less on what else the machine does than rates do.';
  const table = toTable(figures, ({ cpuMicros, residentMiB }) =>
    cpuMicros === null || residentMiB === null
      ? ''
      : `${formatNumber(cpuMicros)} µs, ${formatNumber(residentMiB)} MiB`,
  );
  return `${lead}\n\n${table}`;
}

/** Workloads by servers; a cell is empty where it was not measured. */
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

/** Microseconds of a nested request for each of its users; a level or falling column shows linear growth. */
function toCostTable(figures: readonly Figure[]): string {
  if (!figures.some(({ workload }) => workload === 'nested-100')) return '';
  const targets = targetOrder.filter((id) => nestedCosts(figures, id).length > 0);
  const rows = userCounts.map((users) => {
    const costs = targets.map((id) => nestedCosts(figures, id).find((cost) => cost.users === users));
    return toRow([
      String(users),
      ...costs.map((cost) => (cost === undefined ? '' : (cost.microseconds / users).toFixed(1))),
    ]);
  });
  const head = toRow(['users in one nested request', ...targets.map((id) => targetNames[id])]);
  const rule = `|---:|${targets.map(() => '---:|').join('')}`;
  const lead =
    'Microseconds for each user of the request. A column that is level or falls grows no faster than the answer.';
  return [lead, '', head, rule, ...rows].join('\n');
}

function toCallTable(figures: readonly Figure[]): string {
  const rows = targetOrder.flatMap((id) =>
    figures
      .filter(({ target, callsPerThousand }) => target === id && callsPerThousand !== null)
      .map(({ callsPerThousand }) => toRow([targetNames[id], formatNumber(callsPerThousand ?? 0)])),
  );
  if (rows.length === 0) return '';
  const head = toRow(['nested reads of 20 users, beside writes and webhooks', 'list calls for 1,000 reads']);
  return [head, '|---|---:|', ...rows].join('\n');
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

function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
