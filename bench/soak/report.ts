import { readFileSync, writeFileSync } from 'node:fs';
import { formatMs, formatNumber, toTable } from '../support/figures.ts';
import { describeMachine } from '../support/machine.ts';
import { putMarked } from '../support/marked-page.ts';
import type { Plan } from './plan.ts';
import type { Soaked } from './run.ts';
import type { Sample } from './sample.ts';
import { judge } from './verdict.ts';

const page = new URL('../../docs/performance.md', import.meta.url);
const megabyte = 1e6;

/** Puts the table into docs/performance.md; the text around it stays. */
export function writeReport(soaked: Soaked): void {
  writeFileSync(page, putMarked(readFileSync(page, 'utf8'), 'soaked', describe(soaked)));
}

/** The report as Markdown. */
export function describe(soaked: Soaked): string {
  const { plan } = soaked;
  return `## Does it leak under load and faults?

Measured by \`npm run soak\` on ${describeMachine()}.

For ${describeLength(plan)} the gateway received ${plan.visitsPerSecond} requests a second (a third nested reads of 20 users, 5 % writes, the rest one order
for its user or the team) and ${plan.webhooksPerSecond} webhooks a second, of which one in 20 came twice. ${plan.passers} subscribers connected and left over SSE and
WebSocket. In every period of ${formatNumber(plan.periodSeconds)} s the service failed in six ways for a thirtieth of the period each: it answered 503, was slow,
broke off answers, sent half of its JSON, refused connections, and was stopped (SIGSTOP). p99 is of requests at other times.

${toTable(judge(soaked))}`;
}

function describeLength({ periods, periodSeconds }: Plan): string {
  return `${formatNumber((periods * periodSeconds) / 60)} minutes`;
}

/** One line for each sample, printed during the soak. */
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
