import { readFileSync, writeFileSync } from 'node:fs';
import { ticksTo } from '../support/chart.ts';
import { formatMs, formatNumber, toTable } from '../support/figures.ts';
import { drawChart, type Series } from '../support/line-chart.ts';
import { describeMachine } from '../support/machine.ts';
import { putMarked } from '../support/marked-page.ts';
import type { Plan } from './plan.ts';
import type { Soaked } from './run.ts';
import type { Sample } from './sample.ts';
import { judge } from './verdict.ts';

const docs = new URL('../../docs/', import.meta.url);
const page = new URL('performance.md', docs);
const images = { memory: 'soak-memory.svg', latency: 'soak-latency.svg' };
const megabyte = 1e6;

/** Puts table and plots into docs/performance.md and docs/images; what people wrote around them stays. */
export function writeReport(soaked: Soaked): void {
  writeFileSync(new URL(`images/${images.memory}`, docs), drawMemory(soaked));
  writeFileSync(new URL(`images/${images.latency}`, docs), drawLatency(soaked));
  const plots = `![Memory and open files](images/${images.memory})\n\n![Latency](images/${images.latency})`;
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'soaked', `${describe(soaked)}\n\n${plots}`));
}

/** The report as Markdown. */
export function describe(soaked: Soaked): string {
  const { plan } = soaked;
  return `## Soak

Measured by \`npm run soak\` on ${describeMachine()}: ${describeLength(plan)} of ${plan.visitsPerSecond} requests a second (a third
nested reads of 20 users, 5 % writes, the rest one order as its user or the team), ${plan.webhooksPerSecond} webhooks a second of which one in 20 comes
twice, and ${plan.passers} subscribers that come and go over SSE and WebSocket. Every period (${formatNumber(plan.periodSeconds)} s) the service fails (503), is slow, cuts
its answers, sends half of its JSON, does not listen and stands still (SIGSTOP), a thirtieth of the period each. p99 is of requests at other times.

${toTable(judge(soaked))}`;
}

function describeLength({ periods, periodSeconds }: Plan): string {
  return `${formatNumber((periods * periodSeconds) / 60)} minutes`;
}

/** One line of what is printed while it goes on. */
export function describeSample(sample: Sample, number: number): string {
  const { heapBytes, rssBytes, files, resources, loopLagMs, p50Ms, p99Ms } = sample;
  return [
    `${number}.`,
    `live ${(heapBytes / megabyte).toFixed(1)} MB`,
    `resident ${(rssBytes / megabyte).toFixed(1)} MB`,
    `${files} files`,
    `${resources} resources`,
    `lag p99 ${formatMs(loopLagMs)}`,
    `p50 ${formatMs(p50Ms)}`,
    `p99 ${formatMs(p99Ms)}`,
  ].join(', ');
}

interface Line {
  readonly name: string;
  readonly of: (sample: Sample) => number;
}

function drawMemory(soaked: Soaked): string {
  return drawLines(soaked, {
    title: 'Memory and open files',
    label: 'megabytes; files as they are counted',
    lines: [
      { name: 'resident memory, MB', of: ({ rssBytes }) => rssBytes / megabyte },
      { name: 'live objects, MB', of: ({ heapBytes }) => heapBytes / megabyte },
      { name: 'open files', of: ({ files }) => files },
    ],
  });
}

function drawLatency(soaked: Soaked): string {
  return drawLines(soaked, {
    title: 'Latency',
    label: 'milliseconds, while nothing is done to the service',
    lines: [
      { name: 'requests, p99', of: ({ p99Ms }) => p99Ms },
      { name: 'requests, p50', of: ({ p50Ms }) => p50Ms },
      { name: 'lag of the event loop, p99', of: ({ loopLagMs }) => loopLagMs },
    ],
  });
}

interface Drawing {
  readonly title: string;
  readonly label: string;
  readonly lines: readonly Line[];
}

function drawLines({ samples, plan }: Soaked, { title, label, lines }: Drawing): string {
  const minutesAt = (index: number) => ((index + 1) * plan.periodSeconds) / 60;
  const series: readonly Series[] = lines.map(({ name, of }) => ({
    name,
    points: samples.map((sample, index) => [minutesAt(index), of(sample)]),
  }));
  const most = Math.max(...series.flatMap(({ points }) => points.map(([, value]) => value)));
  return drawChart({
    title,
    x: { label: 'minutes', ticks: ticksTo(minutesAt(samples.length - 1), String) },
    y: { label, ticks: ticksTo(most, formatNumber) },
    series,
  });
}
