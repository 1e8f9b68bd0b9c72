import { writeFileSync } from 'node:fs';
import { type Tick, ticksTo } from '../support/chart.ts';
import { type Distribution, quantile, type Row, toTable } from '../support/figures.ts';
import { drawChart } from '../support/line-chart.ts';
import { describeMachine } from '../support/machine.ts';
import { goalPerGigabyte, type MemoryPoint } from './idle.ts';

/** What the bench found out over one store. */
export interface DeliveryReport {
  readonly store: string;
  readonly rows: readonly Row[];
  readonly distributions: readonly Distribution[];
  readonly memory: readonly MemoryPoint[];
}

const docs = new URL('../../docs/', import.meta.url);

/** Puts the reports into docs/performance-delivery.md, and their plots into docs/images. */
export function writeReports(reports: readonly DeliveryReport[]): void {
  for (const report of reports) {
    writeFileSync(new URL(`images/${latencyFile(report)}`, docs), drawLatencies(report));
    writeFileSync(new URL(`images/${memoryFile(report)}`, docs), drawMemory(report));
  }
  writeFileSync(new URL('performance-delivery.md', docs), describeReports(reports));
}

function describeReports(reports: readonly DeliveryReport[]): string {
  const sections = reports.map(
    (report) => `## Over ${report.store}

${toTable(report.rows)}

![Latencies by share of the messages](images/${latencyFile(report)})

![Memory by idle sockets](images/${memoryFile(report)})
`,
  );
  return `# Delivery, measured

Made by \`npm run bench -- delivery --write\` on ${describeMachine()}.

Gateways, posters and subscribers are processes of their own on one machine, with one clock. Over Redis there are two
gateways: webhooks go to one, subscribers are at the other. Bodies are sealed and every append is synced to disk, as in
production. Each figure follows a warm-up. The service answers at once, so the figures are the gateway's own.

${sections.join('\n')}`;
}

function latencyFile({ store }: DeliveryReport): string {
  return `delivery-latency-${store}.svg`;
}

function memoryFile({ store }: DeliveryReport): string {
  return `delivery-memory-${store}.svg`;
}

const shares = [0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999];
const shareTicks: readonly Tick[] = [0, 0.5, 0.9, 0.99, 0.999].map((at) => ({
  at,
  label: at === 0 ? 'fastest' : `${at * 100} %`,
}));
const latencyTicks: readonly Tick[] = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000].map((at) => ({
  at,
  label: at < 1000 ? `${at} ms` : '1 s',
}));

/** Each step to the right leaves ten times fewer messages: the slow ones are what is looked for. */
function toNines(share: number): number {
  return -Math.log10(1 - share);
}

function drawLatencies({ store, distributions }: DeliveryReport): string {
  return drawChart({
    title: `Latency over ${store}`,
    x: { label: 'share of the messages that took at most this long', ticks: shareTicks, scale: toNines },
    y: { label: 'milliseconds', ticks: latencyTicks, scale: Math.log },
    series: distributions.map(({ name, samplesMs }) => ({
      name,
      points: shares
        // Of fewer samples the slowest share is a guess.
        .filter((share) => samplesMs.length * (1 - share) >= 1)
        .map((share) => [share, quantile(samplesMs, share)]),
    })),
  });
}

const megabyte = 1e6;

function drawMemory({ store, memory }: DeliveryReport): string {
  const sockets = memory.at(-1)?.sockets ?? 1;
  const goalBytes = 1e9 / goalPerGigabyte;
  const most = Math.max(sockets * goalBytes, ...memory.map(({ bytes }) => bytes)) / megabyte;
  const yTicks = ticksTo(most, (at) => `${at} MB`);
  return drawChart({
    title: `Memory of idle subscribed sockets over ${store}`,
    x: {
      label: 'sockets',
      ticks: memory.map((point) => ({ at: point.sockets, label: point.sockets.toLocaleString('en-US') })),
    },
    y: { label: 'resident memory beyond that without sockets', ticks: yTicks },
    series: [
      { name: 'measured', points: memory.map((point) => [point.sockets, point.bytes / megabyte]) },
      {
        name: `goal: ${goalPerGigabyte.toLocaleString('en-US')} in a GB`,
        points: [
          [0, 0],
          [sockets, (sockets * goalBytes) / megabyte],
        ],
        isGoal: true,
      },
    ],
  });
}
